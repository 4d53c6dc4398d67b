"""Where aligned neurons settle on a stripe model, and which places attract them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from regimes._check import positive_int, real
from regimes.theory._stripes import Stripes

# Beyond this many standard deviations the density is zero in double precision.
_FARTHEST = 1e100  # of an interface, so that squares do not overflow
_FAR = 38.0


@dataclass(frozen=True)
class FixedPoint:
    """A place z on the informative axis where the boundary of an aligned neuron rests."""

    z: float  # -sqrt(d) b/w_1
    sign_w: int  # of w_1
    sign_beta: int  # of the output weight once it grows; 0 where c1 vanishes
    rate: float  # tau/tau*, growth rate of the weights in units of 1/tau
    perpendicular_rate: float  # tau/tau_perp*, of w_perp before sampling noise matters
    stable: bool  # a boundary near z moves towards it
    compresses: bool  # w_perp falls behind w_1
    c1: float  # <y x_1> over the active side
    label: int  # y(z)
    d_perp: float  # share of the data on the active side
    d: int

    @property
    def attractor(self) -> bool:
        """Neurons are drawn to it and compress the uninformative directions there."""
        return self.stable and self.compresses

    @property
    def saturation(self) -> float:
        """`C_1 - sign(w_1) y(z) phi(z)`: w_i/w_1 ends at the noise S_i divided by it."""
        return self.c1 - self.sign_w * self.label * _density(self.z)


def stripe_fixed_points(x_min: float, x_max: float, d: int) -> list[FixedPoint]:
    """Fixed points of the single stripe `y = -1 for x_min < x_1 < x_max`, else +1.

    See `fixed_points`.

    >>> for point in stripe_fixed_points(-0.3, 1.18549, d=2):
    ...     if point.attractor:
    ...         print(f"{point.sign_w:+d} {point.sign_beta:+d} {point.z:.4f} {point.rate:.4f}")
    +1 -1 -1.2262 0.2376
    +1 +1 0.6466 0.0786
    -1 +1 0.4500 0.4221
    """
    low, high = real("x_min", x_min), real("x_max", x_max)
    if low >= high:
        raise ValueError(f"the stripe must have x_min < x_max, got {low} and {high}")
    return fixed_points((low, high), 1, d)


def fixed_points(interfaces: Sequence[float], first_sign: int, d: int) -> list[FixedPoint]:
    """Every fixed point of the boundary of an aligned neuron.

    See docs/themes/compression.md, "Fixed points", also for two misprints of the paper.

    As `lambda -> +-inf` the boundary moves as `tau z' = -(beta/w_1) B(z)`,
    `B = d C_b + z C_1`. All roots of B for both signs of w_1 are returned, those of positive w_1
    first, then by z. Since `B'' = y phi z (d + z^2 - 3)` between interfaces, B is monotone between
    known places and its turning points, and no root can be missed; one where B touches zero without
    crossing it is not reported.

    Args:
        interfaces: increasing values of x_1 where the label changes.
        first_sign: +1 or -1, the label below the first interface.
        d: input dimension, at least 2.

    >>> [(point.sign_w, round(point.z, 4)) for point in fixed_points([0.0], -1, 5)]
    [(1, -1.1209), (-1, 1.1209)]
    """
    d = positive_int("d", d, least=2)
    stripes = Stripes.checked(interfaces, first_sign)
    if float(np.abs(stripes.edges).max()) > _FARTHEST:
        raise ValueError(f"interfaces must be within +-{_FARTHEST:g}, got {stripes.edges.tolist()}")
    return [_describe(stripes, d, side, z) for side in (1, -1) for z in _roots(stripes, d, side)]


def _describe(stripes: Stripes, d: int, side: int, z: float) -> FixedPoint:
    c1 = float(stripes.c1(np.array(z), side))
    label = int(stripes.label(np.array(z)))
    slope = _slope(stripes, d, side, label)(z)
    direction = int(np.sign(c1))
    stretch = math.sqrt(1 + z**2 / d)
    return FixedPoint(
        z=z,
        sign_w=side,
        sign_beta=side * direction,
        rate=abs(c1) * stretch,
        perpendicular_rate=direction * side * label * stretch * _density(z),
        stable=direction * slope > 0,
        compresses=side * c1 * label < 0 or abs(c1) > _density(z),
        c1=c1,
        label=label,
        d_perp=float(stripes.d_perp(np.array(z), side)),
        d=d,
    )


def _roots(stripes: Stripes, d: int, side: int) -> list[float]:
    from scipy.optimize import brentq

    height = _height(stripes, d, side)
    knots = _knots(stripes, d, side)
    values = [height(knot) for knot in knots]
    roots = [knot for knot, value in zip(knots, values, strict=True) if value == 0]
    for (low, high), (left, right) in zip(pairwise(knots), pairwise(values), strict=True):
        if left * right < 0:
            roots.append(brentq(height, low, high, xtol=1e-14, rtol=1e-14))
    return sorted(roots)


def _knots(stripes: Stripes, d: int, side: int) -> list[float]:
    """Increasing places between which B is monotone, around every root."""
    from scipy.optimize import brentq

    first, last = float(stripes.edges[0]), float(stripes.edges[-1])
    # With all interfaces on the passive side B = +-(d Q + |z| phi) has no root. With all of them on
    # the active side it tends to d<y> + z<xy>, whose root may lie far out; where both averages
    # vanish it dies out like the density and keeps its sign, so stop while it is representable.
    outermost = max(abs(first), abs(last)) + 1
    reach = max(_FAR, outermost) if stripes.mean or stripes.mean_x else max(_FAR - 8, outermost)
    if stripes.mean_x:
        reach += 2 * d * abs(stripes.mean / stripes.mean_x)
    low, high = (-reach, last) if side > 0 else (first, reach)
    turns = [0.0] + ([math.sqrt(3 - d), -math.sqrt(3 - d)] if d < 3 else [])
    places = sorted({low, high, *(p for p in (*stripes.edges.tolist(), *turns) if low < p < high)})
    knots = [low]
    for left, right in pairwise(places):
        slope = _slope(stripes, d, side, int(stripes.label(np.array((left + right) / 2))))
        if slope(left) * slope(right) < 0:
            knots.append(brentq(slope, left, right, xtol=1e-14, rtol=1e-14))
        knots.append(right)
    return knots


def _height(stripes: Stripes, d: int, side: int) -> Callable[[float], float]:
    """B(z) = d C_b + z C_1."""

    def value(z: float) -> float:
        place = np.array(z)
        return float(d * stripes.cb(place, side) + z * stripes.c1(place, side))

    return value


def _slope(stripes: Stripes, d: int, side: int, label: int) -> Callable[[float], float]:
    """B'(z) = C_1 - side (d + z^2) y phi(z), continued from the interval of this label."""

    def value(z: float) -> float:
        tail = side * (d + z**2) * label * _density(z)
        return float(stripes.c1(np.array(z), side)) - tail

    return value


def _density(z: float) -> float:
    return math.exp(-(z**2) / 2) / math.sqrt(2 * math.pi)
