"""Figures of frozen kernels: the lazy limit, the learned kernel, its blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from regimes.studies.regimes._cases import along, mean_of, scan_of
from regimes.studies.regimes.frozen_kernels._claims import geometric, one_width

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import xarray as xr

LOG = {"type": "log", "exponentformat": "power"}
CURVES = {
    "network_error": ("network", "#1b9e77", "solid"),
    "final_error": ("frozen final kernel", "#e6ab02", "dash"),
    "initial_error": ("frozen initial kernel", "#d95f02", "dot"),
}


def figures(dataset: xr.Dataset) -> dict[str, go.Figure]:
    """Those whose scans have a finished case."""
    made: dict[str, go.Figure] = {}
    if any(scan_of(dataset, scan).sizes["case"] for scan in ("limit", "span")):
        made["The lazy limit"] = _limit(dataset)
    if scan_of(dataset, "learned").sizes["case"]:
        made["Networks and their frozen kernels, against the scale"] = _learned(dataset)
    if scan_of(dataset, "widths").sizes["case"]:
        made["Networks and their frozen kernels, against width"] = _widths(dataset)
    for scan in ("gram", "learned"):
        if scan_of(dataset, scan).sizes["case"] and "Kernels by label" not in made:
            made["Kernels by label"] = _pictures(dataset, scan)
    return made


def _curve(
    figure: go.Figure,
    x: np.ndarray,
    found: list[Any],
    name: str,
    color: str,
    dash: str = "solid",
    factor: float = 1.0,
    **options: Any,
) -> None:
    figure.add_scatter(
        x=x,
        y=[factor * each.value for each in found],
        error_y={
            "array": [factor * np.nan_to_num(each.error) for each in found],
            "thickness": 1,
            "width": 3,
        },
        mode="lines+markers",
        name=name,
        line={"color": color, "dash": dash},
        hovertemplate="%{x:.3g}<br>%{y:.3g}",
        **options,
    )


def _limit(dataset: xr.Dataset) -> go.Figure:
    from plotly.subplots import make_subplots

    titles = ("test outputs: distance to the frozen kernel", "weights: motion outside the span")
    figure = make_subplots(cols=2, subplot_titles=titles)
    for col, (scan, name) in enumerate(
        (("limit", "limit_difference"), ("span", "tangent_residual")), start=1
    ):
        table = scan_of(dataset, scan)
        if not table.sizes["case"]:
            continue
        table = one_width(table)
        at = table["at"].values
        found = [geometric(row) for row in table[name].values]
        _curve(figure, at, found, "measured", "#4c78d0", row=1, col=col, showlegend=col == 1)
        end = 0.7 * found[-1].value
        figure.add_scatter(
            x=at,
            y=end * at[-1] / at,
            mode="lines",
            name="slope -1",
            line={"color": "gray", "dash": "dash", "width": 1.2},
            hoverinfo="skip",
            row=1,
            col=col,
            showlegend=col == 1,
        )
    figure.update_xaxes(**LOG, title="√h α", dtick=1)
    figure.update_yaxes(**LOG, dtick=1)
    figure.update_yaxes(title="relative difference", row=1, col=1)
    figure.update_yaxes(title="share of the weight change", row=1, col=2)
    return figure.update_layout(
        meta={
            "caption": (
                "Left: how far the outputs of a trained network on test points are from those of "
                "the linear model with its initial tangent kernel, relative to their size. Right: "
                "which share of the weights' motion lies outside the span of the gradients of the "
                "training points at the start, the only directions a linear model can take. Both "
                "vanish as 1/(√h α) (grey): a large scale makes the network its kernel. Geometric "
                "means over seeds, bars are standard errors."
            )
        }
    )


def _learned(dataset: xr.Dataset) -> go.Figure:
    from plotly.subplots import make_subplots

    table = one_width(scan_of(dataset, "learned"))
    at = table["at"].values
    titles = ("test error", "size of the kernel", "contrast of its label blocks")
    figure = make_subplots(cols=3, subplot_titles=titles, horizontal_spacing=0.08)
    for name, (label, color, dash) in CURVES.items():
        found = [mean_of(row) for row in table[name].values]
        _curve(figure, at, found, label, color, dash, 100.0, row=1, col=1)
    growth = [geometric(row) for row in table.kernel_growth.values]
    _curve(figure, at, growth, "", "#4c78d0", row=1, col=2, showlegend=False)
    for name, color in (("final_contrast", "#e6ab02"), ("initial_contrast", "#d95f02")):
        found = [mean_of(row) for row in table[name].values]
        dash = CURVES[name.replace("contrast", "error")][2]
        _curve(figure, at, found, "", color, dash, row=1, col=3, showlegend=False)
    figure.add_hline(1.0, line={"dash": "dot", "color": "gray"}, row=1, col=2)
    figure.update_xaxes(**LOG, title="√h α", dtick=2)
    figure.update_yaxes(title="%", row=1, col=1)
    figure.update_yaxes(**LOG, title="final norm / initial norm", row=1, col=2)
    figure.update_yaxes(title="same minus other label", rangemode="tozero", row=1, col=3)
    return figure.update_layout(
        legend={"orientation": "h", "y": -0.25},
        meta={
            "caption": (
                "Left: a network, and linear models with its tangent kernel frozen before and "
                "after training, all trained on the same points. The kernel after training does "
                "about as well as the network at every scale, so what was learnt is in it; the one "
                "before training agrees with it in the lazy regime only (right end). Where "
                "features are learnt (left end) the kernel grows by orders of magnitude and its "
                "entries come to tell the labels apart: mean entry between points of one label "
                "minus that between labels, of a kernel scaled to unit mean square."
            )
        },
    )


def _widths(dataset: xr.Dataset) -> go.Figure:
    from plotly.subplots import make_subplots

    table = scan_of(dataset, "widths")
    kinds = table["net"].values if "net" in table.coords else np.array([""] * len(table.case))
    labels = {"": "fully connected", "fc": "fully connected", "cnn": "convolutional"}
    shown = np.unique(kinds)
    figure = make_subplots(cols=len(shown), subplot_titles=[labels[kind] for kind in shown])
    for col, kind in enumerate(shown, start=1):
        rows = along(table.isel(case=kinds == kind), "h")
        for name, (label, color, dash) in CURVES.items():
            found = [mean_of(row) for row in rows[name].values]
            place = {"row": 1, "col": col, "showlegend": col == 1}
            _curve(figure, rows["h"].values, found, label, color, dash, 100.0, **place)
        hs = np.unique(rows["h"].values)
        figure.update_xaxes(tickvals=hs, ticktext=[f"{h:g}" for h in hs], row=1, col=col)
    figure.update_xaxes(type="log", title="width h")
    figure.update_yaxes(title="test error (%)", col=1)
    return figure.update_layout(
        meta={
            "caption": (
                "At a fixed output scale α = 1, where √h α grows with the width: test errors of "
                "networks and of their tangent kernels frozen before and after training. The "
                "kernel after training follows the network; the initial kernel errs differently, "
                "until the network is so wide that its kernel no longer moves. Mean over seeds, "
                "bars are standard errors."
            )
        }
    )


def _pictures(dataset: xr.Dataset, scan: str) -> go.Figure:
    from plotly.subplots import make_subplots

    table = along(scan_of(dataset, scan), "scale")
    count = table.sizes["case"]
    chosen = sorted({0, int(np.abs(np.log(table["scale"].values)).argmin()), count - 1})
    titles = ["before training"]
    titles += [f"after, √h α = {float(table['scale'].values[i]):g}" for i in chosen]
    drawn = [table.picture.isel(case=0, stage=0)]
    drawn += [table.picture.isel(case=i, stage=1) for i in chosen]
    figure = make_subplots(cols=len(drawn), subplot_titles=titles, horizontal_spacing=0.03)
    edge = float((table.positive.isel(case=0).values < 0.5).sum()) - 0.5
    for col, picture in enumerate(drawn, start=1):
        figure.add_heatmap(
            z=picture.values,
            zmin=0.1,
            zmax=1.9,
            colorscale="RdBu_r",
            showscale=col == len(drawn),
            colorbar={"title": "K P/|K|"},
            hovertemplate="%{z:.2f}<extra></extra>",
            row=1,
            col=col,
        )
        line = {"color": "black", "width": 1}
        figure.add_vline(edge, line=line, row=1, col=col)
        figure.add_hline(edge, line=line, row=1, col=col)
    figure.update_xaxes(showticklabels=False, title="test points: y = -1, +1")
    figure.update_yaxes(showticklabels=False, autorange="reversed")
    return figure.update_layout(
        height=380,
        meta={
            "caption": (
                "The tangent kernel of one network between test points it never saw, sorted by "
                "label (black lines); every kernel is scaled to unit mean square. Before training "
                "and after lazy training the blocks are hardly seen. Where features are learnt, "
                "entries within a label grow and entries between labels shrink: the kernel has "
                "come to know the task."
            )
        },
    )
