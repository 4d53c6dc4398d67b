"""The plane of width and scale: lazy, feature and jammed training (PD Fig. 4; PR25 and S15)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from regimes.lab import Axis, Point, TrialConfig, TrialResult, study
from regimes.studies.regimes import _runs, _setting, _training
from regimes.studies.regimes.phase_diagram._claims import claim
from regimes.studies.regimes.phase_diagram._figures import FIGURES

# 23 scales from 3e-4 to 3e7 and 22 widths from 20 to 1248, as the document's grid.
PAPER_SCALES = tuple(float(f"{3e-4 * 10 ** (k / 2):.3g}") for k in range(23))
PAPER_WIDTHS = tuple(round(20 * (1248 / 20) ** (k / 21)) for k in range(22))


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
    n_kernel: int = 50  # test points on which the kernel's change is measured (A6)
    depth: int = 2
    activation: str = "softplus_5"
    eps: float = 0.1  # what a step may change the gradient by
    max_steps: int = 200


@study(
    "regimes/phase-diagram",
    version=1,
    sizes={
        "smoke": Params(),
        "cpu": Params(
            width=(3, 4, 5, 6, 7, 8, 10, 12, 16, 24, 48, 96, 192),
            scale=(0.01, 0.1, 1.0, 3.0, 10.0, 30.0, 100.0, 1e4),
            seed=tuple(range(5)),
            images="mnist",
            n_train=300,
            n_test=4000,
            n_kernel=400,
            eps=3e-3,
            max_steps=8000,
        ),
        # twelve widths (20 to 383) and scales of the document's grid, 8 of its 15 seeds, and eps
        # 1e-3 for its 1e-4: a quarter of an hour of one H200
        "paper": Params(
            width=tuple(PAPER_WIDTHS[k] for k in (0, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 15)),
            scale=tuple(PAPER_SCALES[k] for k in (0, 2, 4, 6, 7, 8, 9, 10, 12, 14, 18, 22)),
            seed=tuple(range(8)),
            images="mnist-whole",
            n_train=5000,
            n_test=40_000,
            n_kernel=2500,
            activation="swish_10",
            eps=1e-3,
            max_steps=24_000,
        ),
    },
    axes=[
        Axis("width", unit="neurons"),
        Axis("scale", stacked=True, batch="scales_per_trial"),
        Axis("seed", stacked=True),
    ],
    units={"error": "fraction", "ensemble_error": "fraction", "kernel_change": "1"},
    watch={"best_error": "min"},
    renamed={"at": "scale", "slot": "scale"},
)
class PhaseDiagram:
    """Networks of many widths trained at many scales: where they fit, and how.

    Narrow networks cannot fit their data at any scale: they are jammed. Wider ones fit, and at
    small `sqrt(h) alpha` their tangent kernel changes by much more than itself (feature learning),
    at large `sqrt(h) alpha` hardly at all (lazy training). The two meet where the kernel changes by
    about its own norm, at one value of `sqrt(h) alpha` whatever the width.
    """

    figures = FIGURES
    claims = claim

    @staticmethod
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

    @staticmethod
    def cost(params: Params, point: Point) -> float:
        """Narrow networks go on to their last step."""
        narrow = point.width**2 < params.n_train / 2
        steps = params.max_steps * (1.0 if narrow else 0.3)
        # the calls of a step take 1 ms of a core or of a GPU
        calls = 5e9 if point.device == "cuda" else 5e6
        return _training.cost_of_steps(point, steps, params.n_train, point.width, calls=calls)

    @staticmethod
    def formerly(params: Params, config: TrialConfig) -> TrialConfig:
        """Scales were a parameter, and a group meant all of them (0) or every fourth (1 to 4)."""
        width, own, seed = (config.point[name] for name in ("width", "scale", "seed"))
        at, group = own, 0
        increasing = tuple(sorted(params.scale))
        for k in range(4):
            if own == increasing[k::4] != increasing:
                at, group = increasing, k + 1
        point = {"width": width, "group": group, "seed": seed}
        return replace(config, params={**config.params, "at": at}, point=point)
