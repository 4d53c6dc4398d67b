"""Alignment before and after, and losses of linear models with either kernel."""

from __future__ import annotations

import numpy as np

from regimes.lab import Data, Figure, draw, judge
from regimes.studies.linearization._judging import ran_indices, settings

COLORS = {"initial": draw.ORANGE, "trained": draw.GREEN, "matched": draw.VIOLET}


def _spikes(dataset: Data) -> Figure:
    caption = (
        "Alignment of the eigenfunctions of the start with the kernel at the start (grey) and "
        "after training on the sign of the one that is marked: geometric means over seeds. The "
        "kernel gains everywhere, and most of all beside its neighbours at the target."
    )
    where, own = next(settings(dataset, "alignment_after"))
    indices = ran_indices(own, 1, 10**6)
    if not indices:
        raise judge.Missing("no eigenfunction was a target")
    panels = [f"{where}, j = {j + 1}" for j in indices]
    figure = draw.axes(
        "j, counted from 1", "alignment", panels=panels, log="xy", shared="y", caption=caption
    )
    places = own.mode.values[1:] + 1
    for panel, j in enumerate(indices, 1):
        for name, values, color in (
            ("start", own.alignment_before, draw.SOFT),
            ("end", own.alignment_after.sel(index=j), draw.BLUE),
        ):
            means = np.exp(np.log(values).mean("seed").values[1:])
            draw.line(figure, places, means, name, color=color, panel=panel)
        draw.level(figure, x=j + 1, color=draw.RED, panel=panel)
    return figure


def _losses(dataset: Data) -> Figure:
    caption = (
        "Training loss after each epoch of the network (blue) and of linear models with the "
        "kernel of the start (orange), of the trained network (green), and the latter divided by "
        "the ratio of traces (violet); geometric means over seeds. Most of the speed of the "
        "trained kernel is its size."
    )
    where, own = next(settings(dataset, "course"))
    indices = [int(j) for j in own.index.values]
    told = ["labels" if j < 0 else f"j = {j + 1}" for j in indices]
    figure = draw.axes(
        "epoch", f"training loss, {where}", panels=told, log="y", shared="y", caption=caption
    )
    for panel, j in enumerate(indices, 1):
        here = own.sel(index=j)
        epochs = np.arange(own.sizes["each_epoch"])
        curves = {model: (here.course.sel(model=model), COLORS[model]) for model in COLORS}
        for name, (values, color) in {
            "network": (here.course_network, draw.BLUE),
            **curves,
        }.items():
            means = np.exp(np.log(values.clip(min=1e-12)).mean("seed").values)
            draw.line(figure, epochs, means, name, color=color, panel=panel)
    return figure


def _accuracies(dataset: Data) -> Figure:
    caption = (
        "Test accuracy after training, mean over seeds with standard errors. The trained kernel "
        "is better than that of the start on the images' own labels, and worse on eigenfunctions."
    )
    where, own = next(settings(dataset, "accuracy"))
    told = ["labels" if j < 0 else f"j = {int(j) + 1}" for j in own.index.values]
    figure = draw.axes(where, "test accuracy (%)", caption=caption)
    models = {"network": (own.accuracy_network, draw.BLUE)}
    models |= {f"{m} kernel": (own.accuracy.sel(model=m), color) for m, color in COLORS.items()}
    for name, (values, color) in models.items():
        table = 100 * values.transpose("seed", "index").values
        error = judge.standard_error(table)
        draw.bars(figure, told, table.mean(0), name, error=error, color=color)
    return figure


FIGURES = {
    "Alignment of eigenfunctions": _spikes,
    "Losses with either kernel": _losses,
    "Accuracy with either kernel": _accuracies,
}
