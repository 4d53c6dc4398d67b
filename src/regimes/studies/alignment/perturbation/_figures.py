"""Responses along directions."""

from __future__ import annotations

import numpy as np

from regimes.lab import Data, Figure, draw, judge


def _responses(dataset: Data) -> Figure:
    at = judge.where_ran(dataset, "seed", "rate_0.001")
    top = int(at.directions.values[0])
    caption = (
        "How far the outputs on test points move per length of a step in parameter space, along "
        f"the {top} top right singular vectors of the tangent features and then along random "
        "directions; medians over seeds with bars over the middle half, for a tiny and a visible "
        "step. The line is the linear prediction, for the top ones the singular value."
    )
    figure = draw.axes("direction", "change of f / length of the step", log="y", caption=caption)
    x = np.arange(1, at.sizes["direction"] + 1)
    for name, color in zip(("rate_0.001", "rate_0.1"), draw.COLORS, strict=False):
        if name in at:
            label = f"step of {name.removeprefix('rate_')}"
            draw.curve(
                figure,
                at[name],
                "direction",
                label,
                x=x,
                center="median",
                mode="markers",
                color=color,
            )
    draw.line(figure, x, at.linear.median("seed").values, "linear", color=draw.INK)
    draw.level(figure, x=top + 0.5)
    return figure


FIGURES = {"Response along directions": _responses}
