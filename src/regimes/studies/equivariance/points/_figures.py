"""Errors of forces, and the input that a broken symmetry asks for."""

from __future__ import annotations

import numpy as np

from regimes.lab import Data, Figure, draw, judge
from regimes.studies.equivariance.points._forces import KINDS

_NAMES = {"direct": "vectors of the network", "energy": "slope of an energy", "mlp": "coordinates"}
_COMPONENTS = ("l=0", *(f"l=1, {c}" for c in "xyz"), *(f"l=2, {m}" for m in range(-2, 3)))


def _forces(dataset: Data) -> Figure:
    caption = (
        "Mean absolute error of forces over their mean size against the number of training "
        "clusters; dashed: clusters turned at random, which a network of coordinates does not know."
    )
    figure = draw.axes("training clusters", "relative error", log="xy", caption=caption)
    at = judge.where_ran(dataset, "seed", "force_error", task="forces")
    found = at.force_error.transpose("seed", "kind", "samples", "turned")
    for k, (kind, color) in enumerate(zip(KINDS, draw.COLORS, strict=False)):
        for turned, dash in ((0, "solid"), (1, "dash")):
            name = _NAMES[kind] + (", turned" if turned else "")
            part = found.isel(kind=k, turned=turned)
            draw.curve(
                figure, part, "samples", name, x=np.ravel(at.samples.values), color=color,
                dash=dash, center="geometric",
            )  # fmt: skip
    return figure


def _order(dataset: Data) -> Figure:
    caption = (
        "The learned input that turns a square into a rectangle, every seed. It starts at (1, 0, "
        "...); only the components that tell the two sides of the rectangle apart move."
    )
    figure = draw.axes("component", "value", caption=caption)
    at = judge.where_ran(dataset, "seed", "order_parameter", task="breaking")
    order = at.order_parameter.transpose("seed", "component").values
    for row, color in zip(order, draw.COLORS, strict=False):
        draw.points(figure, list(_COMPONENTS), row, color=color, size=8)
    draw.level(figure, y=0.0)
    return figure


FIGURES = {"Forces": _forces, "What breaks the symmetry": _order}
