"""How far the informative direction is amplified: in time and against the number of points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import regimes as rg
from regimes.lab import Array, Axis, Point, TrialResult, study
from regimes.studies import _stripe as shared
from regimes.studies._types import Dataset, Event, Run
from regimes.studies.compression._attractors import fastest_attractor
from regimes.studies.compression.amplification._claims import TIMES


@dataclass(frozen=True)
class Params:
    """Scanned: d, p and seed (trained side by side). Fixed: the rest."""

    d: tuple[int, ...] = (5, 10)
    p: tuple[int, ...] = (50, 100, 200)
    seed: tuple[int, ...] = (0, 1)
    seeds_per_trial: int = 0  # all: a GPU takes one large trial; cores share small ones
    few_seeds: int = 2  # so many are followed to their end, or have their level predicted
    in_time: tuple[int, ...] = (100,)  # p of the runs that are followed to their end
    only_five: tuple[int, ...] = (50, 100)  # p that are run at d = 5 alone
    only_ten: tuple[int, ...] = ()
    saturation: tuple[int, ...] = (200,)  # p at which the level is predicted, data set by data set
    width: int = 50
    alpha: float = 1e-6
    alpha_saturation: float = 1e-8  # smaller, so that the noise has stopped the growth before t*
    max_steps: int = 600


@study(
    "compression/amplification",
    version=2,
    sizes={
        "smoke": Params(),
        "cpu": Params(
            p=(100, 200, 300, 411, 800, 1000, 3000, 3200, 4000),
            seed=tuple(range(84)),
            seeds_per_trial=14,
            few_seeds=14,
            in_time=(411,),
            only_five=(100, 300, 411, 1000, 3000, 4000),
            only_ten=(200, 800, 3200),
            saturation=(4000,),
            width=200,
            max_steps=40_000,
        ),
        "paper": Params(
            p=(100, 300, 411, 1000, 3000, 4640, 10_000, 30_000, 100_000),
            seed=tuple(range(20)),
            few_seeds=20,
            in_time=(411, 4640),
            only_five=(),
            only_ten=(),
            saturation=(100_000,),
            width=10_000,
            max_steps=60_000,
        ),
    },
    axes=[Axis("d"), Axis("p", unit="points"), Axis("seed", stacked=True, batch="seeds_per_trial")],
    units={"t_star": "tau"},
    dtype="float32",
)
class Amplification:
    """Λ grows exponentially until sampling noise in the uninformative directions stops it.

    The level it reaches by t* grows as the square root of the number of points, and is predicted
    for each data set from its own noise.

    The paper: [Paccolat 2021, sec. 3.2 and fig. 5].
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """Train all seeds to t*, or to their end where Λ(t) is wanted."""
        sets = [
            rg.data.stripe(n_train=point.p, n_test=1, d=point.d, seed=seed) for seed in point.seed
        ]
        whole = point.p in params.in_time
        level = point.p in params.saturation

        def train(until: str | Event, name: str = "run") -> Run:
            return shared.train_at(
                point,
                params,
                sets,
                name=name,
                alpha=params.alpha_saturation if level else params.alpha,
                until=until,
                observe={"amplification": shared.amplification_observer(per_decade=60)},
            )

        run = train("fitted" if whole else "t_star")
        record, t_star = run.recordings["amplification"], run.event_times["t_star"]
        tau = rg.theory.stripe_tau(params.width, point.d)
        arrays = {
            "t_star": Array("seed", t_star.numpy() / tau),
            "amplification": Array("seed", record.at(t_star).numpy()),
        }
        if whole:
            arrays["course"] = Array(("seed", "moment"), shared.course(record, t_star, TIMES))
            arrays["last"] = Array("seed", record.last.numpy())
        if level:
            run = train(rg.flow.fraction_fitted(0.5 / point.p), "level")
            arrays |= _levels(run, sets, point.d)
        return TrialResult(arrays=arrays)

    @staticmethod
    def wanted(params: Params, point: Point) -> bool:
        """Some p belong to one dimension, and some to the first seeds."""
        alone = params.only_ten if point.d == 5 else params.only_five
        dear = point.p in params.in_time or point.p in params.saturation
        few = point.seed[0] in params.seed[: params.few_seeds]
        return point.p not in alone and (few or not dear)

    @staticmethod
    def cost(params: Params, point: Point) -> float:
        """The runs to the end take many more steps."""
        return float(point.p * (30 if point.p in params.in_time else 1))


def _levels(run: Run, sets: list[Dataset], d: int) -> dict[str, Array]:
    """Measured and predicted w_i/w_1 of the neurons at the fastest fixed point.

    The run has just fitted its first sample: from then on the samples do not all pull alike, and
    at t*, when a tenth of them has stopped, the neurons already follow the rest.
    """
    fastest = fastest_attractor(d)
    weights, bias, beta = (tensor.double().cpu() for tensor in shared.neurons(run.parameters))
    measured, exact, first_order = [], [], []
    for w, b, readout, made in zip(weights, bias, beta, sets, strict=True):
        x, y = made.x_train.double(), made.y_train.double()
        mine = (w[:, 0].sign() == fastest.sign_w) & (readout.sign() == fastest.sign_beta)
        mine &= ~rg.measure.dead_neurons(w, b, x)
        size = (readout[mine] ** 2 * w[mine].square().sum(-1))[:, None]  # the large neurons rule
        ratios = w[mine][:, 1:] / w[mine][:, :1]
        measured.append(((size * ratios).sum(0) / size.sum()).numpy())
        exact.append(rg.theory.sample_attractor(fastest, x, y))
        first_order.append(rg.theory.saturation(fastest, x, y))
    arrays: dict[str, Array] = {"ratios": Array(("seed", "direction"), np.array(measured))}
    for name, found in (("predicted", exact), ("first_order", first_order)):
        ratios = np.array([each.ratios.numpy() for each in found])
        arrays[f"ratios_{name}"] = Array(("seed", "direction"), ratios)
        arrays[f"amplification_{name}"] = Array("seed", [each.amplification for each in found])
    arrays["level"] = Array("seed", run.recordings["amplification"].last.numpy())
    return arrays
