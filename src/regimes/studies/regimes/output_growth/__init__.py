"""How the output grows in time until the data are fitted [Geiger 2020, fig. 10]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import regimes as rg
from regimes.lab import Array, Axis, Point, TrialResult, study
from regimes.studies.regimes import _runs, _setting, _training

PER_DECADE = 40  # records of the norms in a factor ten of time
FIRST_STEP = 1e-4  # in units of t_1: so short that the linear growth is resolved


@dataclass(frozen=True)
class Params:
    """Scanned: depth, width, scale; the seeds are trained side by side. Fixed: the rest."""

    depth: tuple[int, ...] = (2,)
    width: tuple[int, ...] = (6, 24)
    scale: tuple[float, ...] = (2e-2, 1e4)
    seed: tuple[int, ...] = (0, 1)
    main_width: int = 6  # every scale is trained here, at other widths those that are compared
    compared: tuple[float, ...] = (2e-2, 1e4)
    images: str = "digits"
    components: int | None = 10
    n_train: int = 16
    n_test: int = 50
    start_seeds: int = 32  # networks over which the square of f_0 is averaged
    reach: float = 2.5  # runs end at this multiple of t_1
    eps: float = 0.02
    max_steps: int = 3000


@study(
    "regimes/output-growth",
    version=1,
    sizes={
        "smoke": Params(),
        "cpu": Params(
            depth=(2, 3),
            width=(40, 160),
            scale=(2e-3, 2e-2, 1e5),
            seed=tuple(range(24)),
            main_width=40,
            compared=(2e-3, 2e-2, 1e5),
            images="mnist",
            n_train=100,
            n_test=200,
            start_seeds=256,
            reach=10.0,
            eps=1e-3,
            max_steps=40_000,
        ),
        "paper": Params(
            depth=(2, 3),
            width=(100, 300, 1000),
            scale=(1e-3, 2e-3, 1e-2, 2e-2, 0.1, 1.0, 10.0, 1e5),
            seed=tuple(range(10)),
            main_width=300,
            compared=(2e-3, 1e-2, 2e-2, 1e5),
            images="fashion_mnist",
            components=None,
            n_train=5000,
            n_test=2000,
            reach=10.0,
            eps=1e-4,
            max_steps=60_000,
        ),
    },
    axes=["depth", "width", "scale", Axis("seed", stacked=True)],
    units={"t_1": "flow time", "change": "1", "norm": "1"},
    stored={"scale": "at"},
)
class OutputGrowth:
    """The output of a network with a small scale has to grow, and does so in two stages.

    Until shortly before t_1, when the loss is half of what it was, the weights hardly move and
    `f_t - f_0` grows linearly in time. Around t_1 the weights have grown so much that they help
    each other, and the output overtakes its initial size by 1/alpha: then alpha f = O(1).

    The paper: [Geiger 2020, app. C and fig. 10].
    """

    @staticmethod
    def wanted(params: Params, point: Point) -> bool:
        """Every scale at the main width, elsewhere those that are compared."""
        return point.width == params.main_width or point.scale in params.compared

    @staticmethod
    def cost(params: Params, point: Point) -> float:
        """Arithmetic of a step times how many more of them the feature regime takes."""
        weights = (point.depth - 1) * point.width**2 + 10 * point.width + 1000
        return float(weights * (1 + max(0.0, -np.log10(point.scale))))

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """Train until the loss is halved to learn t_1, then again, looking, until `reach` t_1."""
        import torch

        data, start, alpha = _setting.networks_at(point, params)
        events = ("halved", "fitted")
        how: Any = {"eps": params.eps, "max_steps": params.max_steps, "events": events}
        first = _training.train(start, data, alpha, until="halved", **how)
        t_1 = first.event_times["halved"]
        if not bool(t_1.isfinite().all()):
            raise RuntimeError(f"the loss was not halved within {params.max_steps} steps: {first}")
        outputs = start(data.x_test)[..., 0]

        def norms(snapshot: Any) -> Any:
            f = snapshot.ensemble(data.x_test)[..., 0]
            before = outputs[torch.from_numpy(snapshot.numbers)]
            return torch.stack([rg.measure.output_norm(f, before), rg.measure.output_norm(f)], 1)

        run = _training.train(
            start,
            data,
            alpha,
            until=None,
            t_end=params.reach * float(t_1.max()),
            rule=rg.flow.StepRule(first=FIRST_STEP * float(t_1.min())),
            observe={"norms": rg.flow.Observer(norms, rg.flow.LogTimes(PER_DECADE))},
            **how,
        )
        t_1 = run.event_times["halved"]
        seen, when = run.recordings["norms"], np.outer(t_1.cpu(), moments(params.reach))
        change, norm = (
            rg.measure.at_times(seen.times, [each[:, i] for each in seen.values], when)
            for i in (0, 1)
        )
        fresh, _ = _setting.members_at(
            point, data, point.width, point.depth, [point.scale], range(params.start_seeds)
        )
        numbers = {
            "t_1": t_1,
            "start_norm": rg.measure.output_norm(outputs),
            "steps": run.steps.double(),
            "fitted_by_end": run.event_times["fitted"].isfinite().double(),
        }
        arrays = _runs.by_seed(numbers)
        arrays["change"] = Array(("seed", "moment"), change)
        arrays["norm"] = Array(("seed", "moment"), norm)
        arrays["moment"] = Array("moment", moments(params.reach))
        typical = float(fresh(data.x_test).square().mean().sqrt())
        return TrialResult({"typical_norm": typical}, arrays)


def moments(reach: float) -> np.ndarray:
    """Times in units of t_1 at which the course of a run is kept."""
    decades = 3 + np.log10(reach)
    return np.logspace(-3, np.log10(reach), round(PER_DECADE * decades) + 1)
