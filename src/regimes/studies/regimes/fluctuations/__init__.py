"""Error, error of the ensemble and variance of the output, against width and scale."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from regimes.lab import Axis, Point, TrialConfig, TrialResult, study
from regimes.studies.regimes import _former, _runs, _setting, _training
from regimes.studies.regimes._scans import WIDTHS

HALF_DECADES = (*(float(f"{m}e{k}") for k in range(-2, 4) for m in (1, 3)), 1e4)
MANY_SCALES = (*(float(f"{m}e{k}") for k in range(-4, 7) for m in (1, 3.2)), 1e7)
AXES = ("depth", "n_train", "width", "scale", Axis("seed", stacked=True))


@dataclass(frozen=True)
class Scan:
    """Scanned: depth, points, width, scale, and seeds trained side by side. Fixed: the rest."""

    depth: tuple[int, ...] = (2,)
    n_train: tuple[int, ...] = (10,)
    width: tuple[int, ...] = (6, 12)
    scale: tuple[float, ...] = (0.1, 1e4)  # sqrt(h) alpha
    seed: tuple[int, ...] = (0, 1, 2)
    images: str = "digits"
    components: int | None = _setting.COMPONENTS
    n_test: int = 200
    eps: float = 1e-1  # what a step may change the gradient by
    max_steps: int = 40


_CPU = Scan(
    seed=tuple(range(24)), images="mnist", n_test=5000, eps=3e-4, max_steps=20_000, n_train=(100,)
)
_PAPER = Scan(
    depth=(3,),
    n_train=(10_000,),
    seed=tuple(range(20)),
    images="fashion_mnist",
    components=None,
    n_test=50_000,
    eps=1e-4,
    max_steps=100_000,
)
SIZES = {
    "smoke": {
        "widths": Scan(),
        "scales": Scan(),
        "sizes": Scan(n_train=(6, 12), width=(8,), scale=(1e5,)),
        "small": Scan(depth=(3,), n_train=(8,), width=(6,), scale=(1e-3, 1e-2)),
    },
    "cpu": {
        "widths": replace(_CPU, n_train=(50,), width=(32, 45, 64, 91, 128, 181, 256)),
        "scales": replace(_CPU, width=(30, 100), scale=HALF_DECADES),
        "sizes": replace(_CPU, n_train=(25, 50, 100, 200), width=(16, 32, 64, 128), scale=(1e5,)),
        "small": replace(  # the longest runs: coarser steps, and fewer
            _CPU,
            depth=(3,),
            width=(60,),
            scale=(1e-6, 1e-5, 1e-4, 1e-3, 1e-2),
            eps=1e-3,
            max_steps=10_000,
        ),
    },
    "paper": {
        "widths": replace(_PAPER, width=WIDTHS, scale=(1e-4, 1e-2, 1.0, 1e4)),
        "variance": replace(  # the paper measures it on fewer points than the errors
            _PAPER,
            n_train=(1000,),
            width=(*WIDTHS[3:], 1930, 2680, 3730, 5170),
            scale=(1e-2, 1.0, 1e2, 1e4),
        ),
        "scales": replace(_PAPER, width=(100, 300, 1000), scale=MANY_SCALES),
        "sizes": replace(_PAPER, n_train=(500, 1000, 2000, 4000), width=WIDTHS[1:], scale=(1e6,)),
        "small": replace(
            _PAPER,
            width=(100,),
            scale=(1e-6, 1e-5, 3.2e-5, 1e-4, 1e-3, 1e-2),
            max_steps=200_000,
        ),
    },
}


@study(
    "regimes/fluctuations",
    version=1,
    sizes=SIZES,
    axes=dict.fromkeys(("widths", "variance", "scales", "sizes", "small"), AXES),
    units={"test_error": "fraction", "ensemble_error": "fraction", "variance": "1"},
    watch={"ensemble_error": "min"},
)
class Fluctuations:
    """Networks that differ in their initialisation alone: how much their outputs differ.

    The output of a trained network fluctuates with its initial weights by about 1/sqrt(h). That
    costs test error; the mean over an ensemble of networks does not pay it, and its error hardly
    depends on the width. Both regimes, lazy and feature, behave so.

    The paper: [Geiger 2020, secs. 3 and 4, app. H].
    """

    @staticmethod
    def trial(params: Scan, point: Point) -> TrialResult:
        """Train the networks of one place and compare their outputs on the test points."""
        data = _setting.points_at(
            point, params.images, point.n_train, params.n_test, components=params.components
        )
        start, alpha = _setting.members_at(
            point, data, point.width, point.depth, [point.scale], point.seed
        )
        run = _training.train_at(point, params, start, data, alpha)
        whole, each = _runs.outcomes(run, data, np.ones(len(point.seed)), least=1)
        each["test_error"] = each.pop("error")
        each |= {"fitted": run.fitted.double(), "steps": run.steps}
        count = _setting.weights_per_member(start)
        return TrialResult({"parameters": count, **whole}, _runs.by_seed(each))

    @staticmethod
    def cost(params: Scan, point: Point) -> float:
        """Arithmetic of a step, what a step costs anyway, and more steps at small scales."""
        weights = point.width**2 * (point.depth - 1) + 10 * point.width
        steps = point.n_train**0.5 * (1.0 + max(0.0, 1.0 / point.scale) ** 0.25)
        return float(steps * (1e7 + 6.0 * point.n_train * weights * len(point.seed)))

    upgrade = staticmethod(_former.from_cases)

    @staticmethod
    def formerly(params: Mapping[str, Scan], config: TrialConfig) -> TrialConfig | None:
        """A text named the trial; all scans had the same parameters, two of them for "small"."""
        every, block = _former.every_block(params, SIZES), config.point["block"]
        if not {"widths", "small"} <= set(every):
            return None
        small, other = every["small"], every["widths" if block == "small" else block]
        former = {name: config.params[name] for name in ("images", "components", "n_test")}
        former |= {"eps": other.eps, "max_steps": other.max_steps}
        former |= {"small_eps": small.eps, "small_steps": small.max_steps}
        return _former.former_config(config, former, block, {})
