"""Figures of double descent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from regimes.studies.regimes.double_descent._claims import jamming

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import xarray as xr

COLORS = ("#d95f02", "#7570b3", "#1b9e77")


def errors(dataset: xr.Dataset) -> go.Figure:
    """PD Fig. 5: single and ensemble error against width."""
    import plotly.graph_objects as go

    figure = go.Figure()
    for color, at, flow in _cuts(dataset):
        for name, dash, label in (
            ("error", "dash", "single"),
            ("ensemble_error", "solid", "ensemble"),
        ):
            values = flow[name].mean("seed") if "seed" in flow[name].dims else flow[name]
            figure.add_scatter(
                x=flow.width.values,
                y=100 * values.values,
                mode="lines+markers",
                name=f"{label}, sqrt(h) alpha = {at:g}",
                line={"color": color, "dash": dash},
                hovertemplate="h %{x}<br>error %{y:.2f} %",
            )
        _mark(figure, flow, color)
    figure.update_xaxes(type="log", title="width h (neurons)", tickvals=dataset.width.values)
    figure.update_yaxes(title="test error (%)")
    caption = (
        "Test error of single networks (dashed, mean over seeds) and of their mean prediction "
        "(solid) against width, at three scales; the dotted lines mark jamming, left of which most "
        "runs do not fit. Single networks go on improving with width long after they fit; the "
        "ensemble is as good as it gets right after jamming, at every scale."
    )
    return figure.update_layout(meta={"caption": caption})


def norms(dataset: xr.Dataset) -> go.Figure:
    """Norm of the output, for every trainer."""
    import plotly.graph_objects as go

    figure = go.Figure()
    for color, at, flow in _cuts(dataset):
        values = flow.output_norm.transpose("seed", "width").values
        figure.add_scatter(
            x=flow.width.values,
            y=np.median(values, 0),
            mode="lines+markers",
            name=f"flow, sqrt(h) alpha = {at:g}",
            line={"color": color},
            hovertemplate="h %{x}<br>norm %{y:.3g}",
        )
        _mark(figure, flow, color)
    if "output_norm" in dataset:
        middle = dataset.isel(at=dataset.sizes["at"] // 2)
        for name, symbol in (("sgd", "diamond"), ("decay", "square")):
            if name in dataset.trainer.values:
                curve = middle.output_norm.sel(trainer=name).median("seed").dropna("width")
                figure.add_scatter(
                    x=curve.width.values,
                    y=curve.values,
                    mode="markers",
                    name=f"{name}, middle scale",
                    marker={"symbol": symbol, "size": 9, "color": "black"},
                )
    figure.update_xaxes(type="log", title="width h (neurons)", tickvals=dataset.width.values)
    figure.update_yaxes(type="log", title="norm of the output F on test points")
    caption = (
        "Root mean square of the prediction on test points, medians over seeds. It is largest "
        "where networks can only just fit their data (dotted: jamming), the cause of the peak of "
        "the test error, and falls beyond. Stochastic steps and a decay towards the start keep it "
        "small (symbols)."
    )
    return figure.update_layout(meta={"caption": caption})


def _cuts(dataset: xr.Dataset) -> list[tuple[str, float, xr.Dataset]]:
    if "fitted" not in dataset:
        return []
    flow = dataset.sel(trainer="flow").dropna("width", how="all", subset=["fitted"])
    scales = flow.scale.max("width").values
    return [
        (COLORS[k % len(COLORS)], float(scales[k]), flow.isel(at=k)) for k in range(len(scales))
    ]


def _mark(figure: go.Figure, flow: xr.Dataset, color: str) -> None:
    place = jamming(flow)
    if place is not None:
        figure.add_vline(x=place, line={"color": color, "dash": "dot", "width": 1})
