"""A field turning in front of a steerable network; errors of rotations off the grid."""

from __future__ import annotations

from typing import Any

import numpy as np

from regimes.lab import Data, Figure, draw, judge
from regimes.studies.equivariance.steerable._turning import BLOCKS

_HEAD = 0.28  # of an arrow's length
_SHOWN = 0.08  # shortest arrow, over the longest


def _film(dataset: Data) -> Figure:
    """Arrows of the two ways around, over the scalars of the piece."""
    caption = (
        "A Tetris piece (grey) turns about the axis of sight; a steerable network of two layers "
        "with random weights makes vectors of it. Thick: the network on the turned piece. Thin: "
        "the vectors of the piece as it was, turned with the piece. They agree where the network "
        "commutes with rotations: at quarter turns to rounding, between them nearly."
    )
    at = judge.need(dataset, "film_turned_first", "film_turned_last", "film_scalars")
    at = at.dropna("seed", how="all", subset=["film_scalars"]).isel(seed=0)
    first = at.film_turned_first.transpose("frame", "xy", "x", "y").values
    last = at.film_turned_last.transpose("frame", "xy", "x", "y").values
    scalars = at.film_scalars.transpose("frame", "x", "y").values
    longest = float(np.hypot(*first[0]).max())
    frames = {}
    for k in range(len(first)):
        angle = f"{360 * k / len(first):g}°"
        frames[angle] = [
            _outline(scalars[k]), _arrows(first[k], longest), _arrows(last[k], longest)
        ]  # fmt: skip
    figure = draw.axes("x (voxels)", "y (voxels)", caption=caption, height=640)
    start = next(iter(frames.values()))
    styles: list[dict[str, Any]] = [
        {
            "name": "piece",
            "mode": "markers",
            "marker": {"color": "#9aa0a6", "size": 9, "opacity": 0.5},
        },
        {"name": "turned first", "mode": "lines", "line": {"color": draw.BLUE, "width": 5}},
        {"name": "turned last", "mode": "lines", "line": {"color": draw.ORANGE, "width": 1.6}},
    ]
    for (x, y), style in zip(start, styles, strict=True):
        figure.add_scatter(x=x, y=y, hoverinfo="skip", **style)
    middle = (first.shape[2] - 1) / 2
    figure.update_xaxes(range=[-middle - 1, middle + 1], constrain="domain")
    figure.update_yaxes(range=[-middle - 1, middle + 1], scaleanchor="x")
    return draw.film(figure, frames, [0, 1, 2], told="angle ")


def _outline(scalars: np.ndarray) -> tuple[list[float], list[float]]:
    """Voxels of the piece that are denser than a third of its densest."""
    middle = (len(scalars) - 1) / 2
    where = np.argwhere(scalars > scalars.max() / 3) - middle
    return where[:, 0].tolist(), where[:, 1].tolist()


def _arrows(vectors: np.ndarray, longest: float) -> tuple[list[Any], list[Any]]:
    """Lines of arrows with heads at every voxel where there is something."""
    middle = (vectors.shape[1] - 1) / 2
    x: list[Any] = []
    y: list[Any] = []
    for i, k in np.argwhere(np.hypot(*vectors) > _SHOWN * longest):
        u, v = 1.6 * vectors[:, i, k] / longest
        a, b = i - middle, k - middle
        for turn in (2.6, -2.6):  # the two sides of the head
            cos, sin = _HEAD * np.cos(turn), _HEAD * np.sin(turn)
            x += [a, a + u, a + u + cos * u - sin * v, None]
            y += [b, b + v, b + v + sin * u + cos * v, None]
    return x, y


def _errors(dataset: Data) -> Figure:
    caption = (
        "How far a steerable convolution is from commuting with a random rotation of a smooth "
        "field, with and without a limit on the angular frequencies of each shell. Points: draws."
    )
    at = judge.where_ran(dataset, "seed", "turning_error")
    found = at.turning_error.transpose("seed", "cutoff", "blocks").values
    figure = draw.axes("orders", "relative error", log="y", caption=caption)
    names = list(BLOCKS)
    for k, (name, color) in enumerate(
        zip(("default cut-off", "no cut-off"), draw.COLORS, strict=False)
    ):
        heights = [judge.mean_of(found[:, k, b]) for b in range(len(names))]
        draw.points(
            figure, names, [each.value for each in heights], name,
            error=[each.error for each in heights], color=color, size=9,
        )  # fmt: skip
        for b, block in enumerate(names):
            draw.points(
                figure, [block] * len(found), found[:, k, b], color=color, size=4, opacity=0.35
            )
    return figure


FIGURES = {"A field turns": _film, "Rotations off the grid": _errors}
