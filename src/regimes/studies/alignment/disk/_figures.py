"""Numbers of the kernel while a disk is learned."""

from __future__ import annotations

import numpy as np

from regimes.lab import Data, Figure, draw, judge


def _drawn(dataset: Data, name: str, title: str, caption: str, log: str = "x") -> Figure:
    figure = draw.axes("steps", title, log=log, caption=caption)
    for rate, color, at in draw.each(judge.need(dataset, name), "rate"):
        at = at.dropna("seed", how="all", subset=[name])
        if at.sizes["seed"]:
            x = np.maximum(at.steps.isel(seed=0).values.astype(float), 5)
            draw.curve(figure, at[name], "point", f"rate {rate:g}", x=x, color=color)
    return figure


def _ratio(dataset: Data) -> Figure:
    caption = (
        "Twentieth over first eigenvalue of the centred kernel on a grid while a network learns "
        "which points lie on a disk (start at step 5, means over seeds): the spectrum sharpens."
    )
    return _drawn(dataset, "ratio", "eigenvalue 20 / eigenvalue 1", caption, "xy")


def _alignment(dataset: Data) -> Figure:
    caption = (
        "Alignment of the centred kernel on the grid with the labels of the grid. At a large rate "
        "the kernel turns to the labels, and away from them again once they are learned."
    )
    return _drawn(dataset, "alignment", "alignment with the labels", caption)


def _overlap(dataset: Data) -> Figure:
    caption = (
        "The largest share that one of the five top eigenfunctions has of the label, the disk "
        "itself: 1 would be an eigenfunction that is the disk."
    )
    return _drawn(dataset, "overlap", "share of the label", caption)


FIGURES = {
    "Spectrum": _ratio,
    "Alignment with the disk": _alignment,
    "The disk among the modes": _overlap,
}
