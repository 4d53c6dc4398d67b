"""How the function fits the stripe once neurons are aligned: Fig. 4 of spec `compression`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import regimes as rg
from regimes.lab import Array, Axis, Claim, Point, Series, TrialResult, study
from regimes.studies.compression._attractors import EDGES
from regimes.studies.compression._stripe import neurons, train

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import xarray as xr

D = 2
GRID = np.linspace(-3.0, 3.0, 601)  # x_1 at which F(x_1, 0) is looked at
BIN, MASS, BINS = 0.2, 0.9, 8  # COMP-33: so much of the amplitude in so many bins of this width
STAGES = ("t*", "half fitted", "end")


@dataclass(frozen=True)
class Params:
    """Scanned: seed. Fixed: the rest."""

    seed: tuple[int, ...] = (0, 1)
    n_train: int = 200
    n_test: int = 1000
    width: int = 60
    alpha: float = 1e-6
    end_loss: float = 0.15  # a run ends when the mean loss is below
    max_steps: int = 20_000


@study(
    "compression/fitting-stages",
    version=1,
    sizes={
        "smoke": Params(),
        "cpu": Params(seed=(0, 1, 2, 3), n_train=2000, n_test=10_000, width=200, end_loss=0.02),
        "paper": Params(
            seed=tuple(range(10)),
            n_train=10_000,
            n_test=100_000,
            width=10_000,
            end_loss=0.005,
            max_steps=100_000,
        ),
    },
    axes=[Axis("seed", stacked=True)],
    units={"test_error": "fraction", "t_star": "tau", "profile": "1"},
    judges=("COMP-32", "COMP-33"),
    dtype="float32",
)
class FittingStages:
    """After t* the network fits the stripe from far away inwards, with few kinds of neurons.

    Until t*, when a tenth of the training points has its margin, neurons gather at the three
    attractors. Then points are fitted, those far from the interfaces first, and the gathered
    neurons move along the informative axis until the function changes sign where the label does.
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """Train the networks of all seeds, looking at the function along the informative axis."""
        from regimes import flow, theory

        sets = [
            rg.data.stripe(n_train=params.n_train, n_test=params.n_test, d=D, seed=seed)
            for seed in point.seed
        ]
        half = flow.fraction_fitted(0.5, "half fitted")
        moments = flow.AnyOf((flow.OnEvent("t_star"), flow.OnEvent("half fitted")))
        end: Any = flow.loss_below(params.end_loss)
        run = train(
            sets,
            width=params.width,
            seeds=point.seed,
            alpha=params.alpha,
            dtype=point.dtype,
            device=point.device,
            until=end,
            events=("t_star", half),
            observe={
                "neurons": flow.Observer(_places, moments),
                "profile": flow.Observer(_profile, moments),
                "margins": flow.Observer(lambda s: s.predictions[..., 0], moments),
                "error": flow.Observer(_test_error, flow.LogTimes(25)),
            },
            max_steps=params.max_steps,
            checkpoint=point.checkpoint(),
        )
        tau = theory.stripe_tau(params.width, D)
        ends = run.times[:, -1]
        moment = {"t*": run.event_times["t_star"], "half fitted": run.event_times[half.name]}
        moment["end"] = ends
        staged = {
            name: np.stack(
                [run.recordings[name].at(moment[stage]).cpu().numpy() for stage in STAGES]
            )
            for name in ("neurons", "profile", "margins")
        }
        distance = [
            _distances(each, margins)
            for each, margins in zip(sets, staged["margins"][0], strict=True)
        ]
        places = staged["neurons"].astype(np.float32)
        numbers = {
            "fitted_distance": [fitted for fitted, _ in distance],
            "unfitted_distance": [rest for _, rest in distance],
            "t_star": moment["t*"] / tau,
            "end_loss": run.losses[:, -1],
            "test_error": run.test_errors,
            "bins": [occupied_bins(zeta, size) for zeta, size in staged["neurons"][-1]],
        }
        arrays = {name: Array("seed", values) for name, values in numbers.items()}
        arrays["stage_time"] = Array(
            ("stage", "seed"), np.stack([moment[stage].numpy() for stage in STAGES]) / tau
        )
        arrays["profile"] = Array(("stage", "seed", "x1"), staged["profile"].astype(np.float32))
        arrays["x1"] = Array("x1", GRID)
        arrays["zeta"] = Array(("stage", "seed", "neuron"), places[:, :, 0])
        arrays["amplitude"] = Array(("stage", "seed", "neuron"), places[:, :, 1])
        error = run.recordings["error"]
        return TrialResult(
            {"n_train": params.n_train, "width": params.width},
            arrays=arrays,
            series={
                "loss": Series((run.times / tau)[0], run.losses[0]),
                "error": Series(error.times[0] / tau, error.values[0]),
            },
        )

    @staticmethod
    def figures(dataset: xr.Dataset) -> dict[str, go.Figure]:
        """The two rows of Fig. 4."""
        return {
            "Fig. 4 top: the function along the informative axis": _profiles(dataset),
            "Fig. 4 bottom: loss and test error in time": _curves(dataset),
        }

    @staticmethod
    def claims(dataset: xr.Dataset) -> list[Claim]:
        """Far points first, and few places."""
        return [_order_claim(dataset), _places_claim(dataset)]


def _places(snapshot: Any) -> Any:
    """zeta_1 and the amplitude |beta| |w| of every neuron, (m, 2, h)."""
    import torch

    from regimes import measure

    weights, bias, readout = neurons(snapshot.parameters)
    zeta = measure.neuron_interfaces(weights.double(), bias.double())
    return torch.stack([zeta, (readout.abs() * weights.norm(dim=-1)).double()], 1)


def _profile(snapshot: Any) -> Any:
    """F(x_1, 0) on the grid, (m, 601)."""
    import torch

    like = next(iter(snapshot.parameters.values()))
    x = torch.zeros(len(GRID), D, dtype=like.dtype, device=like.device)
    x[:, 0] = torch.as_tensor(GRID)
    return snapshot.predict(x)[..., 0]


def _test_error(snapshot: Any) -> Any:
    import torch

    test = snapshot.members.test.select(torch.from_numpy(snapshot.numbers))
    return (snapshot.predict_test()[..., 0] * test.y <= 0).double().mean(-1)


def _distances(data: Any, predictions: np.ndarray) -> tuple[float, float]:
    """Mean distance from the nearest interface of the fitted points and of the others."""
    x, y = data.x_train[:, 0].double().numpy(), data.y_train.double().numpy()
    away = np.abs(x[:, None] - np.array(EDGES)).min(1)
    fitted = y * predictions > 1
    return float(away[fitted].mean()), float(away[~fitted].mean())


def occupied_bins(zeta: np.ndarray, amplitude: np.ndarray) -> int:
    """Fewest bins of width 0.2 on [-3, 3] that hold 90 % of the amplitude; 31 if none do.

    >>> occupied_bins(np.array([0.1, 0.1, 2.5, 9.0]), np.array([5.0, 3.0, 1.5, 0.5]))
    2
    """
    count = round(6 / BIN)
    mass, _ = np.histogram(zeta, bins=count, range=(-3.0, 3.0), weights=amplitude)
    reached = np.cumsum(np.sort(mass)[::-1]) >= MASS * amplitude.sum()
    return int(reached.argmax()) + 1 if reached.any() else count + 1


def sign_changes(x: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Where a function on a grid crosses zero, by straight lines between grid points.

    >>> sign_changes(np.array([0.0, 1.0, 2.0]), np.array([1.0, -1.0, -3.0])).tolist()
    [0.5]
    """
    at = np.flatnonzero(np.sign(values[1:]) * np.sign(values[:-1]) < 0)
    share = values[at] / (values[at] - values[at + 1])
    return x[at] + share * (x[at + 1] - x[at])


def _order_claim(dataset: xr.Dataset) -> Claim:
    fitted, rest = dataset.fitted_distance.values, dataset.unfitted_distance.values
    ratio = fitted / rest
    error = ratio.std(ddof=1) / len(ratio) ** 0.5 if len(ratio) > 1 else np.nan
    pairs = ", ".join(f"{a:.2f}/{b:.2f}" for a, b in zip(fitted, rest, strict=True))
    return Claim.between(
        "COMP-32",
        ratio.mean(),
        1.0,
        error=error,
        expected="fitted points farther from the interfaces: ratio > 1",
        why=(
            "mean |x_1 - nearest interface| of the points fitted at t* over that of the rest, "
            f"p={int(dataset.n_train)}; by seed: {pairs}"
        ),
    )


def _places_claim(dataset: xr.Dataset) -> Claim:
    tolerance = 0.05 if int(dataset.n_train) < 10_000 else 0.02
    at_end = dataset.profile.isel(stage=-1)
    crossings = [sign_changes(GRID, at_end.sel(seed=seed).values) for seed in dataset.seed.values]
    away = [
        float(np.abs(found - EDGES).max()) if len(found) == 2 else float("inf")
        for found in crossings
    ]
    bins = dataset.bins.values
    shown = "; ".join(", ".join(f"{x:.3f}" for x in found) for found in crossings)
    return Claim.holds(
        "COMP-33",
        bool((bins <= BINS).all()) and max(away) <= tolerance,
        f"<= {BINS} bins with 90 % of the amplitude; two sign changes within {tolerance}",
        measured=float(bins.max()),
        why=(
            f"bins of width {BIN} by seed: {', '.join(map(str, bins))}; F(x_1, 0) changes sign at "
            f"{shown} (interfaces {EDGES[0]:.3f}, {EDGES[1]:.3f}), farthest {max(away):.3f}; "
            f"p={int(dataset.n_train)}, h={int(dataset.width)}, mean loss at the end "
            f"{float(dataset.end_loss.max()):.3g}"
        ),
    )


def _profiles(dataset: xr.Dataset) -> go.Figure:
    from plotly.subplots import make_subplots

    first = dataset.isel(seed=0)
    titles = [
        f"{name}: t = {float(time):.3g} τ"
        for name, time in zip(STAGES, first.stage_time.values, strict=True)
    ]
    figure = make_subplots(
        rows=2,
        cols=3,
        subplot_titles=titles,
        shared_xaxes=True,
        row_heights=[0.75, 0.25],
        vertical_spacing=0.04,
        horizontal_spacing=0.06,
    )
    for stage in range(3):
        at = first.isel(stage=stage)
        place = {"col": stage + 1}
        figure.add_scatter(
            x=GRID,
            y=at.profile.values,
            name="F(x₁, 0)",
            line={"color": "#4c78d0"},
            showlegend=stage == 0,
            row=1,
            **place,
        )
        size = at.amplitude.values
        figure.add_scatter(
            x=at.zeta.values,
            y=size / size.max(),
            mode="markers",
            marker={"size": 4, "color": "#1b9e77", "opacity": 0.6},
            name="neurons at ζ₁, by amplitude |β||w|",
            showlegend=stage == 0,
            row=2,
            **place,
        )
        for row in (1, 2):
            figure.add_vrect(
                *EDGES, fillcolor="#e08a3c", opacity=0.15, line_width=0, row=row, **place
            )
        for level in (-1, 1):
            figure.add_hline(
                level, line={"dash": "dot", "width": 1, "color": "#999"}, row=1, **place
            )
        depth = -float(at.profile.min())
        figure.update_yaxes(range=[-max(1.3, 1.15 * depth), max(2.0, 2 * depth)], row=1, **place)
        figure.update_xaxes(range=[-3, 3], row=1, **place)
        figure.update_xaxes(range=[-3, 3], title="x₁ (standard deviations)", row=2, **place)
    figure.update_yaxes(title="F(x₁, 0)", row=1, col=1)
    figure.update_yaxes(title="|β||w| / largest", row=2, col=1)
    return figure.update_layout(
        height=560,
        margin={"t": 90},
        legend={"y": 1.0, "yref": "container", "yanchor": "top"},
        meta={
            "caption": "One network in d = 2. Top: its function along the informative axis; the "
            "band is the stripe, where y = -1, and dotted lines are the margins ±1. Bottom: where "
            "each neuron's kink crosses the axis, and how much it contributes. At t* few groups of "
            "neurons at the attractors make a function that is right far from the stripe only. "
            "The groups then move along the axis until the function passes zero at both "
            "interfaces; they stay few."
        },
    )


def _curves(dataset: xr.Dataset) -> go.Figure:
    import plotly.graph_objects as go

    t_star = float(dataset.t_star.isel(seed=0))
    figure = go.Figure()
    for name, label in (("loss", "training loss (mean hinge)"), ("error", "test error (fraction)")):
        times, values = dataset[f"{name}_times"].values, dataset[name].values
        later = times > t_star / 20
        figure.add_scatter(x=times[later], y=values[later], name=label, mode="lines")
    for name, time in zip(STAGES, dataset.stage_time.isel(seed=0).values, strict=True):
        figure.add_vline(float(time), line={"dash": "dash", "width": 1, "color": "#888"})
        # On a logarithmic axis annotations are placed by the logarithm, lines by the value.
        figure.add_annotation(
            x=np.log10(time), y=1.0, yref="paper", text=name, showarrow=False, xanchor="right"
        )
    figure.update_xaxes(type="log", title="time t / τ", exponentformat="power", dtick=1)
    figure.update_yaxes(type="log", title="loss, error", exponentformat="power", dtick=1)
    return figure.update_layout(
        meta={
            "caption": "The same network. Nothing is learnt until t*, while weights grow and align "
            "(dashed: the times of the figure above). Then loss and test error fall together: the "
            "compression made before t* is what the fit starts from."
        }
    )
