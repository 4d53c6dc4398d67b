"""Times and amplification until the first points are fitted, over many decades of alpha."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from regimes.lab import Array, Axis, Claim, Point, TrialResult, mean_over, study
from regimes.studies.compression import _stripe as shared
from regimes.studies.compression._attractors import fastest_attractor

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import xarray as xr


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
    judges=("COMP-17", "COMP-18", "COMP-19", "COMP-50"),
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
                checkpoint=point.checkpoint(dtype),
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

    @staticmethod
    def figures(dataset: xr.Dataset) -> dict[str, go.Figure]:
        """Both plateaus with their predictions."""
        return {"Time to fit, and amplification by then": _figure(dataset)}

    @staticmethod
    def claims(dataset: xr.Dataset) -> list[Claim]:
        """The logarithm, the inverse, the plateaus, and the condition on p."""
        return [
            _logarithm(dataset),
            _inverse(dataset),
            _amplification(dataset),
            _condition(dataset),
        ]


def _scan(dataset: xr.Dataset) -> xr.Dataset:
    return dataset.isel(p=0)


def _dimension(dataset: xr.Dataset) -> int:
    return int(dataset.dimension.max())


def _predicted_slope(d: int) -> float:
    from regimes.theory import fitting_slope

    return fitting_slope([fastest_attractor(d)])


def _logarithm(dataset: xr.Dataset) -> Claim:
    d = _dimension(dataset)
    predicted = _predicted_slope(d)
    scan = _scan(dataset).sel(alpha=slice(None, 1.0000001e-6))
    u = np.log(1 / scan.alpha.values)
    slopes, r2 = [], []
    for t in scan.t_star.transpose("seed", "alpha").values:
        slope, offset = np.polyfit(u, t, 1)
        slopes.append(slope)
        r2.append(1 - np.var(t - slope * u - offset) / np.var(t))
    slope, error = np.mean(slopes), shared.standard_error(slopes)
    return Claim.holds(
        "COMP-17",
        bool(abs(slope / predicted - 1) <= 0.10 and min(r2) > 0.999),
        f"t* linear in ln(1/alpha), R² > 0.999, slope {predicted:.3f} tau ± 10 %",
        measured=float(slope),
        error=error,
        why=f"smallest R² {min(r2):.5f}; alpha from {scan.alpha.values[0]:.0e} to 1e-6, d={d}",
    )


def _inverse(dataset: xr.Dataset) -> Claim:
    scan = _scan(dataset)
    chosen = scan.sel(alpha=[a for a in scan.alpha.values if a >= 99])
    products = (chosen.t_star * chosen.alpha).transpose("seed", "alpha")
    spread = float((products.max("alpha") / products.min("alpha") - 1).max())
    ratio = (products.mean("alpha") / chosen.frozen_t_star).values
    return Claim.holds(
        "COMP-18",
        bool(spread <= 0.02 and np.all(np.abs(ratio - 1) <= 0.04)),
        "alpha t* constant within 2 % and equal to the frozen kernel's within 4 %",
        measured=float(ratio.mean()),
        error=shared.standard_error(ratio),
        why=(
            f"measured is alpha t* over the frozen kernel's t*; largest spread of alpha t* over "
            f"alpha {spread:.4f}; ratios {', '.join(f'{r:.4f}' for r in ratio)}"
        ),
    )


def _amplification(dataset: xr.Dataset) -> Claim:
    scan = _scan(dataset)
    expected = (
        "Λ* in [0.9, 1.1] for alpha >= 1e2; Λ*(1e-14)/Λ*(1e-6) = 1 ± 0.03; crossover between "
        "1e-4 and 1e-1"
    )
    mean = scan.amplification.mean("seed")
    lazy = mean.sel(alpha=slice(99, None)).values
    level = (
        scan.amplification.isel(alpha=0) / scan.amplification.sel(alpha=1e-6, method="nearest")
    ).values
    middle = np.sqrt(float(mean.isel(alpha=0)) * lazy[-1])
    place = float(np.exp(np.interp(-np.log(middle), -np.log(mean.values), np.log(mean.alpha))))
    holds = (
        np.all((lazy >= 0.9) & (lazy <= 1.1))
        and abs(level.mean() - 1) <= 0.03
        and 1e-4 <= place <= 1e-1
    )
    return Claim.holds(
        "COMP-19",
        bool(holds),
        expected,
        measured=float(level.mean()),
        error=shared.standard_error(level),
        why=(
            "measured is Λ*(smallest alpha)/Λ*(1e-6); Λ* "
            + ", ".join(
                f"{v:.3g} at {a:.0e}" for a, v in zip(mean.alpha.values, mean.values, strict=True)
            )
            + f"; half way (geometric) at alpha {place:.1e}"
        ),
    )


def _condition(dataset: xr.Dataset) -> Claim:
    last = dataset.isel(p=-1).amplification
    ratio = (last.sel(alpha=1e-2, method="nearest") / last.sel(alpha=1e-8, method="nearest")).values
    return Claim.between(
        "COMP-50",
        float(ratio.mean()),
        high=0.5,
        error=shared.standard_error(ratio),
        why=f"Λ*(1e-2)/Λ*(1e-8) at p = {int(dataset.p.values[-1])}",
    )


def _figure(dataset: xr.Dataset) -> go.Figure:
    from plotly.subplots import make_subplots

    figure = make_subplots(
        rows=1, cols=2, subplot_titles=("t* in units of tau", "amplification Λ at t*")
    )
    for p in dataset.p.values:
        for col, variable in ((1, "t_star"), (2, "amplification")):
            line = mean_over(dataset.sel(p=p), variable, "seed")
            figure.add_scatter(
                x=line.alpha.values,
                y=line["mean"].values,
                error_y={"array": line["error"].fillna(0.0).values, "thickness": 1},
                mode="lines+markers",
                name=f"p = {p}",
                legendgroup=str(p),
                showlegend=col == 1,
                row=1,
                col=col,
            )
    scan = _scan(dataset)
    small = scan.alpha.values[scan.alpha.values <= 1e-4]
    start = float(scan.t_star.mean("seed").sel(alpha=1e-6, method="nearest"))
    slope = _predicted_slope(_dimension(dataset))
    figure.add_scatter(
        x=small,
        y=start + slope * np.log(1e-6 / small),
        mode="lines",
        line_dash="dot",
        name="slope of the fastest fixed point",
        row=1,
        col=1,
    )
    large = scan.alpha.values[scan.alpha.values >= 0.1]
    figure.add_scatter(
        x=large,
        y=float(scan.frozen_t_star.mean()) / large,
        mode="lines",
        line_dash="dash",
        name="frozen kernel, 1/alpha",
        row=1,
        col=1,
    )
    figure.update_xaxes(type="log", title="alpha", exponentformat="power", dtick=4)
    figure.update_yaxes(type="log", exponentformat="power")
    return figure.update_layout(
        legend={"orientation": "h", "y": -0.32},
        meta={
            "caption": (
                "Left: the time until a tenth of the points is fitted. At small alpha the weights "
                "grow exponentially first, so t* grows only as log(1/alpha), at the rate that the "
                "fastest fixed point of a neuron predicts (dotted, one point matched). At large "
                "alpha it is the frozen kernel's (dashed, nothing fitted). Right: how much the "
                "informative direction is amplified by then: a plateau for alpha -> 0, limited by "
                "the number of points, and 1 in the lazy regime. Mean and standard error over "
                "seeds."
            )
        },
    )
