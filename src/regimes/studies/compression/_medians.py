"""Medians over seeds against the number of points: when they are judged, how they are drawn."""

from typing import Any

import numpy as np

from regimes.lab import Data, Figure, Values, draw, judge, unfinished

POINTS = "training points p"


def need_whole(dataset: Data) -> None:
    """Medians move while seeds and sizes come in, so nothing is decided before the last trial."""
    if left := unfinished(dataset):
        raise judge.Missing(f"{left} trials missing")


def axes(y: str, *, x: str = POINTS, **options: Any) -> Figure:
    """Both axes logarithmic; options are those of `draw.axes`, `ticks` the sizes that were run."""
    figure = draw.axes(x, y, log="xy", **options)
    return figure.update_yaxes(dtick="D2")


def curve(
    figure: Figure,
    data: Values,
    name: str,
    *,
    over: str = "n_train",
    slope: float | None = None,
    told: str = "",
    below: float = 0.75,
    panel: int = 1,
    **options: Any,
) -> None:
    """A line of medians over seeds with bars over the middle half, and the slope predicted for it.

    The grey guide hangs below the last point, because exponents are those of the limit of large p:
    `below` says at what share of it, `told` how it is named. Options are those of `draw.curve`.
    """
    middle = draw.curve(figure, data, over, name, center="median", panel=panel, **options)
    seen = np.isfinite(middle)
    if slope is not None and seen.any():
        x = data[over].values[seen].astype(float)
        through = (x[-1], below * middle[seen][-1])
        draw.guide(figure, x, slope, through, told or f"slope {slope:.3f}", panel=panel)
