"""Figures of frozen kernels: the lazy limit, the learned kernel, its blocks."""

import numpy as np

from regimes.lab import Data, Figure, along, draw, judge, those_run
from regimes.studies.regimes._scans import scan
from regimes.studies.regimes.frozen_kernels._claims import one_width

NETWORK = {"color": draw.GREEN}
FINAL = {"color": draw.OCHRE, "dash": "dash"}
INITIAL = {"color": draw.ORANGE, "dash": "dot"}
GEOMETRIC = {"center": "geometric", "color": draw.BLUE}


def _limit(dataset: Data) -> Figure:
    caption = (
        "Left: how far the outputs of a trained network on test points are from those of the "
        "linear model with its initial tangent kernel, relative to their size. Right: which share "
        "of the weights' motion lies outside the span of the gradients of the training points at "
        "the start, the only directions a linear model can take. Both vanish as 1/(√h α) (grey): a "
        "large scale makes the network its kernel. Geometric means over seeds, bars are standard "
        "errors."
    )
    figure = draw.axes(
        "√h α",
        ("relative difference", "share of the weight change"),
        log="xy",
        panels=("test outputs: distance to the frozen kernel", "weights: motion outside the span"),
        caption=caption,
    )
    figure.update_xaxes(dtick=1).update_yaxes(dtick=1)
    shown = {"limit": (1, "limit_difference"), "span": (2, "tangent_residual")}
    for block in those_run(dataset, *shown):
        panel, name = shown[block]
        values = one_width(scan(dataset, block))[name]
        heights = draw.curve(figure, values, "scale", "measured", panel=panel, **GEOMETRIC)
        last = (values.scale.values[-1], 0.7 * heights[-1])
        draw.guide(figure, values.scale, -1.0, last, panel=panel)
    return figure


def _learned(dataset: Data) -> Figure:
    caption = (
        "Left: a network, and linear models with its tangent kernel frozen before and after "
        "training, all trained on the same points. The kernel after training does about as well as "
        "the network at every scale, so what was learnt is in it; the one before training agrees "
        "with it in the lazy regime only (right end). Where features are learnt (left end) the "
        "kernel grows by orders of magnitude and its entries come to tell the labels apart: mean "
        "entry between points of one label minus that between labels, of a kernel scaled to unit "
        "mean square."
    )
    table = one_width(scan(dataset, "learned"))
    figure = draw.axes(
        "√h α",
        ("%", "final norm / initial norm", "same minus other label"),
        log="x",
        panels=("test error", "size of the kernel", "contrast of its label blocks"),
        legend="below",
        caption=caption,
    )
    figure.update_xaxes(dtick=2)
    figure.update_yaxes(type="log", exponentformat="power", **draw.place(figure, 2))
    figure.update_yaxes(rangemode="tozero", **draw.place(figure, 3))
    _errors(figure, table, "scale", 1)
    draw.curve(figure, table.kernel_growth, "scale", panel=2, **GEOMETRIC)
    draw.level(figure, y=1.0, panel=2)
    draw.curve(figure, table.final_contrast, "scale", panel=3, **FINAL)
    draw.curve(figure, table.initial_contrast, "scale", panel=3, **INITIAL)
    return figure


def _widths(dataset: Data) -> Figure:
    caption = (
        "At a fixed output scale α = 1, where √h α grows with the width: test errors of networks "
        "and of their tangent kernels frozen before and after training. The kernel after training "
        "follows the network; the initial kernel errs differently, until the network is so wide "
        "that its kernel no longer moves. Mean over seeds, bars are standard errors."
    )
    titles = {"widths": "fully connected", "widths_cnn": "convolutional"}
    blocks = those_run(dataset, *titles)
    panels = [titles[block] for block in blocks]
    figure = draw.axes("width h", "test error (%)", log="x", panels=panels, caption=caption)
    for panel, block in enumerate(blocks, start=1):
        table = along(scan(dataset, block), "width")
        _errors(figure, table, "width", panel)
        marks = np.unique(table.width.values)
        texts = [f"{width:g}" for width in marks]
        figure.update_xaxes(tickvals=marks, ticktext=texts, **draw.place(figure, panel))
    return figure


def _pictures(dataset: Data) -> Figure:
    caption = (
        "The tangent kernel of one network between test points it never saw, sorted by label "
        "(black lines); every kernel is scaled to unit mean square. Before training and after lazy "
        "training the blocks are hardly seen. Where features are learnt, entries within a label "
        "grow and entries between labels shrink: the kernel has come to know the task."
    )
    block, *_ = those_run(dataset, "gram", "learned")
    table = along(judge.need(scan(dataset, block), "picture"), "scale")
    scales = table.scale.values
    chosen = sorted({0, int(np.abs(np.log(scales)).argmin()), len(scales) - 1})
    pictures = {"before training": table.picture.isel(scale=0, stage=0)}
    for i in chosen:
        pictures[f"after, √h α = {scales[i]:g}"] = table.picture.isel(scale=i, stage=1)
    labels = "test points: y = -1, +1"
    figure = draw.axes(labels, "", panels=list(pictures), caption=caption, height=380)
    figure.update_xaxes(showticklabels=False)
    figure.update_yaxes(showticklabels=False, autorange="reversed")
    border = float((table.positive.isel(scale=0) < 0.5).sum()) - 0.5
    for panel, picture in enumerate(pictures.values(), start=1):
        draw.heat_map(
            figure,
            picture,
            "column",
            "row",
            "K P/|K|",
            colors="RdBu_r",
            panel=panel,
            zmin=0.1,
            zmax=1.9,
            showscale=panel == len(pictures),
            hovertemplate="%{z:.2f}<extra></extra>",
        )
        draw.level(figure, x=border, y=border, color=draw.INK, dash="solid", width=1, panel=panel)
    return figure


FIGURES = {
    "The lazy limit": _limit,
    "Networks and their frozen kernels, against the scale": _learned,
    "Networks and their frozen kernels, against width": _widths,
    "Kernels by label": _pictures,
}


def _errors(figure: Figure, table: Data, over: str, panel: int) -> None:
    draw.curve(figure, 100 * table.network_error, over, "network", panel=panel, **NETWORK)
    final, initial = "frozen final kernel", "frozen initial kernel"
    draw.curve(figure, 100 * table.final_error, over, final, panel=panel, **FINAL)
    draw.curve(figure, 100 * table.initial_error, over, initial, panel=panel, **INITIAL)
