"""Does learning features pay with more data? Ten components of MNIST [Geiger 2020, fig. 7a]."""

from __future__ import annotations

from dataclasses import dataclass

from regimes.lab import Axis, Point, TrialResult, study
from regimes.studies.regimes import _former, _runs, _setting, _training


@dataclass(frozen=True)
class Params:
    """Scanned: n_train, and side by side scale and seed. Fixed: the rest."""

    n_train: tuple[int, ...] = (20, 40)
    scale: tuple[float, ...] = (1.0, 1e3)  # sqrt(h) alpha: feature learning and lazy training
    seed: tuple[int, ...] = (0, 1)
    images: str = "digits"
    n_test: int = 200
    width: int = 10
    depth: int = 3
    eps: float = 0.1
    max_steps: int = 200


@study(
    "regimes/sample-size",
    version=1,
    sizes={
        "smoke": Params(),
        "cpu": Params(
            n_train=(100, 400, 1500),
            seed=tuple(range(6)),
            images="mnist",
            n_test=5000,
            width=60,
            eps=3e-3,
            max_steps=20_000,
        ),
        "paper": Params(
            n_train=(500, 2000, 10_000),
            seed=tuple(range(20)),
            images="mnist-whole",
            n_test=50_000,
            width=100,
            eps=1e-4,
            max_steps=100_000,
        ),
    },
    axes=[Axis("n_train", unit="images"), *_setting.MEMBERS],
    units={"error": "fraction", "ensemble_error": "fraction"},
    renamed={"at": "scale"},  # in trials from before it was an axis
)
class SampleSize:
    """Errors of feature and lazy training on ten components of digits, for growing training sets.

    With few points lazy training of a fully connected network is better. The papers find the
    opposite, slightly, with 5000 and 10,000 points of this data set: the gap should close as the
    training set grows.

    See [Geiger 2020, fig. 7a], [Geiger 2021, sec. 4].
    """

    formerly = staticmethod(_former.scales_as_parameter)  # they are found again

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """Both scales and all seeds side by side."""
        data = _setting.task_at(point, params.images, point.n_train, params.n_test)
        start, alpha = _setting.members_of(point, data, params.width, params.depth)
        run = _training.train_at(point, params, start, data, alpha)
        each = {"error": run.test_errors, "fitted": run.fitted.double()}
        together = _runs.ensemble_errors(point, run, data)
        return TrialResult(arrays=_runs.by_member(point, each) | {"ensemble_error": together})

    @staticmethod
    def cost(params: Params, point: Point) -> float:
        """Points times steps, which grow with the points."""
        return float(point.n_train) ** 1.5 * len(point.seed)
