"""Networks of one width at several scales: the trial of all studies of the plane."""

from __future__ import annotations

from dataclasses import dataclass

from regimes.lab import Axis, Point, TrialResult
from regimes.studies.regimes import _runs, _setting, _training

AXES = [
    Axis("width", unit="neurons"),
    Axis("scale", stacked=True, batch="scales_per_trial"),
    Axis("seed", stacked=True),
]
UNITS = {"error": "fraction", "ensemble_error": "fraction", "kernel_change": "1"}


@dataclass(frozen=True)
class Params:
    """Scanned: width, scale and seed. Fixed: the rest."""

    width: tuple[int, ...] = (2, 6, 12)
    scale: tuple[float, ...] = (0.1, 10.0, 1000.0)  # sqrt(h) alpha
    scales_per_trial: int = 0  # 0 trains all scales of a width together
    seed: tuple[int, ...] = (0, 1)
    images: str = "digits"
    n_train: int = 40
    n_test: int = 200
    n_kernel: int = 50  # test points on which the kernel's change is measured
    depth: int = 2
    activation: str = "softplus_5"
    eps: float = 0.1  # what a step may change the gradient by
    max_steps: int = 200


def trial(params: Params, point: Point) -> TrialResult:
    """Some scales and all seeds of one width, side by side."""
    data = _setting.task_at(point, params.images, params.n_train, params.n_test)
    start, alpha = _setting.members_of(
        point, data, point.width, params.depth, activation=params.activation
    )
    run = _training.train_at(point, params, start, data, alpha)
    x = data.x_test[: params.n_kernel]
    moved = {
        "kernel_change": _runs.kernel_changes(start, run, x, seeds=len(point.seed)),
        "weight_change": _runs.weight_changes(start, run),
    }
    arrays = _runs.ends(point, run, data) | _runs.by_member(point, moved)
    taken = float((run.steps + run.refused).sum())
    scalars = {
        "best_error": float(arrays["ensemble_error"].values.min()),
        "member_steps": taken,
        "member_steps_per_second": taken / run.seconds,
        "parameters": _setting.weights_per_member(start),
        "budget": params.max_steps,
        "n_train": params.n_train,
    }
    return TrialResult(scalars, arrays)


def cost(params: Params, point: Point) -> float:
    """Narrow networks go on to their last step."""
    narrow = point.width**2 < params.n_train / 2
    steps = params.max_steps * (1.0 if narrow else 0.3)
    # the calls of a step take 1 ms of a core or of a GPU
    calls = 5e9 if point.device == "cuda" else 5e6
    return _training.cost_of_steps(point, steps, params.n_train, point.width, calls=calls)
