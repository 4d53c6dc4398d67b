"""Figures of the scan over alpha: the crossover, neurons aligning, neurons at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from regimes.lab import mean_over

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import xarray as xr


def crossover(dataset: xr.Dataset) -> go.Figure:
    """Test error, t*, amplification and kernel change against alpha."""
    from plotly.subplots import make_subplots

    figure = make_subplots(
        rows=2,
        cols=2,
        subplot_titles=(
            "test error",
            "time t* to fit 10 % (units of tau)",
            "amplification of the informative direction",
            "relative change of the tangent kernel",
        ),
        horizontal_spacing=0.1,
        vertical_spacing=0.2,
    )
    panels = [
        ("test_error", "test error", 1, 1),
        ("t_star", "t*", 1, 2),
        ("amplification_star", "Λ at t*", 2, 1),
        ("amplification_max", "largest Λ", 2, 1),
        ("kernel_change", "kernel change", 2, 2),
    ]
    for variable, name, row, col in panels:
        line = mean_over(dataset, variable, "seed")
        figure.add_scatter(
            x=line.alpha.values,
            y=line["mean"].values,
            error_y={"array": line["error"].fillna(0.0).values, "thickness": 1},
            mode="lines+markers",
            name=name,
            row=row,
            col=col,
            hovertemplate="alpha %{x:.0e}<br>%{y:.3g}",
        )
    frozen = float(dataset.frozen_error.mean())
    figure.add_scatter(
        x=dataset.alpha.values[[0, -1]],
        y=[frozen, frozen],
        mode="lines",
        line={"dash": "dash", "color": "#777"},
        name="frozen initial kernel",
        row=1,
        col=1,
    )
    lazy = float(dataset.frozen_t_star.mean())
    large = dataset.alpha.values[dataset.alpha.values >= 1.0]
    figure.add_scatter(
        x=large,
        y=lazy / large,
        mode="lines",
        line_dash="dash",
        name="frozen kernel, 1/alpha",
        row=1,
        col=2,
    )
    figure.update_xaxes(type="log", title="alpha", exponentformat="power", dtick=2)
    figure.update_yaxes(type="log", exponentformat="power")
    return figure.update_layout(
        height=760,
        legend={"orientation": "h", "y": -0.16},
        meta={
            "caption": (
                "Left end: feature learning. The output is scaled down so much that the weights "
                "must grow before anything is fitted; on the way the network turns into the one "
                "direction that matters (large Λ), its kernel changes beyond recognition, and the "
                "test error is a fraction of the lazy one. Right end: lazy training. t* falls as "
                "1/alpha, the weights and the kernel stay where they were, and the error is that "
                "of the frozen initial kernel (dashed). Between them lies the crossover. Mean and "
                "standard error over seeds of data and initialisation."
            )
        },
    )


def aligning(dataset: xr.Dataset, times: np.ndarray) -> go.Figure:
    """Share of the weights in the informative direction, in the course of `times` (units of t*)."""
    import plotly.colors
    import plotly.graph_objects as go

    figure = go.Figure()
    mean = dataset.share.mean("seed")
    shades = plotly.colors.sample_colorscale("Viridis", np.linspace(0, 0.95, mean.sizes["alpha"]))
    for alpha, shade in zip(mean.alpha.values, shades, strict=True):
        figure.add_scatter(
            x=times,
            y=mean.sel(alpha=alpha).values,
            mode="lines",
            line_color=shade,
            name=f"alpha = {alpha:.0e}",
        )
    figure.add_vline(x=1.0, line_dash="dot", annotation_text="t*")
    figure.update_xaxes(type="log", title="time t / t*", exponentformat="power")
    figure.update_yaxes(title="share of the weights in the informative direction", range=[0, 1.02])
    return figure.update_layout(
        meta={
            "caption": (
                "How much of the first layer, each neuron counted by its effect on the output, "
                "points along the one informative direction. It starts at about 1/d. In the "
                "feature regime (dark) it has risen before the first points are fitted at t*; in "
                "the lazy regime (light) it never moves."
            )
        }
    )


def neurons(dataset: xr.Dataset) -> go.Figure:
    """Neurons after training, alpha by slider."""
    import plotly.graph_objects as go

    first = dataset.isel(seed=0)
    alphas = dataset.alpha.values

    def cloud(alpha: float) -> go.Scatter:
        chosen = first.sel(alpha=alpha)
        return go.Scatter(
            x=chosen.uninformative.values,
            y=chosen.informative.values,
            mode="markers",
            marker={"size": 6, "opacity": 0.6},
            hovertemplate="|w_perp| %{x:.2f}<br>w_1 %{y:.2f}",
        )

    figure = go.Figure(
        data=[cloud(alphas[0])],
        frames=[go.Frame(data=[cloud(a)], name=f"{a:.0e}") for a in alphas],
    )
    steps = [
        {
            "method": "animate",
            "label": f"{a:.0e}",
            "args": [[f"{a:.0e}"], {"mode": "immediate", "frame": {"duration": 0}}],
        }
        for a in alphas
    ]
    figure.update_layout(
        sliders=[{"steps": steps, "currentvalue": {"prefix": "alpha = "}, "pad": {"t": 50}}],
        meta={
            "caption": (
                "Neurons of one network after training: length of the weight vector across the "
                "uninformative directions against its component along the informative one, in "
                "units of the mean length. Move the slider: at small alpha the neurons that grew "
                "lie on the vertical axis, at large alpha they stay in the cloud they started as."
            )
        },
    )
    figure.update_xaxes(title="|w⊥| (mean length)", range=[-0.1, 3])
    return figure.update_yaxes(title="w₁ (mean length)", range=[-6, 6])
