"""The cylinder: two informative directions [Paccolat 2021, fig. 7]."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import regimes as rg
from regimes.lab import Array, Axis, Data, Point, TrialConfig, TrialResult, study
from regimes.studies import _stripe
from regimes.studies._types import Run
from regimes.studies.compression import _frozen

D, D_PAR = 3, 2
PEAK_BY = 5.0  # times t*: in 15 runs to the end the amplification was largest by 2.2 t*


@dataclass(frozen=True)
class Params:
    """Scanned: until, n_train and seed. Fixed: the rest."""

    until: tuple[str, ...] = ("t_star", "peak", "fitted")
    n_train: tuple[int, ...] = (8, 12)
    seed: tuple[int, ...] = (1, 2, 3)
    seeds_per_trial: int = 1  # 0: all, for a GPU takes one large trial
    whole_seeds: int = 2  # the first so many are trained until they fit
    whole_up_to: int = 8  # with training sets up to this size
    width: int = 30
    alpha: float = 1e-6
    n_test: int = 500
    max_steps: int = 3000


@study(
    "compression/cylinder",
    version=2,
    sizes={
        "smoke": Params(),
        "cpu": Params(
            n_train=(100, 300, 1000, 3000),
            seed=tuple(range(90)),
            seeds_per_trial=10,
            whole_seeds=20,  # what two cores train to the end in an hour
            whole_up_to=1000,
            width=200,
            n_test=10_000,
            max_steps=300_000,
        ),
        "paper": Params(
            n_train=(100, 200, 411, 1000, 2000, 4640, 10_000),
            seed=tuple(range(49)),
            seeds_per_trial=0,
            whole_seeds=49,
            whole_up_to=10_000,
            width=10_000,
            n_test=20_000,
            max_steps=1_000_000,
        ),
    },
    axes=[
        "until",
        Axis("n_train", unit="points"),
        Axis("seed", stacked=True, batch="seeds_per_trial"),
    ],
    units={
        "feature_error": "fraction",
        "lazy_error": "fraction",
        "peak_time": "t*",
        "time_of_peak": "t*",
    },
    watch={"feature_error": "min"},
    dtype="float32",
)
class Cylinder:
    """Amplification and learning curves of the cylinder, where two of three directions matter.

    Networks are trained by gradient flow from a small initial scale: all seeds until a tenth of the
    points is fitted (t*) and on to five times that time, some of them until every point is. The one
    irrelevant direction shrinks by a factor that grows as the root of the number of points, and
    from a few hundred points on the network learns better than the kernel it starts from.

    The paper: [Paccolat 2021, sec. 4 and fig. 7].
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """Train the networks of some seeds together.

        The amplification is largest soon after t*, so "peak" goes to some times t* only: the slow
        end of a hinge flow costs a hundred times more.
        """
        import torch

        sets = [
            rg.data.cylinder(
                point.n_train, params.n_test, D, seed, d_par=D_PAR, dtype=torch.float64
            )
            for seed in point.seed
        ]

        def train(name: str = "run", **options: Any) -> Run:
            seen = {"amplification": _stripe.amplification_observer(D_PAR, per_decade=100)}
            return _stripe.train_at(point, params, sets, name=name, observe=seen, **options)

        if point.until == "peak":
            t_star = train("t_star", until="t_star").event_times["t_star"]
            run = train(until="fitted", t_end=PEAK_BY * float(t_star.max()))
            largest, peak_time = _stripe.peaks(run)
            return TrialResult(
                arrays={"peak": Array("seed", largest), "time_of_peak": Array("seed", peak_time)}
            )
        run = train(until=point.until)
        at_t_star = run.recordings["amplification"].at(run.event_times["t_star"])
        if point.until == "t_star":
            return TrialResult(arrays={"amplification_star": Array("seed", at_t_star)})
        lazy = [_frozen.lazily(made.to(device=point.device)) for made in sets]
        largest, peak_time = _stripe.peaks(run)
        arrays = {
            "whole_star": at_t_star,
            "amplification_max": largest,
            "peak_time": peak_time,
            "feature_error": run.test_errors,
            "lazy_error": [machine.error for machine in lazy],
            "fitted": run.fitted,
            "steps": run.steps,
        }
        return TrialResult(arrays={name: Array("seed", value) for name, value in arrays.items()})

    @staticmethod
    def wanted(params: Params, point: Point) -> bool:
        """Training to the end costs hundreds of times more: the first seeds, up to some size."""
        first = point.seed[0] in params.seed[: params.whole_seeds]
        return bool(point.until != "fitted" or (first and point.n_train <= params.whole_up_to))

    @staticmethod
    def cost(params: Params, point: Point) -> float:
        """Entries of the masks of a step, and what a step costs whatever its size; steps."""
        steps = {"t_star": 1.0, "peak": 10.0, "fitted": 100.0}[point.until]
        return steps * (5e5 + len(point.seed) * params.width * point.n_train)

    @staticmethod
    def formerly(params: Params, config: TrialConfig) -> TrialConfig:
        """As it was when 40 seeds were trained to the end, which no other trial depends on."""
        return replace(config, params={**config.params, "whole_seeds": 40})

    @staticmethod
    def upgrade(dataset: Data) -> Data:
        """Older summaries have a dimension of their own for the seeds trained to the end."""
        if "whole" not in dataset.dims:
            return dataset
        first = dataset.seed.values[: dataset.sizes["whole"]]
        whole = [name for name, values in dataset.data_vars.items() if "whole" in values.dims]
        moved = dataset[whole].rename(whole="seed").assign_coords(seed=first)
        return dataset.drop_vars(whole).merge(moved.reindex(seed=dataset.seed))
