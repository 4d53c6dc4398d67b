"""Accuracy and alignment along anisotropy directions, and what the first look like."""

from __future__ import annotations

import numpy as np

from regimes.lab import Data, Figure, draw, judge


def _accuracy(dataset: Data) -> Figure:
    caption = (
        "Test accuracy on points that direction i separates, mean over seeds with standard "
        "errors. Along the first directions the network is right throughout, along late ones it "
        "guesses; the linearisation falls sooner."
    )
    judge.need(dataset, "accuracy_network", "accuracy_linear")
    networks = [str(each) for each in dataset.network.values]
    figure = draw.axes(
        "i, counted from 1", "test accuracy (%)", panels=networks, log="x", caption=caption
    )
    for panel, network in enumerate(networks, 1):
        own = dataset.sel(network=network)
        for name, told, color in (
            ("accuracy_network", "network", draw.BLUE),
            ("accuracy_linear", "linearisation", draw.ORANGE),
        ):
            draw.curve(
                figure,
                100 * own[name],
                "index",
                told,
                x=own.index.values + 1,
                color=color,
                panel=panel,
            )
    return figure


def _alignment(dataset: Data) -> Figure:
    caption = (
        "Alignment of the linear predictor along direction i with the tangent kernel at the "
        "start, predicted from mixed derivatives at zero (solid) and averaged over inputs "
        "(dashed). It falls over many orders."
    )
    judge.need(dataset, "alignment", "alignment_average")
    figure = draw.axes("i, counted from 1", "alignment", log="xy", caption=caption)
    for network, color, own in draw.each(dataset, "network"):
        for name, dash in (("alignment", "solid"), ("alignment_average", "dash")):
            values = np.exp(np.log(own[name].clip(min=1e-30)).mean("seed").values)
            draw.line(
                figure, np.arange(len(values)) + 1, values, f"{network}", color=color, dash=dash
            )
    return figure


def _pictures(dataset: Data) -> Figure:
    caption = (
        "The first directions of one network (above) and the magnitudes of their Fourier "
        "transforms (below, the constant in the middle): smooth patterns of low frequency."
    )
    judge.need(dataset, "picture", "spectrum")
    own = dataset.isel(network=0)
    own = own.isel(
        seed=int(np.flatnonzero(own.picture.notnull().any(("shown", "row", "column")).values)[0])
    )
    count = min(6, own.sizes["shown"])
    panels = [f"i = {i + 1}" for i in range(count)] + [""] * count
    figure = draw.axes("", "", panels=panels, columns=count, caption=caption, height=420)
    for i in range(count):
        for kind, panel, scale in (
            ("picture", i + 1, "RdBu"),
            ("spectrum", count + i + 1, "Viridis"),
        ):
            figure.add_heatmap(
                z=own[kind].isel(shown=i).values,
                colorscale=scale,
                showscale=False,
                **draw.place(figure, panel),
            )
    figure.update_xaxes(visible=False)
    figure.update_yaxes(visible=False)
    return figure


FIGURES = {
    "Accuracy along directions": _accuracy,
    "Predicted alignment": _alignment,
    "The first directions": _pictures,
}
