"""How closely identities and bounds hold."""

from __future__ import annotations

import numpy as np

from regimes.lab import Data, Figure, draw, ran


def _steps(dataset: Data) -> Figure:
    at = ran(dataset, "step")
    caption = (
        "What a step of gradient descent does to the outputs beyond its linear approximation, for "
        "random networks: it shrinks as the square of the learning rate (dashed). The linear part "
        "splits into modes of the tangent kernel exactly."
    )
    figure = draw.axes("learning rate", "rest of the step", log="xy", caption=caption)
    rest, etas = at.remainder.transpose("problem", "eta").values, at.etas.values
    draw.cloud(figure, etas, rest, "random networks", color=draw.COLORS[0])
    draw.guide(figure, etas, 2.0, (float(etas[0]), float(rest.mean(0)[0])))
    return figure


def _bounds(dataset: Data) -> Figure:
    caption = (
        "Rademacher complexity of random classes, as a share of its bound: of linear classes and "
        "of learning flows it lies between 0.707 and 1 (dotted), of the margin loss with several "
        "classes anywhere below 1, as its bound drops the maximum over classes."
    )
    linear, flow, classes = (ran(dataset, block) for block in ("linear", "flow", "classes"))
    shares = {
        "linear class": linear.linear_ratio.values,
        "learning flow": flow.flow_ratio.values,
        "margin loss": (classes.margin_complexity / classes.bound_by_class).values,
    }
    figure = draw.axes("random problem", "complexity / bound", caption=caption)
    for (name, values), color in zip(shares.items(), draw.COLORS, strict=False):
        draw.points(figure, np.arange(len(values)) + 1, values, name, color=color)
    for height in (2**-0.5, 1.0):
        draw.level(figure, y=height)
    return figure


FIGURES = {"What a step leaves over": _steps, "Complexity and bound": _bounds}
