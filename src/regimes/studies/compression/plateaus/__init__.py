"""Times and amplification until the first points are fitted, over many decades of alpha."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import regimes as rg
from regimes.lab import Array, Axis, Point, TrialResult, study
from regimes.studies import _stripe as shared
from regimes.studies.compression._frozen import frozen_flow

SINGLE_BELOW = 0.5  # float32 is enough for smaller alpha


@dataclass(frozen=True)
class Params:
    """Scanned: p, seed, alpha (trained side by side). Fixed: the rest."""

    p: tuple[int, ...] = (100, 150)  # the first is scanned, the last tells the plateau's condition
    seed: tuple[int, ...] = (0,)
    alpha: tuple[float, ...] = (1e-14, 1e-10, 1e-8, 1e-6, 1e-2, 1e2, 1e6)
    d: int = 5
    width: int = 50
    output: float = 0.1  # largest change of a prediction in a step; the grain of t*
    weight: float = 0.05  # largest relative change of the weights in a step


@study(
    "compression/plateaus",
    version=1,
    sizes={
        "smoke": Params(),
        "cpu": Params(
            p=(1500, 3000),
            seed=tuple(range(12)),
            alpha=(
                *(1e-14, 1e-12, 1e-10, 1e-8, 1e-6, 1e-5, 1e-4, 1e-3),
                *(1e-2, 1e-1, 1.0, 10.0, 1e2, 1e4, 1e6),
            ),
            width=200,
            output=0.02,
            weight=0.02,
        ),
        "paper": Params(
            p=(1000, 10_000),
            seed=tuple(range(5)),
            alpha=tuple(float(f"1e{k}") for k in range(-16, 9)),
            d=10,
            width=10_000,
            output=0.02,
            weight=0.02,
        ),
    },
    axes=[Axis("p", unit="points"), Axis("seed"), Axis("alpha", stacked=True)],
    units={"t_star": "tau", "frozen_t_star": "tau"},
)
class Plateaus:
    """The time t* to fit the first tenth of the points, and the amplification reached by then.

    At small alpha t* grows as log(1/alpha) at the rate of the fastest fixed point and the
    amplification has long settled; at large alpha t* falls as 1/alpha and there is none.

    The paper: [Paccolat 2021, app. B and fig. 11].
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """Train one network at every alpha until t*, and its frozen initial kernel."""
        tau = rg.theory.stripe_tau(params.width, params.d)
        made = rg.data.stripe(n_train=point.p, n_test=1, d=params.d, seed=point.seed)
        stars, amplifications = [], []
        for dtype, alphas in shared.by_precision(point.alpha, SINGLE_BELOW):
            run = shared.train_at(
                point,
                params,
                [made] * len(alphas),
                name=dtype,
                seeds=[point.seed] * len(alphas),
                alpha=alphas,
                dtype=dtype,
                until="t_star",
            )
            stars.append(run.event_times["t_star"].numpy() / tau)
            weights = run.parameters[shared.WEIGHT].double()
            amplifications.append(rg.measure.amplification(weights).cpu().numpy())
        limits = rg.flow.Tolerances(output=params.output, gradient=None)
        frozen = frozen_flow(
            point, made, point.seed, params.width, until="t_star", tolerances=limits
        )
        return TrialResult(
            scalars={
                "dimension": params.d,
                "frozen_t_star": float(frozen.event_times["t_star"][0]) / tau,
            },
            arrays={
                "t_star": Array("alpha", np.concatenate(stars)),
                "amplification": Array("alpha", np.concatenate(amplifications)),
            },
        )

    @staticmethod
    def cost(params: Params, point: Point) -> float:
        """Steps are many alike, so points decide."""
        return float(point.p)
