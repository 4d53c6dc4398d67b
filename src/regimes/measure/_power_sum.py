"""Sums of powers with given exponents, and a power above a limit with a free one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from regimes._check import real
from regimes.measure._numbers import Numbers, curve, numbers, over_seeds, resampled

_POWERS = (0.02, 4.0)  # sizes of a free exponent that are looked at


@dataclass(frozen=True)
class PowerSum:
    """The fit `y = sum_k coefficients[k] x^powers[k]`."""

    powers: tuple[float, ...]
    coefficients: tuple[float, ...]
    errors: tuple[float, ...]  # over bootstrap resamples of the seeds, or from the scatter; or NaN
    r2: float  # share of the variance explained; NaN for constant y
    points: int

    def __call__(self, x: Tensor) -> Tensor:
        """The fit at x."""
        terms = [c * x**p for c, p in zip(self.coefficients, self.powers, strict=True)]
        return torch.stack(terms).sum(0)


@dataclass(frozen=True)
class OffsetPower:
    """The fit `y = limit + size x^power` with all three free."""

    power: float
    error: float  # of the power, over bootstrap resamples of the seeds; NaN without seeds
    limit: float
    size: float
    r2: float  # NaN for constant y


def power_sum(
    x: Numbers,
    y: Numbers,
    powers: Sequence[float],
    *,
    center: str = "mean",
    resamples: int = 1000,
    seed: int = 0,
) -> PowerSum:
    """Least squares with fixed exponents, such as `E0 N^-1/2 + E1 N^-3/4` [Geiger 2020b, eq. 11].

    A power 0 is a limit. The exponents of [Geiger 2020b] in N are those of constant width and
    two hidden layers or more, where N ~ h^2; for one hidden layer fit in the width.

    Args:
        x: positive abscissae (n,).
        y: values (n,), or (seeds, n), which are first reduced over seeds.
        powers: different exponents, fewer than points.
        center: how seeds are reduced, "mean" or "median".
        resamples: of the seeds.
        seed: of the bootstrap.

    >>> N = torch.tensor([100.0, 400.0, 1600.0, 6400.0])
    >>> fit = power_sum(N, 0.05 + 6 * N**-0.5 - 40 * N**-0.75, [0, -0.5, -0.75])
    >>> [round(c, 4) for c in fit.coefficients], round(fit.r2, 6)
    ([0.05, 6.0, -40.0], 1.0)
    """
    x = numbers("x", x, positive=True)
    exponents = [real("powers", p) for p in powers]
    if x.ndim != 1 or not exponents or len(set(exponents)) < len(exponents):
        raise ValueError(
            f"x must have shape (n,) and powers be different, got {tuple(x.shape)} and {powers}"
        )
    if len(torch.unique(x)) < len(exponents):
        raise ValueError(
            f"{len(exponents)} powers need as many different x, got {len(torch.unique(x))}"
        )
    y = curve("y", x, y, positive=False)
    centre = over_seeds(y, center) if y.ndim == 2 else y
    columns = torch.stack([x**p for p in exponents], 1)
    scales = columns.norm(dim=0)  # powers of large numbers differ by many decades
    solve = torch.linalg.pinv(columns / scales, rtol=1e-13) / scales[:, None]  # (k, n)
    found = solve @ centre
    rest = centre - columns @ found
    freedom = len(x) - len(exponents)
    if y.ndim == 2:
        errors = (resampled(y, center, resamples, seed) @ solve.mT).std(0)
    elif freedom:
        errors = (rest.square().sum() / freedom * solve.square().sum(1)).sqrt()
    else:
        errors = torch.full_like(found, math.nan)
    return PowerSum(
        tuple(exponents),
        tuple(found.tolist()),
        tuple(errors.tolist()),
        _explained(centre, rest),
        len(x),
    )


def offset_power(
    x: Numbers,
    y: Numbers,
    *,
    falling: bool = True,
    center: str = "mean",
    resamples: int = 200,
    seed: int = 0,
) -> OffsetPower:
    """Least squares of `y = limit + size x^power` over all three.

    For every power limit and size are a line; the power of least residual is looked for on a
    grid and then refined. Three points fit exactly: take more.

    Args:
        x: positive abscissae (n,), four different ones at least.
        y: values (n,), or (seeds, n), which are first reduced over seeds.
        falling: look for negative powers, else for positive ones.
        center: how seeds are reduced, "mean" or "median".
        resamples: of the seeds.
        seed: of the bootstrap.

    >>> N = torch.tensor([100.0, 400.0, 1600.0, 6400.0])
    >>> fit = offset_power(N, 2.1 + 51 * N**-0.28)
    >>> round(fit.power, 3), round(fit.limit, 3), round(fit.size, 2)
    (-0.28, 2.1, 51.0)
    """
    x = numbers("x", x, positive=True)
    if x.ndim != 1 or len(torch.unique(x)) < 4:
        raise ValueError(f"x must hold four different numbers, (n,), got {tuple(x.shape)}")
    y = curve("y", x, y, positive=False)
    centre = over_seeds(y, center) if y.ndim == 2 else y
    power, limit, size, rest = _best_power(x, centre[None], falling)
    error = math.nan
    if y.ndim == 2:
        drawn, _, _, _ = _best_power(x, resampled(y, center, resamples, seed), falling)
        error = float(drawn.std())
    return OffsetPower(
        float(power[0]), error, float(limit[0]), float(size[0]), _explained(centre, rest[0])
    )


def _best_power(x: Tensor, y: Tensor, falling: bool) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Power, limit, size (m,) and what is left (m, n), of curves y (m, n)."""
    sign, scale = (-1.0 if falling else 1.0), x.log().mean().exp()
    low = torch.full((len(y), 1), math.log(_POWERS[0]), dtype=torch.float64)
    high = torch.full_like(low, math.log(_POWERS[1]))
    for _ in range(8):  # each time around the best of a finer grid
        share = torch.linspace(0, 1, 41, dtype=torch.float64)
        grid = low + (high - low) * share  # (m, 41), logarithms of the size of the power
        rest, _, _ = _lines(sign * grid.exp(), x / scale, y)
        best = rest.square().sum(-1).argmin(1, keepdim=True)
        step = (high - low) / 40
        centre = grid.gather(1, best)
        low = (centre - 1.5 * step).clamp_min(math.log(_POWERS[0]))
        high = (centre + 1.5 * step).clamp_max(math.log(_POWERS[1]))
    power = sign * centre.exp()
    rest, limit, size = _lines(power, x / scale, y)
    at = power[:, 0]
    return at, limit[:, 0], size[:, 0] * scale**-at, rest[:, 0]


def _lines(powers: Tensor, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """For powers (m, g): what y leaves of `limit + size x^p`, (m, g, n), limits and sizes."""
    u = x ** powers.unsqueeze(-1)
    du, dy = u - u.mean(-1, keepdim=True), (y - y.mean(-1, keepdim=True)).unsqueeze(1)
    size = (du * dy).sum(-1) / du.square().sum(-1)
    rest = dy - size.unsqueeze(-1) * du
    return rest, y.mean(-1, keepdim=True) - size * u.mean(-1), size


def _explained(y: Tensor, rest: Tensor) -> float:
    total = float((y - y.mean()).square().sum())
    return 1 - float(rest.square().sum()) / total if total else math.nan
