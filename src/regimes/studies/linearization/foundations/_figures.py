"""How near linear models are, and what Grams cost."""

from __future__ import annotations

import numpy as np

from regimes.lab import Data, Figure, draw, ran


def _expansion(dataset: Data) -> Figure:
    caption = (
        "Distance between a network and its linear model after a move of the parameters, relative "
        "to their norm: it falls as the square of the move."
    )
    data = ran(dataset, "identities")
    figure = draw.axes("length of the move", "distance of the outputs", log="xy", caption=caption)
    means = np.exp(np.log(data.expansion_error).mean("identity_seed"))
    for k, name in enumerate(("MLP", "LeNet", "ResNet")):
        draw.line(figure, data.lengths.values, means[k].values, name, color=draw.COLORS[k])
    draw.guide(figure, data.lengths.values, 2.0, (float(data.lengths[0]), float(means[0, 0])))
    return figure


def _width(dataset: Data) -> Figure:
    caption = (
        "Distance of the outputs of network and linearisation after the same hundred steps, over "
        "what the network has learned: every seed and the mean. Wider is nearer."
    )
    data = ran(dataset, "width")
    figure = draw.axes("width", "|f - f_lin| / |f - f_0|", log="xy", caption=caption)
    draw.cloud(figure, data.widths.values, data.width_gap.values, "networks", color=draw.BLUE)
    return figure


def _later(dataset: Data) -> Figure:
    caption = (
        "The same on test points for networks that were linearised after some steps of training: "
        "the later, the nearer."
    )
    data = ran(dataset, "later")
    figure = draw.axes("steps before + 1", "|f - f_lin| / |f - f_anchor|", log="x", caption=caption)
    draw.cloud(
        figure, data.steps_before.values + 1, data.later_gap.values, "networks", color=draw.BLUE
    )
    return figure


def _cost(dataset: Data) -> Figure:
    caption = (
        "CPU time of Grams of one network, every one and the mean, against the number of images; "
        "the thin line is its square."
    )
    data = ran(dataset, "cost")
    figure = draw.axes("images", "seconds", log="xy", caption=caption)
    draw.cloud(figure, data.cost_points.values, data.cost_seconds.values, "Gram", color=draw.BLUE)
    first = float(data.cost_seconds[:, 0].mean())
    draw.guide(figure, data.cost_points.values, 2.0, (float(data.cost_points[0]), first))
    return figure


FIGURES = {
    "First order": _expansion,
    "Width": _width,
    "Linearised later": _later,
    "Cost of a Gram": _cost,
}
