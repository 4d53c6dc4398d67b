"""How many directions networks have."""

from __future__ import annotations

import numpy as np

from regimes.lab import Data, Figure, draw, ran


def _directions(dataset: Data) -> Figure:
    own = ran(dataset, "directions")
    caption = (
        "Directions in which relu networks can change their function near the training points, "
        "against their parameters less one for each hidden neuron (dashed: equal). A neuron that "
        "is on, or off, at all points takes a few more away."
    )
    figure = draw.axes("parameters less hidden neurons", "directions N_eff", caption=caption)
    expected = (own.total - own.hidden).values
    x = np.repeat(expected[:, None], own.sizes["trained"], 1)
    draw.cloud(figure, x.ravel(), own["count"].values.ravel(), "trained", color=draw.COLORS[0])
    draw.cloud(
        figure, x.ravel(), own.start_count.values.ravel(), "at the start", color=draw.COLORS[1]
    )
    draw.guide(figure, expected, 1.0, (float(expected[0]), float(expected[0])))
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
    count, draws = own.sizes["start"], own.sizes["draw"]
    x = np.repeat(np.arange(count) + 1, draws)
    for name, key, color in (
        ("all points alike", "odd", draw.COLORS[0]),
        ("slopes of the hinge", "weighed_odd", draw.COLORS[1]),
    ):
        values = own[key].transpose("start", "power", "draw").isel(power=0).values
        draw.cloud(figure, x, values.ravel(), name, color=color)
    draw.level(figure, y=0.0)
    return figure


FIGURES = {"Directions of a network": _directions, "Odd moments over labels": _odd}
