"""How many directions networks have."""

from __future__ import annotations

import numpy as np

from regimes.lab import Data, Figure, draw, ran


def _directions(dataset: Data) -> Figure:
    own = ran(dataset, "directions")
    caption = (
        "Directions in which relu networks can change their function near the training points, "
        "over their parameters less one for each hidden neuron (dashed: equal), of three networks "
        "of each shape. A neuron that is on, or off, at all points takes a few more away."
    )
    figure = draw.axes("parameters less hidden neurons", "share of directions", caption=caption)
    own = own.isel(network=np.argsort((own.total - own.hidden).values))
    expected = (own.total - own.hidden).values
    for name, key, color in (
        ("trained", "count", draw.COLORS[0]),
        ("at the start", "start_count", draw.COLORS[1]),
    ):
        counts = own[key].transpose("trained", "network").values
        draw.cloud(figure, expected, counts / expected, name, color=color)
    draw.level(figure, y=1.0)
    return figure


def _odd(dataset: Data) -> Figure:
    own = ran(dataset, "signs")
    caption = (
        "Third moment of the spectrum of Hp, tr Hp^3 / tr |Hp|^3, of networks at their start (one "
        "column each) for many draws of the labels. It is of either sign and zero on average where "
        "all points weigh alike; with the slopes of the hinge, which hold the output itself, it is "
        "not."
    )
    figure = draw.axes("network", "tr Hp^3 / tr |Hp|^3", caption=caption)
    networks = np.arange(own.sizes["start"]) + 1
    for name, key, color in (
        ("all points alike", "odd", draw.COLORS[0]),
        ("slopes of the hinge", "weighed_odd", draw.COLORS[1]),
    ):
        values = own[key].isel(power=0).transpose("draw", "start").values
        draw.cloud(figure, networks, values, name, color=color)
    draw.level(figure, y=0.0)
    return figure


FIGURES = {"Directions of a network": _directions, "Odd moments over labels": _odd}
