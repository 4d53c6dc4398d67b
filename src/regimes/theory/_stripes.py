"""Labels that alternate along one axis, and their averages over one side of a threshold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor

from regimes._check import real

Array = np.ndarray[Any, np.dtype[np.float64]]

# Averages of the label this small are zero up to rounding, as for balanced or symmetric stripes.
_ROUNDING = 1e-14


@dataclass(frozen=True)
class StripeConstants:
    """Averages over the active side of an aligned neuron, its boundary at z."""

    c1: Tensor  # <y x_1 H(+-(x_1 - z))>
    cb: Tensor  # <y H(+-(x_1 - z))>
    c_perp: Tensor  # y(z)
    d_perp: Tensor  # <H(+-(x_1 - z))>


def stripe_constants(
    z: Tensor | float, sign_w: int, *, interfaces: Sequence[float], first_sign: int = 1
) -> StripeConstants:
    """`C_1`, `C_b`, `C_perp`, `D_perp` of an aligned neuron [Paccolat 2021, app. C.2].

    The neuron sees the side `sign_w (x_1 - z) > 0` of standard normal data whose label is
    `first_sign` below the first interface and changes sign at each one.

    Args:
        z: places of the boundary, any shape.
        sign_w: +1 or -1, the sign of w_1: the active side.
        interfaces: increasing values of x_1 where the label changes.
        first_sign: +1 or -1, the label below the first interface.

    Returns:
        The constants as float64 tensors of the shape of z.

    >>> found = stripe_constants(0.0, 1, interfaces=[-0.3, 1.18549])
    >>> round(float(found.c1), 4), round(float(found.cb), 4), float(found.c_perp)
    (-0.0038, -0.2642, -1.0)
    """
    stripes = Stripes.checked(interfaces, first_sign)
    side = check_sign("sign_w", sign_w)
    place = z.detach().cpu().double().numpy() if isinstance(z, Tensor) else np.asarray(z, float)
    if not np.isfinite(place).all():
        raise ValueError(f"z must be finite places of the boundary, got {z!r}")
    found = (
        stripes.c1(place, side),
        stripes.cb(place, side),
        stripes.label(place),
        stripes.d_perp(place, side),
    )
    return StripeConstants(*(torch.as_tensor(values) for values in found))


@dataclass(frozen=True)
class Stripes:
    """y(x_1) on N(0, 1): `first_sign` below the first of the edges, changing sign at each one.

    Averages use `y = y(-inf) + 2 sum_{c_k < x} s_k = y(inf) + 2 sum_{c_k > x} s_{k-1}` with s_k the
    label above edge k, from the end of the axis that loses no digits.
    """

    edges: Array  # (K,), increasing
    first_sign: int

    @classmethod
    def checked(cls, interfaces: Sequence[float], first_sign: int) -> Stripes:
        """The stripes, or a ValueError that says what is wrong with them."""
        edges = [real("interface", edge) for edge in interfaces]
        if not edges or any(low >= high for low, high in pairwise(edges)):
            raise ValueError(
                f"interfaces must be one or more increasing numbers, got {interfaces!r}"
            )
        return cls(np.array(edges), check_sign("first_sign", first_sign))

    @property
    def below(self) -> Array:
        """The label just below each edge, (K,)."""
        return np.where(np.arange(len(self.edges)) % 2 == 0, 1.0, -1.0) * self.first_sign

    @property
    def last_sign(self) -> int:
        """The label above the last edge."""
        return self.first_sign * (-1) ** len(self.edges)

    @property
    def mean(self) -> float:
        """`<y>`."""
        return _snap(self.last_sign + 2 * float(self.below @ normal_cdf(self.edges)))

    @property
    def mean_x(self) -> float:
        """`<x_1 y>`."""
        return _snap(-2 * float(self.below @ density(self.edges)))

    def label(self, x: Array) -> Array:
        """y(x); a point on an edge has the label below it."""
        return np.where(np.searchsorted(self.edges, x) % 2 == 0, 1.0, -1.0) * self.first_sign

    def c1(self, z: Array, side: int) -> Array:
        """`<y x H(side (x - z))>`."""
        above, rest = self._split(z)
        # primitive of x phi is -phi: from z up to infinity, or from -infinity up to z
        jumps = density(z)[..., None] - density(self.edges)
        upper = self.last_sign * density(z) + 2 * (above * jumps) @ self.below
        lower = -self.first_sign * density(z) + 2 * (rest * jumps) @ self.below
        return self._side(z, side, upper, lower, self.mean_x)

    def cb(self, z: Array, side: int) -> Array:
        """`<y H(side (x - z))>`."""
        above, rest = self._split(z)
        jumps = normal_cdf(self.edges) - normal_cdf(z)[..., None]
        upper = self.last_sign * normal_cdf(-z) + 2 * (above * jumps) @ self.below
        lower = self.first_sign * normal_cdf(z) + 2 * (rest * jumps) @ self.below
        return self._side(z, side, upper, lower, self.mean)

    def d_perp(self, z: Array, side: int) -> Array:
        """`<H(side (x - z))>`."""
        return normal_cdf(-side * z)

    def _split(self, z: Array) -> tuple[Array, Array]:
        above = (self.edges > z[..., None]).astype(float)
        return above, 1 - above

    def _side(self, z: Array, side: int, upper: Array, lower: Array, total: float) -> Array:
        # Far out on either end only one of the two sums keeps its relative precision.
        high = z >= self.edges[len(self.edges) // 2]
        if side > 0:
            return np.where(high, upper, total - lower)
        return np.where(high, total - upper, lower)


def check_sign(name: str, value: int) -> int:
    """+1 or -1, or a ValueError that names the argument."""
    if value not in (1, -1):
        raise ValueError(f"{name} must be +1 or -1, got {value!r}")
    return int(value)


def density(x: Array) -> Array:
    """The standard normal density."""
    return np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi)


def normal_cdf(x: Array) -> Array:
    """The standard normal cdf."""
    from scipy.special import ndtr

    return ndtr(x)


def _snap(average: float) -> float:
    return 0.0 if abs(average) < _ROUNDING else average
