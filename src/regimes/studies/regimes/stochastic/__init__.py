"""Does the noise of stochastic descent move the crossover? [Geiger 2021b, sec. 8.3]."""

from __future__ import annotations

from dataclasses import dataclass

from regimes.lab import Axis, Point, TrialResult, study
from regimes.studies.regimes import _former, _runs, _setting, _training


@dataclass(frozen=True)
class Params:
    """Scanned: rate, and side by side scale and seed. Fixed: the rest."""

    rate: tuple[float, ...] = (0.0, 1e-2)  # of the time in which the loss halves; 0: the flow
    scale: tuple[float, ...] = (1.0, 100.0)  # sqrt(h) alpha
    seed: tuple[int, ...] = (0, 1)
    batch: int = 5
    images: str = "digits"
    n_train: int = 20
    n_test: int = 200
    n_kernel: int = 50
    width: int = 12
    eps: float = 0.1
    max_steps: int = 300


@study(
    "regimes/stochastic",
    version=1,
    sizes={
        "smoke": Params(),
        "cpu": Params(
            rate=(0.0, 0.01, 0.03, 0.1),
            scale=(0.3, 1.0, 3.0, 10.0, 30.0, 100.0),
            seed=tuple(range(5)),
            batch=10,
            images="mnist",
            n_train=100,
            n_test=4000,
            n_kernel=400,
            width=48,
            eps=1e-3,
            max_steps=40_000,
        ),
        "paper": Params(
            rate=(0.0, 1e-3, 1e-2, 1e-1),
            scale=tuple(10 ** (k / 2) for k in range(-4, 7)),
            seed=tuple(range(15)),
            batch=100,
            images="mnist-whole",
            n_train=5000,
            n_test=40_000,
            n_kernel=2500,
            width=400,
            eps=1e-4,
            max_steps=400_000,
        ),
    },
    axes=[Axis("rate", unit="t_half"), *_setting.MEMBERS],
    units={"error": "fraction", "kernel_change": "1"},
    renamed={"at": "scale"},  # in trials from before it was an axis
)
class Stochastic:
    """The same networks trained by gradient flow and by stochastic descent at several rates.

    [Geiger 2021b, sec. 8.3] leaves open what the noise of small batches does to the crossover
    between lazy and feature training; here it is measured, as the scale at which the kernel changes
    by its norm.
    """

    formerly = staticmethod(_former.scales_as_parameter)  # they are found again

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """All scales and seeds side by side."""
        data = _setting.task_at(point, params.images, params.n_train, params.n_test)
        start, alpha = _setting.members_of(point, data, params.width)
        last = params.max_steps
        if point.rate == 0:
            run = _training.train(start, data, alpha, eps=params.eps, max_steps=last)
        else:  # a rate means the same at every scale in units of the flow's own time
            eps = max(params.eps, 1e-2)
            flow = _training.train(start, data, alpha, eps=eps, until="halved", max_steps=last)
            rate = (point.rate * flow.event_times["halved"]).tolist()
            steps = {"max_steps": last, "batch_size": params.batch, "check_every": 50}
            run = _training.descend(start, data, alpha, rate=rate, **steps)
        x = data.x_test[: params.n_kernel]
        each = {
            "kernel_change": _runs.kernel_changes(start, run, x, seeds=len(point.seed)),
            "error": run.test_errors,
            "fitted": run.fitted.double(),
        }
        return TrialResult(arrays=_runs.by_member(point, each))

    @staticmethod
    def cost(params: Params, point: Point) -> float:
        """Small rates take many steps."""
        return 1.0 if point.rate == 0 else min(1e-2 / point.rate, 100.0)
