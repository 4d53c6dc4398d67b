"""Where a curve is half way between its lowest and its highest value, with an error bar."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike


@dataclass(frozen=True)
class HalfHeight:
    """Where a curve passes the middle of its range."""

    x: float  # NaN for a curve that does not pass from one side to the other
    error: float  # x times the spread of log x over bootstrap resamples; NaN where most have none


def half_height(
    x: ArrayLike, values: ArrayLike, *, resamples: int = 1000, seed: int = 0
) -> HalfHeight:
    """Where the mean curve, mapped to [0, 1], passes 1/2, after [Geiger 2020, fig. 3d].

    Between neighbours the curve is straight in log x. Noise may take it across several times; then
    the place is the middle of the first and the last in log x.

    Args:
        x: increasing positive abscissae (n,).
        values: curves (seeds, n), averaged over seeds.
        resamples: number of bootstrap resamples of the seeds.
        seed: of the bootstrap.

    >>> found = half_height([1.0, 10.0, 100.0], [[0.0, 0.5, 1.0], [0.0, 0.5, 1.0]])
    >>> round(found.x, 6), round(found.error, 6)
    (10.0, 0.0)
    """
    x, values = np.asarray(x, dtype=float), np.asarray(values, dtype=float)
    if x.ndim != 1 or values.ndim != 2 or values.shape[1:] != x.shape:
        raise ValueError(
            f"x must have shape (n,) and values (seeds, n), got {x.shape} and {values.shape}"
        )
    if not (x > 0).all() or not (np.diff(x) >= 0).all():
        raise ValueError("x must be positive and in increasing order")
    u = np.log(x)
    rows = np.random.default_rng(seed).integers(len(values), size=(resamples, len(values)))
    drawn = np.array([_place(u, values[row].mean(0)) for row in rows])
    known = drawn[np.isfinite(drawn)]
    spread = float(known.std()) if len(known) > resamples / 2 else math.nan
    place = math.exp(_place(u, values.mean(0)))
    return HalfHeight(place, place * spread)


def _place(u: np.ndarray, mean: np.ndarray) -> float:
    """The abscissa at which one curve passes the middle of its range, once or oddly often."""
    level = mean - (mean.min() + mean.max()) / 2
    left, right = level[:-1], level[1:]
    where = np.flatnonzero((left >= 0) != (right >= 0))
    if len(where) % 2 == 0:
        return math.nan
    found = u[where] + left[where] / (left[where] - right[where]) * np.diff(u)[where]
    return float((found[0] + found[-1]) / 2)
