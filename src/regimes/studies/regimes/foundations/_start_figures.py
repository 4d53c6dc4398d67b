"""Figures of the foundations, first those of what needs no training."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from regimes.studies.regimes.foundations._forms import SHARPNESS

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import xarray as xr

COLOURS = ("#4c78d0", "#e08a3c", "#1b9e77", "#b0529b", "#7a7a2e", "#999999")
POWER: dict[str, Any] = {"type": "log", "exponentformat": "power"}


def log_figure(
    x_title: str, y_title: str, caption: str, *, ticks: Sequence[float] | None = None
) -> go.Figure:
    """An empty figure with logarithmic axes."""
    import plotly.graph_objects as go

    figure = go.Figure()
    figure.update_xaxes(title=x_title, **POWER)
    if ticks is not None:
        figure.update_xaxes(tickvals=list(ticks), ticktext=[f"{tick:g}" for tick in ticks])
    figure.update_yaxes(title=y_title, **POWER)
    return figure.update_layout(meta={"caption": caption})


def add_seeds(
    figure: go.Figure, x: Any, y: np.ndarray, name: str, colour: str, **place: Any
) -> None:
    """Points of every seed (faint) and their mean; y is (seeds, x)."""
    rows = np.column_stack([y, np.full(len(y), np.nan)]).ravel()
    figure.add_scatter(
        x=np.tile(np.append(np.asarray(x, dtype=float), np.nan), len(y)),
        y=rows,
        mode="markers",
        marker={"color": colour, "size": 4, "opacity": 0.4},
        showlegend=False,
        hoverinfo="skip",
        **place,
    )
    figure.add_scatter(
        x=np.asarray(x),
        y=y.mean(0),
        mode="lines+markers",
        line={"color": colour},
        name=name,
        **place,
    )


def add_guide(
    figure: go.Figure, x: Any, first: float, exponent: float, name: str, **options: Any
) -> None:
    """A dashed line of this slope that starts at (x[0], first)."""
    x = np.asarray(x, dtype=float)
    figure.add_scatter(
        x=x,
        y=first * (x / x[0]) ** exponent,
        mode="lines",
        line={"dash": "dash", "color": "#555555"},
        name=name,
        **options,
    )


def losses_figure(at: xr.Dataset) -> go.Figure:
    """FL Fig 1."""
    import plotly.graph_objects as go

    figure = go.Figure()
    names = [f"soft hinge, b = {b:g}" for b in SHARPNESS] + ["hinge"]
    for name, curve, colour in zip(names, at.loss_curves.values, COLOURS, strict=False):
        line = {"color": "#333333", "dash": "dash"} if name == "hinge" else {"color": colour}
        figure.add_scatter(x=at.loss_margin.values, y=curve, name=name, mode="lines", line=line)
    figure.update_xaxes(title="margin m = y F")
    figure.update_yaxes(title="loss")
    return figure.update_layout(
        meta={
            "caption": "The smooth losses used for training and their limit. They differ most at "
            "m = 1, by ln 2/b: with b = 20 the soft hinge is all but the hinge, and its flow has "
            "no jumps."
        }
    )


def same_model_figure(at: xr.Dataset) -> go.Figure:
    """Loss in the course of time in both parametrisations."""
    figure = log_figure(
        "flow time t (mean-field: t_code ã/h)",
        "training loss",
        "The same weights trained in two forms: lines in the NTK form with output scale α = ã/√h, "
        "markers in the mean-field form with scale ã, its time divided by h/ã. They fall on each "
        "other: how the readout is written is a matter of units, only ã = √h α matters.",
    )
    for i, scale in enumerate(at.same_ats.values):
        times, losses = at.same_times.values[:, i], at.same_losses.values[:, i]
        for form, mode in enumerate(("lines", "markers")):
            figure.add_scatter(
                x=times[form][1:],
                y=losses[form][1:],
                mode=mode,
                line={"color": COLOURS[i]},
                marker={"color": COLOURS[i], "symbol": "circle-open"},
                name=f"ã = {scale:g}, {'mean-field' if form else 'NTK'}",
            )
    return figure


def early_figure(at: xr.Dataset) -> go.Figure:
    """alpha^2 |grad|^2 against alpha."""
    alpha = at.speed_alpha.values
    figure = log_figure(
        "output scale α",
        "α² |∇L|² at the start",
        "How fast the loss falls at first, α² |∇L|², for networks of equal weights: the prefactor "
        "1/α² of the objective makes it the same for every α, and the tangent kernel predicts it "
        "(crosses). Lazy and feature learning differ later, not at the start.",
    )
    for k in range(at.sizes["speed_seed"]):
        figure.add_scatter(
            x=alpha,
            y=at.speed.values[:, k],
            mode="lines",
            line={"color": COLOURS[k % len(COLOURS)]},
            name=f"network {k}",
        )
    figure.add_scatter(
        x=np.repeat(alpha, at.sizes["speed_seed"]),
        y=at.speed_predicted.values.ravel(),
        mode="markers",
        marker={"symbol": "x", "color": "#333333"},
        name="from the kernel: σ(20)² yᵀΘy/n²",
    )
    figure.update_yaxes(
        range=[np.log10(float(at.speed.min()) / 2), np.log10(float(at.speed.max()) * 2)]
    )
    return figure


def process_figure(at: xr.Dataset) -> go.Figure:
    """Distribution of f and covariances."""
    from plotly.subplots import make_subplots

    figure = make_subplots(
        rows=1, cols=2, subplot_titles=("f at one point, over networks", "covariances")
    )
    values = at.process_values.values[:, 0]
    height, edges = np.histogram(values, bins=np.linspace(-4, 4, 33), density=True)
    figure.add_bar(
        x=(edges[1:] + edges[:-1]) / 2,
        y=height,
        width=np.diff(edges),
        marker={"color": COLOURS[0], "opacity": 0.6},
        name=f"{len(values)} networks",
        row=1,
        col=1,
    )
    grid = np.linspace(-4, 4, 161)
    figure.add_scatter(
        x=grid,
        y=np.exp(-(grid**2) / 2) / np.sqrt(2 * np.pi),
        mode="lines",
        line={"dash": "dash", "color": "#333333"},
        name="Gaussian of variance 1",
        row=1,
        col=1,
    )
    upper = np.triu_indices(at.sizes["place"])
    predicted, found = at.process_predicted.values[upper], at.process_covariance.values[upper]
    error = np.sqrt((1 + predicted**2) / len(values))
    figure.add_scatter(
        x=predicted,
        y=found,
        mode="markers",
        error_y={"type": "data", "array": error},
        marker={"color": COLOURS[1]},
        name="pairs of points",
        row=1,
        col=2,
    )
    line = [float(predicted.min()), 1.0]
    figure.add_scatter(
        x=line,
        y=line,
        mode="lines",
        line={"dash": "dash", "color": "#333333"},
        name="equal",
        row=1,
        col=2,
    )
    figure.update_xaxes(title="f", row=1, col=1).update_yaxes(title="density", row=1, col=1)
    figure.update_xaxes(title="infinite width", row=1, col=2)
    figure.update_yaxes(title="measured", row=1, col=2)
    return figure.update_layout(
        meta={
            "caption": f"Random relu networks of width {int(at.process_width)} with two hidden "
            "layers, before training. Left: the output at one point is Gaussian. Right: its "
            "covariances are those of the recursion for infinite width (bars: one standard error)."
        }
    )


def noise_figure(at: xr.Dataset) -> go.Figure:
    """Fluctuation of the kernel and distance of its mean to the limit."""
    widths, noise = at.noise_width.values, at.noise.values
    figure = log_figure(
        "width h",
        "relative change of the tangent kernel",
        "How much the tangent kernel at the start differs from one random network to the next "
        "(norm of the difference from the mean, over the mean's; points are networks). It falls as "
        "1/√h, so that wide networks share one kernel, that of infinite width: their mean tends to "
        "it.",
        ticks=widths,
    )
    add_seeds(figure, widths, noise.T, "fluctuation", COLOURS[0])
    figure.add_scatter(
        x=widths,
        y=at.limit_distance.values,
        mode="lines+markers",
        line={"color": COLOURS[1]},
        name="mean from infinite width",
    )
    add_guide(figure, widths, float(noise[0].mean()), -0.5, "slope -1/2")
    return figure


def gradients_figure(at: xr.Dataset) -> go.Figure:
    """FL eq 20-21."""
    widths, sizes = at.layer_width.values, at.gradient_size.values
    last = sizes.shape[2] - 1
    figure = log_figure(
        "width h",
        "rms of ∂f/∂W",
        "Size of the gradient of the output by one weight at the start. Weights of the first layer "
        "and of the readout count as 1/√h, those between as 1/h, because there are h² of them "
        "(points are networks).",
        ticks=widths,
    )
    for layer in range(last + 1):
        name = "first layer" if layer == 0 else "readout" if layer == last else f"layer {layer + 1}"
        add_seeds(figure, widths, sizes[..., layer], name, COLOURS[layer % len(COLOURS)])
    add_guide(figure, widths, float(sizes[:, 0, last].mean()), -0.5, "slope -1/2")
    add_guide(figure, widths, float(sizes[:, 0, 1].mean()), -1.0, "slope -1")
    return figure


def speeds_figure(at: xr.Dataset) -> go.Figure:
    """FL Fig 11."""
    widths, speed = at.layer_width.values, at.preact_speed.values
    figure = log_figure(
        "width h",
        "rms of dz/dt at t = 0 (1/flow time)",
        "How fast the pre-activations of each hidden layer start to move (α = 1). All layers slow "
        "down as 1/√h: with α fixed wide networks change less and less inside while their output "
        "learns at the same rate, which is lazy training.",
        ticks=widths,
    )
    for layer in range(speed.shape[1]):
        colour = COLOURS[layer % len(COLOURS)]
        add_seeds(figure, widths, speed[:, layer, 1].T, f"layer {layer + 1}", colour)
    add_guide(figure, widths, 1.3 * float(speed[0, -1, 1].mean()), -0.5, "slope -1/2")
    return figure


def neighbours_figure(at: xr.Dataset) -> go.Figure:
    """Nearest neighbours against the number of points."""
    points = at.torus_p.values
    figure = log_figure(
        "number of points P",
        "mean distance to the nearest (sides of the torus)",
        "Uniform points on a torus: the nearest neighbour comes closer as P^(-1/d) (dashed). In "
        "high dimension more data hardly bring it nearer: the curse of dimensionality.",
        ticks=points,
    )
    for i, d in enumerate(at.torus_d.values):
        found = at.neighbour.values[i]
        add_seeds(figure, points, found, f"d = {d:g}", COLOURS[i % len(COLOURS)])
        add_guide(figure, points, float(found[:, 0].mean()), -1 / d, f"slope -1/{d:g}")
    return figure
