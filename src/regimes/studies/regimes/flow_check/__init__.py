"""Is gradient flow integrated finely enough? Shorter steps, and momentum [Geiger 2020, app. G]."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import regimes as rg
from regimes.lab import Axis, Point, TrialResult, study
from regimes.studies._images import image_task
from regimes.studies._types import Dataset
from regimes.studies.regimes import _runs, _setting, _training


@dataclass(frozen=True)
class Params:
    """Scanned: what is checked, the scale, and the seeds trained side by side. Fixed: the rest."""

    check: tuple[str, ...] = ("steps", "memory", "memory x 10")
    scale: tuple[float, ...] = (1.0,)
    seed: tuple[int, ...] = (0, 1)
    images: str = "digits"
    components: int | None = 10
    p: int = 20
    n_test: int = 200
    width: int = 12  # of the check of steps
    depth: int = 2
    width_memory: int = 12  # of the checks of memory
    depth_memory: int = 2
    eps: float = 1e-1
    finer: float = 10.0  # eps is divided by this
    max_steps: int = 2000  # with eps; more with the finer one, as steps get shorter


CPU = Params(
    scale=(1e-2, 1.0, 1e2, 1e3, 1e4),
    seed=(0, 1, 2, 3),
    images="mnist",
    p=100,
    n_test=2000,
    width=50,
    depth=3,
    width_memory=60,
    eps=1e-4,
    finer=100.0,
    max_steps=30_000,
)
PAPER = replace(
    CPU,
    scale=tuple(float(f"{a}e{k}") for k in range(-4, 8) for a in ("1", "3.2")),
    seed=(0, 1, 2, 3, 4),
    images="fashion_mnist",
    components=None,
    p=10_000,
    n_test=50_000,
    width=100,
    width_memory=100,
    depth_memory=3,
    max_steps=100_000,
)


@study(
    "regimes/flow-check",
    version=1,
    sizes={"smoke": Params(), "cpu": CPU, "paper": PAPER},
    axes=["check", "scale", Axis("seed", stacked=True)],
    units={"difference": "1", "seconds": "s", "altered_seconds": "s"},
    stored={"scale": "at"},
)
class FlowCheck:
    """Every result of this theme rests on gradient flow, integrated by explicit steps.

    A step may change the gradient by about sqrt(eps) of itself. Dividing eps by a hundred makes
    steps ten times shorter; if the predictions of the trained networks stay, steps were short
    enough. A velocity that relaxes within a short time tau, as momentum has it, is another path to
    the same end.

    The paper: [Geiger 2020, app. G and fig. 13].
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """Train the same networks twice and compare their predictions on test points."""
        data = _task(params, point.device)
        usual: dict[str, Any] = {"eps": params.eps, "max_steps": params.max_steps}
        changed, tau = dict(usual), 0.0
        if point.check == "steps":
            width, depth = params.width, params.depth
            changed["eps"] = params.eps / params.finer
            changed["max_steps"] = round(params.max_steps * params.finer**0.5)
        else:
            width, depth = params.width_memory, params.depth_memory
            tau = memory_time(point.scale) * (10.0 if point.check.endswith("10") else 1.0)
            changed["momentum"] = rg.flow.Momentum(tau=tau)
        start, alpha = _setting.members(
            data.x_train[0].numel(), width, depth, (point.scale,), point.seed, device=point.device
        )
        plain = _training.train(start, data, alpha, **usual)
        altered = _training.train(start, data, alpha, **changed)
        found = {
            "difference": rg.measure.relative_change(
                altered.test_predictions, plain.test_predictions
            ),
            "error": plain.test_errors,
            "altered_error": altered.test_errors,
            "steps": plain.steps.double(),
            "altered_steps": altered.steps.double(),
            "time": plain.times[:, -1],
            "kept": (plain.fitted & altered.fitted).double(),
            "worst_output": plain.worst["output"],
            "worst_gradient": plain.worst["gradient"],
        }
        scalars = {"seconds": plain.seconds, "altered_seconds": altered.seconds, "tau": tau}
        return TrialResult({**scalars, "p": params.p, "eps": params.eps}, _runs.by_seed(found))

    @staticmethod
    def cost(params: Params, point: Point) -> float:
        """Ten times as many steps with the finer tolerance; more of them where features grow."""
        steps = 11.0 if point.check == "steps" else 2.0
        return steps * (3.0 if point.scale < 0.5 else 1.0)


def memory_time(scale: float) -> float:
    """The relaxation time tau = 1e-3 min(scale, 1e3), in the units of the flow's time.

    >>> memory_time(1.0), memory_time(1e6)
    (0.001, 1.0)
    """
    return 1e-3 * min(scale, 1e3)


def _task(params: Params, device: str) -> Dataset:
    if params.components is not None:
        return _setting.task(
            params.images, params.p, params.n_test, components=params.components, device=device
        )
    return image_task(params.images, params.p, params.n_test, flat=True, device=device)
