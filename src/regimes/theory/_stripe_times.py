"""Times of the stripe model."""

from __future__ import annotations

import math
from collections.abc import Iterable

from regimes._check import positive_int
from regimes.theory._fixed_points import FixedPoint


def stripe_tau(h: int, d: int) -> float:
    """`tau = h sqrt(d/2)`, the time in which neurons move at width h [Paccolat 2021, eq. 5].

    >>> stripe_tau(100, 2)
    100.0
    """
    return positive_int("h", h) * math.sqrt(positive_int("d", d) / 2)


def dominant(points: Iterable[FixedPoint]) -> FixedPoint:
    """The attractor whose neurons grow fastest and so rule the function at small alpha.

    >>> from regimes.theory import stripe_fixed_points
    >>> point = dominant(stripe_fixed_points(-0.3, 1.18549, d=5))
    >>> point.sign_w, round(point.z, 4), round(point.rate, 4)
    (-1, 0.5705, 0.4373)
    """
    attractors = [point for point in points if point.attractor]
    if not attractors:
        raise ValueError("no attractor among the fixed points given")
    return max(attractors, key=lambda point: point.rate)


def fitting_slope(points: Iterable[FixedPoint]) -> float:
    """`dt*/d ln(1/alpha) = tau*_min/2` in units of tau for small alpha.

    See docs/themes/compression.md, "Times". Weights grow as `exp(t/tau*)`, the function as their
    square.

    >>> from regimes.theory import stripe_fixed_points
    >>> round(fitting_slope(stripe_fixed_points(-0.3, 1.18549, d=5)), 3)
    1.143
    """
    return 1 / (2 * dominant(points).rate)
