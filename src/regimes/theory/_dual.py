"""What one infinitely wide layer does to a covariance, for each activation."""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable

import torch
from torch import Tensor

from regimes._check import nearest_first, real
from regimes.theory._hermite import Function, HermiteSeries


class Dual(ABC):
    """Second moments of a normalised activation, `E s(g)^2 = 1` for a standard Gaussian g."""

    unresolved: float = 0.0  # estimated relative error; 0 for closed forms

    @abstractmethod
    def second_moment(self, q: Tensor) -> Tensor:
        """`E s(u)^2` for u of variance q (n,)."""

    @abstractmethod
    def pair(self, q1: Tensor, q2: Tensor, rho: Tensor) -> tuple[Tensor, Tensor]:
        """`E[s(u) s(v)]` and `E[s'(u) s'(v)]`, (n, m), at variances (n,), (m,), correlation rho."""


class Relu(Dual):
    """`s(u) = sqrt(2) max(0, u)`: arc-cosine kernels (docs/themes/regimes.md, "Tangent kernel")."""

    def second_moment(self, q: Tensor) -> Tensor:
        """`E s(u)^2 = q`."""
        return q

    def pair(self, q1: Tensor, q2: Tensor, rho: Tensor) -> tuple[Tensor, Tensor]:
        """`sqrt(q1 q2) k1(rho)` and `k0(rho)`."""
        angle = torch.acos(rho)
        slope = (math.pi - angle) / math.pi
        height = torch.sqrt((1 - rho**2).clamp(min=0)) / math.pi + rho * slope
        return torch.outer(q1.sqrt(), q2.sqrt()) * height, slope


class Erf(Dual):
    """`s(u) = erf(u)/sqrt((2/pi) asin(2/3))`."""

    _scale = 1 / (2 / math.pi * math.asin(2 / 3))

    def second_moment(self, q: Tensor) -> Tensor:
        """`~ (2/pi) asin(2q/(1+2q))`."""
        return self._scale * 2 / math.pi * torch.asin(2 * q / (1 + 2 * q))

    def pair(self, q1: Tensor, q2: Tensor, rho: Tensor) -> tuple[Tensor, Tensor]:
        """`~ (2/pi) asin(2c/D)` and `~ (4/pi)/sqrt(D^2 - 4c^2)`, `D^2 = (1+2q1)(1+2q2)`."""
        twice = 2 * torch.outer(q1.sqrt(), q2.sqrt()) * rho
        size = torch.outer(1 + 2 * q1, 1 + 2 * q2)
        value = torch.asin(twice / size.sqrt()) * (2 / math.pi)
        slope = (4 / math.pi) / torch.sqrt(size - twice**2)
        return self._scale * value, self._scale * slope


class Linear(Dual):
    """`s(u) = u`."""

    def second_moment(self, q: Tensor) -> Tensor:
        """`E u^2 = q`."""
        return q

    def pair(self, q1: Tensor, q2: Tensor, rho: Tensor) -> tuple[Tensor, Tensor]:
        """`E[u v]` and 1."""
        return torch.outer(q1.sqrt(), q2.sqrt()) * rho, torch.ones_like(rho)


class Quadrature(Dual):
    """Any elementwise torch function, normalised by its own second moment."""

    def __init__(self, function: Function, device: torch.device) -> None:
        self._series = HermiteSeries(function, device)
        unit = torch.ones(1, dtype=torch.float64, device=device)
        moment = float(self._series.second_moment(unit))
        if not (math.isfinite(moment) and moment > 0):
            raise ValueError(f"the activation has E s(g)^2 = {moment}, so it cannot be normalised")
        self._scale = 1 / moment

    @property
    def unresolved(self) -> float:  # type: ignore[override]
        """Largest share of a second moment that the series missed."""
        return self._series.unresolved

    def second_moment(self, q: Tensor) -> Tensor:
        """By quadrature."""
        return self._scale * self._series.second_moment(q)

    def pair(self, q1: Tensor, q2: Tensor, rho: Tensor) -> tuple[Tensor, Tensor]:
        """By Hermite series."""
        value = self._series.covariance(q1, q2, rho)
        slope = self._series.slope_covariance(q1, q2, rho)
        return self._scale * value, self._scale * slope


_CLOSED: dict[str, type[Dual]] = {"relu": Relu, "erf": Erf, "linear": Linear}
_SMOOTH: dict[str, Function] = {"tanh": torch.tanh, "gelu": torch.nn.functional.gelu}
_SHARP: dict[str, Callable[[Tensor, float], Tensor]] = {
    # Written out: the library's softplus turns into the identity beyond a threshold.
    "softplus": lambda u, b: torch.logaddexp(torch.zeros_like(u), b * u) / b,
    "swish": lambda u, b: u * torch.sigmoid(b * u),
}
_ALIASES = {
    "identity": "linear",
    "softplus": "softplus_5",
    "swish": "swish_1",
    "silu": "swish_1",
}
_WITH_SHARPNESS = re.compile(r"(softplus|swish)_(\d+(?:\.\d+)?(?:e[+-]?\d+)?)")


def make_dual(activation: str | Function, device: torch.device) -> Dual:
    """The dual of a named activation or of any elementwise torch function.

    Names: relu, erf, linear (or identity), tanh, gelu, softplus_b (softplus is softplus_5) and
    swish_b (swish and silu are swish_1) with any sharpness b > 0.
    """
    if callable(activation):
        return Quadrature(activation, device)
    name = _ALIASES.get(activation, activation)
    if name in _CLOSED:
        return _CLOSED[name]()
    if name in _SMOOTH:
        return Quadrature(_SMOOTH[name], device)
    sharp = _WITH_SHARPNESS.fullmatch(str(name))
    if sharp is None:
        names = [*_CLOSED, *_SMOOTH, "softplus_5", "swish_10", *_ALIASES]
        listing = ", ".join(nearest_first(str(activation), names))
        raise ValueError(f"unknown activation {activation!r}; use a function or one of: {listing}")
    shape, b = _SHARP[sharp[1]], real(f"sharpness of {name}", sharp[2], above=0)
    return Quadrature(lambda u: shape(u, b), device)
