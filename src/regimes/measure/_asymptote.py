"""A curve that approaches a limit as a power of its abscissa."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike


@dataclass(frozen=True)
class Asymptote:
    """Least-squares fit of `y = limit + size x^power`."""

    limit: float
    size: float
    r2: float  # share of the variance explained; NaN for a constant


def asymptote(x: ArrayLike, y: ArrayLike, power: float = -0.5) -> Asymptote:
    """Fit of `y = limit + size x^power` with a given power, as in [Geiger 2021b, eq. 9.6].

    With the power -1/2 and x the number of parameters, it is the error of a network that
    fluctuates, and its limit.

    Args:
        x: positive abscissae (n,), two different ones at least.
        y: values (n,).
        power: the exponent.

    >>> n = np.array([100.0, 400.0, 1600.0])
    >>> fit = asymptote(n, 0.1 + 2 / np.sqrt(n))
    >>> round(fit.limit, 6), round(fit.size, 6), round(fit.r2, 6)
    (0.1, 2.0, 1.0)
    """
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    if x.ndim != 1 or y.shape != x.shape or not (x > 0).all() or len(np.unique(x)) < 2:
        raise ValueError(
            "x must be positive of shape (n,) with two different values and y of the same shape, "
            f"got {x} and {y}"
        )
    u = x**power
    size, limit = np.polyfit(u, y, 1)
    residual, total = np.sum((y - limit - size * u) ** 2), np.sum((y - y.mean()) ** 2)
    return Asymptote(float(limit), float(size), float(1 - residual / total) if total else np.nan)
