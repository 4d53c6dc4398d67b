"""Figures of the relu study: kernel change (FL Fig. 12) and switched neurons against at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import xarray as xr

COLOURS = ("#1f77b4", "#d62728", "#2ca02c")
GREY = {"dash": "dash", "color": "#777", "width": 1.5}


def all_figures(dataset: xr.Dataset) -> dict[str, go.Figure]:
    """Both figures, once anything is finished."""
    if "kernel_change" not in dataset:
        return {}
    return {
        "Change of the tangent kernel with relu": _kernel(dataset),
        "Neurons that switch": _flips(dataset),
    }


def _lines(dataset: xr.Dataset, name: str, power: float) -> list[tuple[int, Any, Any, Any]]:
    """Width, at, `mean(value^power)^(1/power)` over networks, and each network's value."""
    found = []
    for width in (int(w) for w in dataset.width.values):
        part = dataset.sel(width=width).sortby("at").transpose("at", "seed", ...)
        part = part.isel(at=np.flatnonzero(np.isfinite(part[name].values).any(1)))
        if part.sizes["at"]:
            values = part[name].values
            mean = np.nanmean(values**power, 1) ** (1 / power)
            found.append((width, part.at.values, mean, values))
    return found


def _drawn(dataset: xr.Dataset, name: str, power: float) -> go.Figure:
    import plotly.graph_objects as go

    figure = go.Figure()
    for colour, (width, at, mean, values) in zip(
        COLOURS * 3, _lines(dataset, name, power), strict=False
    ):
        each = np.where(values > 0, values, np.nan)
        figure.add_scatter(
            x=np.repeat(at, each.shape[1]),
            y=each.ravel(),
            mode="markers",
            marker={"color": colour, "size": 4, "opacity": 0.4},
            name=f"h = {width}, each network",
        )
        figure.add_scatter(
            x=at,
            y=np.where(mean > 0, mean, np.nan),
            mode="lines+markers",
            line_color=colour,
            name=f"h = {width}, {'root mean square' if power == 2 else 'mean'}",
            hovertemplate="√h alpha %{x:.0e}: %{y:.3g}",
        )
    figure.update_xaxes(type="log", exponentformat="power", title="√h alpha")
    return figure.update_yaxes(type="log", exponentformat="power")


def _guide(
    figure: go.Figure, line: tuple[Any, Any], x: tuple[float, float], slope: float, name: str
) -> None:
    """A dashed line of this slope, drawn above the curve `line` over the range x."""
    at, mean = line
    inside = (at >= x[0] * 0.99) & (at <= x[1] * 1.01) & (mean > 0)
    if not inside.any():
        return
    middle = np.exp(np.log(at[inside]).mean())
    height = 2.0 * np.exp(np.log(mean[inside]).mean())
    ends = np.array(x)
    figure.add_scatter(
        x=ends, y=height * (ends / middle) ** slope, mode="lines", line=GREY, name=name
    )


def _kernel(dataset: xr.Dataset) -> go.Figure:
    figure = _drawn(dataset, "kernel_change", 2.0)
    for _, at, mean, _ in _lines(dataset, "kernel_change", 2.0)[:1]:
        _guide(figure, (at, mean), (1e2, 1e5), -0.5, "slope −1/2")
        _guide(figure, (at, mean), (1e7, float(at.max())), -1.0, "slope −1")
        _guide(figure, (at, mean), (float(at.min()), 10.0), -1.5, "slope −3/2")
    figure.add_hline(y=1.0, line={"dash": "dot", "color": "#999"})
    figure.update_yaxes(title="|Θ − Θ₀| / |Θ₀|")
    return figure.update_layout(
        height=520,
        meta={
            "caption": (
                "Relative change of the tangent kernel of relu networks from start to end of "
                "training against √h alpha; dots are single networks, the line their root mean "
                "square. Left of 10 features are learned. With a smooth activation the slope −1 "
                "would follow at once. With relu a few neurons cross zero on a few patterns, and "
                "as their number falls as 1/(√h alpha) the kernel's change falls only as its root "
                "(dashed, −1/2). Where no neuron crosses zero any more, at the far right, the "
                "change drops to that of a smooth function of the weights (slope −1). Runs in "
                "the feature regime may end before everything is fitted: kinks make them slow."
            )
        },
    )


def _flips(dataset: xr.Dataset) -> go.Figure:
    figure = _drawn(dataset, "flips", 1.0)
    for _, at, mean, _ in _lines(dataset, "flips", 1.0)[:1]:
        _guide(figure, (at, mean), (1e2, 1e5), -1.0, "slope −1")
    figure.update_yaxes(title="switched (neuron, pattern) pairs per network")
    return figure.update_layout(
        height=460,
        meta={
            "caption": (
                "How many pairs of a hidden neuron and a test point were switched on or off by "
                "training. Weights move by 1/(√h alpha), so does the number of pairs close enough "
                "to zero to switch (dashed, slope −1). Networks without any switch cannot be shown "
                "on a logarithmic axis but count in the mean."
            )
        },
    )
