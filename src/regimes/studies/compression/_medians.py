"""Medians over seeds against the number of points: when they are judged, how they are drawn."""

from typing import Any

import numpy as np

from regimes.lab import Data, Figure, Values, draw
from regimes.lab.judge import Missing

POINTS = "training points p"
_FINISHED = 2  # in `trial_state` of `lab.collect`; what failed or has not run yet is below


def unfinished(dataset: Data) -> int:
    """Trials of the scan that failed or have not run yet."""
    if "trial_state" not in dataset:
        raise Missing("no trial has run")
    return int((dataset.trial_state < _FINISHED).sum())


def need_whole(dataset: Data) -> None:
    """Medians move while seeds and sizes come in, so nothing is decided before the last trial."""
    if left := unfinished(dataset):
        raise Missing(f"{left} trials missing")


def axes(y: str, *, caption: str, ticks: Any, x: str = POINTS) -> Figure:
    """Both axes logarithmic, ticks at the sizes that were run."""
    figure = draw.axes(x, y, log="xy", ticks=ticks, caption=caption)
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
    **options: Any,
) -> None:
    """A line of medians over seeds with bars over the middle half, and the slope predicted for it.

    The grey guide hangs below the last point, because exponents are those of the limit of large p:
    `below` says at what share of it, `told` how it is named. Options are those of `draw.curve`.
    """
    middle = draw.curve(figure, data, over, name, center="median", **options)
    seen = np.isfinite(middle)
    if slope is not None and seen.any():
        x = data[over].values[seen].astype(float)
        through = (x[-1], below * middle[seen][-1])
        draw.guide(figure, x, slope, through, told or f"slope {slope:.3f}")
