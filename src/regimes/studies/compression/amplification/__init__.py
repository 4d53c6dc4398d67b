"""How far the informative direction is amplified: in time and against the number of points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from regimes.lab import Array, Axis, Claim, Point, TrialResult, study
from regimes.studies._parts import Part, claim_of_parts
from regimes.studies.compression import _stripe as shared
from regimes.studies.compression._attractors import fastest_attractor

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import xarray as xr

    from regimes.data import Dataset
    from regimes.flow import Event, Run

TIMES = np.linspace(0.0, 3.0, 61)  # in units of t*


@dataclass(frozen=True)
class Params:
    """Scanned: d, p and seed (trained side by side). Fixed: the rest."""

    d: tuple[int, ...] = (5, 10)
    p: tuple[int, ...] = (50, 100, 200)
    seed: tuple[int, ...] = (0, 1)
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
            seed=tuple(range(14)),
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
            in_time=(411, 4640),
            only_five=(),
            only_ten=(),
            saturation=(100_000,),
            width=10_000,
            max_steps=60_000,
        ),
    },
    axes=[Axis("d"), Axis("p", unit="points"), Axis("seed", stacked=True)],
    units={"t_star": "tau"},
    judges=("COMP-11", "COMP-12", "COMP-13", "COMP-15"),
    dtype="float32",
)
class Amplification:
    """Λ grows exponentially until sampling noise in the uninformative directions stops it.

    The level it reaches by t* grows as the square root of the number of points, and is predicted
    for each data set from its own noise.
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """Train all seeds to t*, or to their end where Λ(t) is wanted."""
        from regimes import data, flow, theory

        sets = [data.stripe(n_train=point.p, n_test=1, d=point.d, seed=seed) for seed in point.seed]
        whole = point.p in params.in_time
        level = point.p in params.saturation

        def train(until: str | Event, name: str = "run") -> Run:
            return shared.train(
                sets,
                width=params.width,
                seeds=point.seed,
                alpha=params.alpha_saturation if level else params.alpha,
                dtype=point.dtype,
                device=point.device,
                until=until,
                max_steps=params.max_steps,
                observe={"amplification": shared.amplification_observer(per_decade=60)},
                checkpoint=point.checkpoint(name),
            )

        run = train("fitted" if whole else "t_star")
        record, t_star = run.recordings["amplification"], run.event_times["t_star"]
        tau = theory.stripe_tau(params.width, point.d)
        arrays = {
            "t_star": Array("seed", t_star.numpy() / tau),
            "amplification": Array("seed", record.at(t_star).numpy()),
        }
        if whole:
            arrays["course"] = Array(("seed", "moment"), shared.course(record, t_star, TIMES))
            arrays["last"] = Array("seed", record.last.numpy())
        if level:
            run = train(flow.fraction_fitted(0.5 / point.p), "level")
            arrays |= _levels(run, sets, point.d)
        return TrialResult(arrays=arrays)

    @staticmethod
    def wanted(params: Params, point: Point) -> bool:
        """Some p belong to one dimension."""
        alone = params.only_ten if point.d == 5 else params.only_five
        return point.p not in alone

    @staticmethod
    def cost(params: Params, point: Point) -> float:
        """The runs to the end take many more steps."""
        return float(point.p * (30 if point.p in params.in_time else 1))

    @staticmethod
    def figures(dataset: xr.Dataset) -> dict[str, go.Figure]:
        """Fig. 5, top and bottom, and the predicted levels."""
        return {
            "Amplification in time": _in_time(dataset),
            "Amplification against the number of points": _against_p(dataset),
        }

    @staticmethod
    def claims(dataset: xr.Dataset) -> list[Claim]:
        """Level, slopes and shape."""
        return [
            _level_claim(dataset),
            _slope_claim(dataset, "COMP-12", 5, 0.08, (0.6, 1.2)),
            _slope_claim(dataset, "COMP-13", 10, 0.10, None),
            _shape_claim(dataset),
        ]


def _levels(run: Run, sets: list[Dataset], d: int) -> dict[str, Array]:
    """Measured and predicted w_i/w_1 of the neurons at the fastest fixed point (S9).

    The run has just fitted its first sample: from then on the samples do not all pull alike, and
    at t*, when a tenth of them has stopped, the neurons already follow the rest.
    """
    from regimes import measure, theory

    fastest = fastest_attractor(d)
    weights, bias, beta = (tensor.double().cpu() for tensor in shared.neurons(run.parameters))
    measured, exact, first_order = [], [], []
    for w, b, readout, made in zip(weights, bias, beta, sets, strict=True):
        x, y = made.x_train.double(), made.y_train.double()
        mine = (w[:, 0].sign() == fastest.sign_w) & (readout.sign() == fastest.sign_beta)
        mine &= ~measure.dead_neurons(w, b, x)
        size = (readout[mine] ** 2 * w[mine].square().sum(-1))[:, None]  # the large neurons rule
        ratios = w[mine][:, 1:] / w[mine][:, :1]
        measured.append(((size * ratios).sum(0) / size.sum()).numpy())
        exact.append(theory.sample_attractor(fastest, x, y))
        first_order.append(theory.saturation(fastest, x, y))
    arrays: dict[str, Array] = {"ratios": Array(("seed", "direction"), np.array(measured))}
    for name, found in (("predicted", exact), ("first_order", first_order)):
        ratios = np.array([each.ratios.numpy() for each in found])
        arrays[f"ratios_{name}"] = Array(("seed", "direction"), ratios)
        arrays[f"amplification_{name}"] = Array("seed", [each.amplification for each in found])
    arrays["level"] = Array("seed", run.recordings["amplification"].last.numpy())
    return arrays


def _level_claim(dataset: xr.Dataset) -> Claim:
    d5 = dataset.sel(d=5)
    chosen = d5.dropna("p", how="all", subset=["amplification_predicted"]).isel(p=-1)
    level = (chosen.level / chosen.amplification_predicted).values
    gap = np.abs(chosen.ratios - chosen.ratios_predicted)
    rough = np.abs(chosen.ratios - chosen.ratios_first_order).max("direction").values
    parts = [
        Part("Λ*/prediction, least", level.min(), low=0.75),
        Part("Λ*/prediction, largest", level.max(), high=1.25),
        Part("|w_i/w_1 - prediction|, largest of all data sets", float(gap.max()), high=0.004),
    ]
    by_formula = (chosen.level / chosen.amplification_first_order).values
    late = (chosen.amplification / chosen.amplification_predicted).values
    why = (
        f"{len(level)} data sets, p = {int(chosen.p)}, when the first sample is fitted, against "
        "the direction of rest of each data set's own drift. Its first order in 1/sqrt(p), the "
        f"formula of S9, misses w_i/w_1 by up to {rough.max():.4f} ({(rough > 0.004).sum()} data "
        f"sets by more than 0.004) and Λ* by {by_formula.min():.3f} to {by_formula.max():.3f}. At "
        f"t*, with a tenth of the samples fitted, Λ/prediction is {late.min():.3f} to "
        f"{late.max():.3f}"
    )
    return claim_of_parts("COMP-11", parts, why=why)


def _slope_claim(
    dataset: xr.Dataset, id: str, d: int, tolerance: float, prefactor: tuple[float, float] | None
) -> Claim:
    from regimes.measure import power_law

    chosen = dataset.sel(d=d).amplification.dropna("p", how="all")
    if "amplification_predicted" in dataset:  # another alpha
        level = dataset.sel(d=d).amplification_predicted.notnull().any("seed")
        chosen = chosen.sel(p=[p for p in chosen.p.values if not bool(level.sel(p=p))])
    if chosen.sizes["p"] < 3:
        return Claim.unclear(id, f"0.5 ± {tolerance}", why="fewer than three p")
    values = chosen.transpose("seed", "p").values
    fit = power_law(chosen.p.values.astype(float), values, seed=0)
    medians = np.median(values, 0) / np.sqrt(chosen.p.values)
    why = "Λ*/sqrt(p), medians: " + ", ".join(
        f"{m:.3f} at {p}" for p, m in zip(chosen.p.values, medians, strict=True)
    )
    if prefactor is not None and not (
        prefactor[0] <= medians.min() <= medians.max() <= prefactor[1]
    ):
        return Claim.holds(
            id,
            False,
            f"slope 0.5 ± {tolerance}, Λ*/sqrt(p) in {prefactor}",
            measured=float(fit.exponent),
            error=float(fit.error),
            why=why,
        )
    return Claim.near(id, float(fit.exponent), 0.5, tolerance, error=float(fit.error), why=why)


def _shape_claim(dataset: xr.Dataset) -> Claim:
    d5 = dataset.sel(d=5).dropna("p", how="all", subset=["course"]).isel(p=0)
    course = d5.course.transpose("seed", "moment").values
    plateau = course[:, np.searchsorted(TIMES, 0.9)] / course[:, np.searchsorted(TIMES, 1.0)]
    ends = (d5["last"] / d5.amplification).values
    # average growth rate of ln Lambda in the first and the second half of the way to t*
    logs = np.log(course)
    half, star = np.searchsorted(TIMES, 0.5), np.searchsorted(TIMES, 1.0)
    slowing = (logs[:, half] - logs[:, 0]) > (logs[:, star] - logs[:, half])
    parts = [
        Part("Λ(0.9 t*)/Λ(t*)", plateau.mean(), 0.8, 1.25, shared.standard_error(plateau)),
        Part("end Λ/Λ*", ends.mean(), low=0.5, error=shared.standard_error(ends)),
        Part("share of runs whose growth slows before t*", float(slowing.mean()), low=1.0),
    ]
    why = (
        f"means over runs, as the document's figure, p = {int(d5.p)}; end Λ/Λ* of single runs "
        f"{', '.join(f'{e:.2f}' for e in ends)}"
    )
    return claim_of_parts("COMP-15", parts, why=why)


def _in_time(dataset: xr.Dataset) -> go.Figure:
    import plotly.graph_objects as go

    figure = go.Figure()
    for d in dataset.d.values:
        for p in dataset.p.values:
            chosen = dataset.course.sel(d=d, p=p)
            if bool(chosen.isnull().all()):
                continue
            values = chosen.transpose("seed", "moment").values
            for i, row in enumerate(values):
                figure.add_scatter(
                    x=TIMES,
                    y=row,
                    mode="lines",
                    line={"width": 1, "color": "rgba(120,120,160,.45)"},
                    showlegend=i == 0,
                    name="single runs",
                )
            figure.add_scatter(
                x=TIMES,
                y=np.exp(np.log(values).mean(0)),
                mode="lines",
                line_width=3,
                name=f"d = {d}, p = {p}, geometric mean",
            )
    figure.add_vline(x=1.0, line_dash="dot", annotation_text="t*")
    figure.update_xaxes(title="time t / t*")
    figure.update_yaxes(type="log", title="amplification Λ")
    return figure.update_layout(
        meta={
            "caption": (
                "The informative direction is amplified exponentially, then sampling noise in the "
                "other directions stops it: a plateau, reached before the first points are fitted "
                "at t*. After t* the network fits points near the interfaces and Λ rises and "
                "fluctuates, without harm."
            )
        }
    )


def _against_p(dataset: xr.Dataset) -> go.Figure:
    import plotly.graph_objects as go

    from regimes import theory

    figure = go.Figure()
    for d, color in zip(dataset.d.values, ("#3b6fb6", "#c0533a"), strict=False):
        chosen = dataset.amplification.sel(d=d).dropna("p", how="all").transpose("seed", "p")
        low, middle, high = np.quantile(chosen.values, (0.25, 0.5, 0.75), axis=0)
        figure.add_scatter(
            x=chosen.p.values,
            y=middle,
            error_y={"array": high - middle, "arrayminus": middle - low, "thickness": 1},
            mode="markers",
            marker={"color": color, "size": 9},
            name=f"d = {d}, median and quartiles",
        )
        fastest = fastest_attractor(int(d))
        figure.add_scatter(
            x=chosen.p.values,
            y=[theory.median_amplification(fastest, int(p)) for p in chosen.p.values],
            mode="lines",
            line={"color": color, "dash": "dash"},
            name=f"d = {d}, theory (no fit)",
        )
    figure.update_xaxes(type="log", title="training points p", exponentformat="power")
    figure.update_yaxes(type="log", title="amplification Λ* at t*", exponentformat="power")
    return figure.update_layout(
        meta={
            "caption": (
                "Amplification of the informative direction when the first points are fitted, "
                "against the number of training points. It grows as their square root, as the "
                "theory of the fastest fixed point with sampling noise predicts without a free "
                "parameter (dashed)."
            )
        }
    )
