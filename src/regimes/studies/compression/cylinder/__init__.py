"""The cylinder: two informative directions (Fig. 7 of spec `compression`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from regimes.lab import Array, Axis, Claim, Point, TrialResult, study
from regimes.studies.compression import _frozen, _medians, _stripe

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import xarray as xr

    from regimes.flow import Run

D, D_PAR = 3, 2
DECIDE_FROM = 100  # smaller training sets are not judged
PEAK_BY = 5.0  # times t*: in 15 runs to the end the amplification was largest by 2.2 t*


@dataclass(frozen=True)
class Params:
    """Scanned: until, n_train and seed. Fixed: the rest."""

    until: tuple[str, ...] = ("t_star", "peak", "fitted")
    n_train: tuple[int, ...] = (8, 12)
    seed: tuple[int, ...] = (1, 2, 3)
    whole_seeds: int = 2  # the first so many are trained until they fit
    whole_up_to: int = 8  # with training sets up to this size
    width: int = 30
    alpha: float = 1e-6
    n_test: int = 500
    max_steps: int = 3000


@study(
    "compression/cylinder",
    version=1,
    sizes={
        "smoke": Params(),
        "cpu": Params(
            n_train=(100, 300, 1000, 3000),
            seed=tuple(range(15)),
            whole_seeds=5,
            whole_up_to=1000,
            width=200,
            n_test=10_000,
            max_steps=300_000,
        ),
        "paper": Params(
            n_train=(100, 200, 411, 1000, 2000, 4640, 10_000),
            seed=tuple(range(49)),
            whole_seeds=49,
            whole_up_to=10_000,
            width=10_000,
            n_test=20_000,
            max_steps=1_000_000,
        ),
    },
    axes=["until", Axis("n_train", unit="points"), Axis("seed", stacked=True)],
    units={
        "feature_error": "fraction",
        "lazy_error": "fraction",
        "peak_time": "t*",
        "time_of_peak": "t*",
    },
    watch={"feature_error": "min"},
    judges=("COMP-28", "COMP-29"),
    dtype="float32",
)
class Cylinder:
    """Amplification and learning curves of the cylinder, where two of three directions matter.

    Networks are trained by gradient flow from a small initial scale: all seeds until a tenth of the
    points is fitted (t*) and on to five times that time, some of them until every point is. The one
    irrelevant direction shrinks by a factor that grows as the root of the number of points, and
    from a few hundred points on the network learns better than the kernel it starts from.
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """Train the networks of all seeds together; "fitted" takes the first few of them.

        The amplification is largest soon after t*, so "peak" goes to some times t* only: the slow
        end of a hinge flow costs a hundred times more.
        """
        import torch

        from regimes import data
        from regimes.data import Points

        seeds = point.seed[: params.whole_seeds] if point.until == "fitted" else point.seed
        sets = [
            data.cylinder(point.n_train, params.n_test, D, seed, d_par=D_PAR, dtype=torch.float64)
            for seed in seeds
        ]

        def train(name: str = "run", **options: Any) -> Run:
            return _stripe.train(
                sets,
                width=params.width,
                seeds=seeds,
                alpha=params.alpha,
                dtype=point.dtype,
                device=point.device,
                observe={"amplification": _stripe.amplification_observer(D_PAR, per_decade=100)},
                max_steps=params.max_steps,
                checkpoint=point.checkpoint(name),
                **options,
            )

        if point.until == "peak":
            t_star = train("t_star", until="t_star").event_times["t_star"]
            run = train(until="fitted", t_end=PEAK_BY * float(t_star.max()))
            largest, peak_time = _peaks(run)
            return TrialResult(
                arrays={"peak": Array("seed", largest), "time_of_peak": Array("seed", peak_time)}
            )
        run = train(until=point.until)
        at_t_star = run.recordings["amplification"].at(run.event_times["t_star"])
        if point.until == "t_star":
            return TrialResult(arrays={"amplification_star": Array("seed", at_t_star)})
        lazy = [
            _frozen.hard_margin(
                _frozen.initial_kernel,
                Points(here.x_train, here.y_train),
                Points(here.x_test, here.y_test),
            )
            for here in (made.to(device=point.device) for made in sets)
        ]
        largest, peak_time = _peaks(run)
        arrays = {
            "whole_star": at_t_star,
            "amplification_max": largest,
            "peak_time": peak_time,
            "feature_error": run.test_errors,
            "lazy_error": [machine.error for machine in lazy],
            "fitted": np.array([status == "fitted" for status in run.status]),
            "steps": run.steps,
        }
        return TrialResult(arrays={name: Array("whole", value) for name, value in arrays.items()})

    @staticmethod
    def wanted(params: Params, point: Point) -> bool:
        """Training to the end costs hundreds of times more: up to some size only."""
        return bool(point.until != "fitted" or point.n_train <= params.whole_up_to)

    @staticmethod
    def cost(params: Params, point: Point) -> float:
        """Entries of the masks of a step, and what a step costs whatever its size; steps."""
        members = params.whole_seeds if point.until == "fitted" else len(point.seed)
        steps = {"t_star": 1.0, "peak": 10.0, "fitted": 100.0}[point.until]
        return steps * (5e5 + members * params.width * point.n_train)

    @staticmethod
    def figures(dataset: xr.Dataset) -> dict[str, go.Figure]:
        """Fig. 7, top and bottom."""
        made = {"Cylinder: amplification": _amplification(dataset)}
        if "feature_error" in dataset:
            made["Cylinder: learning curves"] = _curves(dataset)
        return made

    @staticmethod
    def claims(dataset: xr.Dataset) -> list[Claim]:
        """COMP-28 and COMP-29."""
        note = "".join(
            f"; latest peak of the runs {runs} at {float(dataset[name].max()):.3g} t*"
            for runs, name in (("to 5 t*", "time_of_peak"), ("to the end", "peak_time"))
            if name in dataset
        )
        missing = _medians.unfinished(dataset)
        claims = []
        for id, name, tolerance, told in (
            ("COMP-28", "amplification_star", 0.12, ""),
            ("COMP-29", "peak", 0.2, note),
        ):
            if missing or name not in dataset:
                why = f"{missing} trials missing" if missing else f"{name} was not measured"
                claims.append(Claim.unclear(id, f"0.5 ± {tolerance:g}", why=why))
            else:
                claims.append(_growth_claim(id, _seen(dataset, name), tolerance, told))
        return claims


def _peaks(run: Run) -> tuple[np.ndarray, np.ndarray]:
    """Largest amplification of every run, and when, in units of t*."""
    seen = run.recordings["amplification"]
    best = [int(values.argmax()) for values in seen.values]
    largest = [float(values[i]) for values, i in zip(seen.values, best, strict=True)]
    times = [float(times[i]) for times, i in zip(seen.times, best, strict=True)]
    return np.array(largest), np.array(times) / run.event_times["t_star"].cpu().numpy()


def _seen(dataset: xr.Dataset, name: str) -> xr.DataArray:
    """A variable in the way of training that measured it, at the sizes where it was run."""
    until = {"amplification_star": "t_star", "peak": "peak"}.get(name, "fitted")
    return dataset[name].sel(until=until).dropna("n_train", how="all")


def _growth_claim(id: str, curve: xr.DataArray, tolerance: float, note: str) -> Claim:
    sizes = curve.n_train.values[curve.n_train.values >= DECIDE_FROM]
    if len(sizes) < 3 or curve.sizes["seed"] < 5:
        why = f"needs three sizes from p = {DECIDE_FROM} on and five seeds"
        return Claim.unclear(id, f"0.5 ± {tolerance:g}", why=why)
    fit = _medians.exponent(curve, float(sizes[0]), float(sizes[-1]), "seed")
    middle = curve.median("seed").sel(n_train=sizes)
    values = ", ".join(f"{float(v):.3g} at p = {int(v.n_train)}" for v in middle)
    why = f"medians of {curve.sizes['seed']} seeds {values}, r2 {fit.r2:.3f}{note}"
    return Claim.near(id, fit.exponent, 0.5, tolerance, error=fit.error, why=why)


def _amplification(dataset: xr.Dataset) -> go.Figure:
    import plotly.graph_objects as go

    figure, x = go.Figure(), dataset.n_train.values
    for name, label, dash in (
        ("amplification_star", "at t*", "solid"),
        ("peak", "largest", "dash"),
    ):
        if name in dataset:
            curve = _seen(dataset, name)
            sizes, values = curve.n_train.values, curve.transpose("seed", "n_train").values
            _medians.add_medians(figure, sizes, values, label, color="#1b9e77", dash=dash)
            if label == "at t*":
                end = 0.75 * float(np.median(values[:, -1]))
                _medians.add_slope(figure, sizes, end, 0.5, "slope 1/2")
    caption = (
        "Weight of the two informative directions over that of the third, when a tenth of the "
        "points is fitted (t*) and at its largest up to five times t*; medians over seeds, bars "
        "hold the middle half. With a single irrelevant direction data sets differ much. The "
        "medians grow as the root of the number of points (grey)."
    )
    _medians.logarithmic(figure, x, "training points p", "amplification Lambda")
    return figure.update_layout(meta={"caption": caption})


def _curves(dataset: xr.Dataset) -> go.Figure:
    import plotly.graph_objects as go

    from regimes.theory import beta_feature, beta_lazy

    figure, x = go.Figure(), _seen(dataset, "feature_error").n_train.values
    for name, label, color, beta in (
        ("lazy_error", "frozen initial kernel", "#d95f02", beta_lazy(D)),
        ("feature_error", "feature-learning network", "#1b9e77", beta_feature(D, D - D_PAR)),
    ):
        values = _seen(dataset, name).transpose("whole", "n_train").values
        _medians.add_medians(figure, x, values, label, color=color)
        end = 0.75 * float(np.median(values[:, -1]))
        _medians.add_slope(figure, x, end, -beta, f"slope -{beta:.3f}")
    caption = (
        "Test error against the number of training points, medians over seeds. The slopes 3/7 of "
        "the frozen kernel and 1/2 of the network are close: only one of three directions can be "
        "compressed, so learning features gains less than for the stripe."
    )
    _medians.logarithmic(figure, x, "training points p", "test error (fraction)")
    return figure.update_layout(meta={"caption": caption})
