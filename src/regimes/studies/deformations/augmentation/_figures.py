"""R_f by augmentation and roughness of the probe."""

from __future__ import annotations

from regimes.lab import Data, Figure, draw, judge
from regimes.studies.deformations._runs import END

_NAMES = {"none": "plain images", "shift": "shifted", "deformation": "deformed"}


def _stability(dataset: Data) -> Figure:
    caption = (
        "Relative stability R_f of a small ResNet that was trained on images as they are, on "
        "images shifted at random, and on randomly deformed ones, against the roughness of the "
        "deformations that probe it (cut-off c). Geometric means over networks with standard "
        "errors."
    )
    figure = draw.axes("cut-off c", "R_f", log="xy", caption=caption)
    for name, color in zip(judge.need(dataset, "R_c").augment.values, draw.COLORS, strict=False):
        try:
            at = judge.where_ran(dataset, "seed", "R_c", augment=name)
        except judge.Missing:
            continue
        values = at.R_c.isel(when=END)
        draw.curve(figure, values, "c", _NAMES[str(name)], color=color, center="geometric")
    draw.level(figure, y=1.0)
    return figure


FIGURES = {"Augmentation and relative stability": _stability}
