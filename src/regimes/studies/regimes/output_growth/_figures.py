"""Figures of the output's growth: the four panels of FL Fig. 10."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import xarray as xr

SHADES = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#8c564b", "#17becf", "#7f7f7f")


def all_figures(dataset: xr.Dataset) -> dict[str, go.Figure]:
    """One figure a depth, where anything is finished."""
    if "change" not in dataset:
        return {}
    made = {}
    for depth in (int(d) for d in dataset.depth.values):
        part = dataset.sel(depth=depth)
        if bool(np.isfinite(part.change).any()):
            made[f"Growth of the output, L = {depth}"] = _panels(part, depth)
    return made


def _panels(part: xr.Dataset, depth: int) -> go.Figure:
    from plotly.subplots import make_subplots

    figure = make_subplots(
        rows=2,
        cols=2,
        subplot_titles=(
            "change of the output",
            "output over its start, by √h",
            "√h alpha × change",
            "alpha × change",
        ),
        horizontal_spacing=0.1,
        vertical_spacing=0.16,
    )
    lines = [(float(at), int(width)) for at in part.at.values for width in part.width.values]
    colours = {float(at): SHADES[i % len(SHADES)] for i, at in enumerate(part.at.values)}
    dashes = dict(
        zip((int(w) for w in part.width.values), ("solid", "dot", "dash", "dashdot"), strict=False)
    )
    moments = part.moment.values
    for at, width in lines:
        own = part.sel(at=at, width=width)
        if not bool(np.isfinite(own.change).all()):
            continue
        change = np.exp(np.log(own.change).mean("seed").values)
        norm = np.exp(np.log(own.norm).mean("seed").values)
        alpha = at / width**0.5
        panels = (
            (change, 1, 1),
            (norm / (float(own.typical_norm) * width**0.5), 1, 2),
            (width**0.5 * alpha * change, 2, 1),
            (alpha * change, 2, 2),
        )
        for y, row, col in panels:
            figure.add_scatter(
                x=moments,
                y=y,
                mode="lines",
                line={"color": colours[at], "dash": dashes.get(width, "solid")},
                name=f"√h alpha = {at:g}, h = {width}",
                legendgroup=f"{at}-{width}",
                showlegend=(row, col) == (1, 1),
                hovertemplate="t/t₁ %{x:.2g}: %{y:.3g}",
                row=row,
                col=col,
            )
    early = np.array([1e-3, 0.1])
    for row, col in ((1, 1), (2, 1), (2, 2)):
        heights = [y.y[0] for y in figure.select_traces(row=row, col=col)]
        figure.add_scatter(
            x=early,
            y=2 * max(heights) * early / early[0],
            mode="lines",
            line={"dash": "dash", "color": "#777", "width": 1},
            name="slope 1",
            showlegend=(row, col) == (1, 1),
            row=row,
            col=col,
        )
    figure.update_xaxes(type="log", exponentformat="power", title="t / t₁")
    figure.update_yaxes(type="log", exponentformat="power")
    titles = ("‖f_t − f₀‖", "‖f_t‖ / (√h ‖f₀‖)", "√h alpha ‖f_t − f₀‖", "alpha ‖f_t − f₀‖")
    for i, title in enumerate(titles):
        figure.update_yaxes(title=title, row=i // 2 + 1, col=i % 2 + 1)
    return figure.update_layout(
        height=820,
        legend={"orientation": "h", "y": -0.12},
        meta={
            "caption": (
                f"Root mean square output of networks with L = {depth} hidden layers on test "
                "points in the course of training; time in units of t₁, when the loss is half of "
                "what it was; geometric mean over seeds; colour is √h alpha, line style the width. "
                "At first the change of the output grows in proportion to time (dashed, slope 1). "
                "In the feature regime (small √h alpha) it bends upwards when the weights begin to "
                "help each other. At t₁ the output has grown by √h beyond its start (upper right: "
                "widths agree around 1), and alpha times the change is a function of t/t₁ alone "
                "(lower right: widths agree); for early times √h alpha is the factor that makes "
                "widths agree (lower left)."
            )
        },
    )
