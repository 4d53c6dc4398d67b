"""Times and amplification until the first points are fitted, over many decades of alpha."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from regimes.lab import Array, Axis, Point, TrialResult, study
from regimes.studies.compression import _stripe as shared
from regimes.studies.compression.plateaus._claims import claim
from regimes.studies.compression.plateaus._figures import FIGURES


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
            seed=(0, 1, 2, 3),
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
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """Train one network at every alpha until t*, and its frozen initial kernel."""
        from regimes import data, flow, measure, theory

        tau = theory.stripe_tau(params.width, params.d)
        made = data.stripe(n_train=point.p, n_test=1, d=params.d, seed=point.seed)
        stars, amplifications = [], []
        small = [a for a in point.alpha if a < 0.5]
        for dtype, alphas in (("float32", small), ("float64", list(point.alpha[len(small) :]))):
            if not alphas:
                continue
            run = shared.train(
                [made] * len(alphas),
                width=params.width,
                seeds=[point.seed] * len(alphas),
                alpha=alphas,
                dtype=dtype,
                device=point.device,
                until="t_star",
                output=params.output,
                weight=params.weight,
            )
            stars.append(run.event_times["t_star"].numpy() / tau)
            weights = run.parameters[shared.WEIGHT].double()
            amplifications.append(measure.amplification(weights).cpu().numpy())
        start = shared.network(
            params.d, params.width, point.seed, dtype="float64", device=point.device
        )
        weights, bias, beta = shared.neurons(
            {name: p.detach()[None] for name, p in start.named_parameters()}
        )
        x, y = made.x_train.double().to(point.device), made.y_train.double().to(point.device)
        gram = measure.shallow_kernel(beta, weights, bias, x)[0]
        frozen = flow.kernel_flow(
            gram,
            y,
            until="t_star",
            tolerances=flow.Tolerances(output=params.output, gradient=None),
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

    figures = FIGURES
    claims = claim
