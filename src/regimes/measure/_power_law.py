"""Power laws fitted on logarithmic axes, with error bars."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from regimes.measure._numbers import Numbers, curve, numbers, over_seeds, resampled


@dataclass(frozen=True)
class PowerLaw:
    """The fit `y = prefactor * x^exponent` over a range of x."""

    exponent: float  # slope on logarithmic axes; negative when y falls
    error: float  # one standard error of the exponent; NaN when the data cannot give one
    prefactor: float
    range: tuple[float, float]  # smallest and largest x used
    r2: float  # share of the variance of log y that the fit explains; NaN for constant y
    points: int

    def __call__(self, x: Tensor) -> Tensor:
        """The fitted law at x."""
        return self.prefactor * x**self.exponent


def power_law(
    x: Numbers,
    y: Numbers,
    *,
    sigma: Numbers | None = None,
    window: tuple[float, float] | None = None,
    center: str = "median",
    resamples: int = 1000,
    seed: int = 0,
) -> PowerLaw:
    """Least-squares line through (log x, log y).

    The error of the exponent is

    * with a seed axis: the spread of the fits over bootstrap resamples of the seeds, drawn with
      replacement as whole rows;
    * with `sigma`: the propagated error, enlarged by `sqrt(chi^2/dof)` when the scatter exceeds it;
    * otherwise: the standard error from the scatter about the line (NaN for two points).

    Args:
        x: positive abscissae (n,).
        y: positive values (n,), or (seeds, n), which are first reduced over seeds.
        sigma: standard errors of y, (n,); points are weighted by `(y/sigma)^2`.
        window: fit only x in [low, high]; the range used is reported either way.
        center: how seeds are reduced, "median" or "mean".
        resamples: number of bootstrap resamples.
        seed: of the bootstrap.

    >>> x = torch.tensor([1.0, 2.0, 4.0, 8.0])
    >>> fit = power_law(x, 3 * x**-0.5)
    >>> round(fit.exponent, 6), round(fit.prefactor, 6), fit.range, round(fit.r2, 6)
    (-0.5, 3.0, (1.0, 8.0), 1.0)
    """
    x = numbers("x", x, positive=True)
    if x.ndim != 1:
        raise ValueError(f"x must have shape (n,), got {tuple(x.shape)}")
    y = curve("y", x, y, positive=True)
    weights = torch.ones_like(x)
    centre = over_seeds(y, center) if y.ndim == 2 else y
    if sigma is not None:
        error = numbers("sigma", sigma, positive=True)
        if error.shape != x.shape:
            raise ValueError(f"sigma must have shape ({len(x)},), got {tuple(error.shape)}")
        weights = (centre / error) ** 2
    inside = torch.ones(len(x), dtype=torch.bool)
    if window is not None:
        inside = (x >= window[0]) & (x <= window[1])
    if int(inside.sum()) < 2 or float(x[inside].min()) == float(x[inside].max()):
        raise ValueError(
            f"a power law needs at least two different x; {int(inside.sum())} of {len(x)} points "
            f"lie in the window {window}, x runs from {float(x.min()):g} to {float(x.max()):g}"
        )
    x, y, centre, weights = x[inside], y[..., inside], centre[inside], weights[inside]
    slope, intercept = _line(x.log(), centre.log(), weights)
    residual = centre.log() - intercept - slope * x.log()
    if y.ndim == 2:
        slopes, _ = _line(x.log(), resampled(y, center, resamples, seed).log(), weights)
        exponent_error = float(slopes.std())
    else:
        exponent_error = _scatter_error(x.log(), residual, weights, known=sigma is not None)
    return PowerLaw(
        float(slope),
        exponent_error,
        float(intercept.exp()),
        (float(x.min()), float(x.max())),
        _explained(centre.log(), residual, weights),
        len(x),
    )


def local_slopes(x: Numbers, y: Numbers) -> tuple[Tensor, Tensor]:
    """Slopes of log y against log x between successive points.

    Args:
        x: positive abscissae (n,), increasing.
        y: positive values (n,).

    Returns:
        Geometric mid-points (n-1,) and slopes (n-1,), float64.

    >>> local_slopes([1.0, 4.0, 16.0], [1.0, 2.0, 8.0])
    (tensor([2., 8.], dtype=torch.float64), tensor([0.5000, 1.0000], dtype=torch.float64))
    """
    x = numbers("x", x, positive=True)
    y = numbers("y", y, positive=True)
    if x.ndim != 1 or y.shape != x.shape or bool((x.diff() <= 0).any()):
        raise ValueError(
            f"x must be increasing of shape (n,) and y of the same shape, got {tuple(x.shape)} "
            f"and {tuple(y.shape)}"
        )
    return (x[:-1] * x[1:]).sqrt(), y.log().diff() / x.log().diff()


def _line(u: Tensor, v: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """Weighted least-squares slope and intercept of v (..., n) against u (n,)."""
    share = weights / weights.sum()
    u0, v0 = (share * u).sum(), (share * v).sum(-1)
    slope = (share * (u - u0) * v).sum(-1) / (share * (u - u0) ** 2).sum()
    return slope, v0 - slope * u0


def _scatter_error(u: Tensor, residual: Tensor, weights: Tensor, *, known: bool) -> float:
    freedom = len(u) - 2
    lever = (weights * (u - (weights * u).sum() / weights.sum()) ** 2).sum()
    if not known and freedom == 0:
        return math.nan
    reduced = float((weights * residual**2).sum()) / freedom if freedom else 0.0
    return math.sqrt((max(reduced, 1.0) if known else reduced) / float(lever))


def _explained(v: Tensor, residual: Tensor, weights: Tensor) -> float:
    spread = v - (weights * v).sum() / weights.sum()
    total = float((weights * spread**2).sum())
    # A constant differs from its own mean by rounding only.
    if total <= 1e-28 * float((weights * (1 + v**2)).sum()):
        return math.nan
    return 1 - float((weights * residual**2).sum()) / total
