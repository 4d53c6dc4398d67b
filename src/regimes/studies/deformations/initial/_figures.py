"""R_f before training, for every network and kind of images."""

from __future__ import annotations

from regimes.lab import Data, Figure, draw, judge
from regimes.studies.deformations._networks import LABELS


def _start(dataset: Data) -> Figure:
    caption = (
        "Relative stability R_f of networks that have learned nothing, against the roughness of "
        "the deformations (cut-off c): all answer to a deformation of about a pixel as they do to "
        "noise of the same size. Solid the first kind of images, dashed the second. Geometric "
        "means over networks with standard errors."
    )
    figure = draw.axes("cut-off c", "R_f", log="xy", caption=caption)
    for network, color in zip(judge.need(dataset, "R").network.values, draw.COLORS, strict=False):
        for images, dash in zip(dataset.images.values, draw.DASHES, strict=False):
            try:
                at = judge.where_ran(dataset, "seed", "R", images=images, network=network)
            except judge.Missing:
                continue
            name = f"{LABELS[str(network)]}, {images}"
            draw.curve(figure, at.R, "c", name, color=color, dash=dash, center="geometric")
    draw.level(figure, y=1.0)
    return figure


FIGURES = {"Relative stability before training": _start}
