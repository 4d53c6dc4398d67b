"""How well rescaled curves fall on one another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from regimes._check import positive_int
from regimes.measure._kernel import check_tensor
from regimes.measure._numbers import Numbers, numbers


@dataclass(frozen=True)
class CollapseQuality:
    """Relative spread of curves on the abscissae they share; 0 is a perfect collapse."""

    spread: float  # mean over the common range of std/|mean| over curves
    worst: float  # its largest value there
    range: tuple[float, float]  # common range of the rescaled abscissa
    curves: int


def collapse_quality(
    x: Sequence[Numbers],
    y: Sequence[Numbers],
    *,
    x_scale: Numbers | None = None,
    y_scale: Numbers | None = None,
    points: int = 64,
    log: bool = True,
) -> CollapseQuality:
    """Mean relative spread of curves after rescaling.

    Curve i becomes `(x_scale_i x, y_scale_i y)` and is joined by straight lines, on logarithmic
    axes unless `log=False`. On `points` equally spaced abscissae u of the range all curves cover,
    `s(u) = std_i y_i(u) / |mean_i y_i(u)|`, the standard deviation with 1/(curves-1); `spread` is
    the mean of s. Compare it with the value before rescaling and with the error bars of the data.

    Args:
        x: for each curve its increasing abscissae.
        y: for each curve its values.
        x_scale: factor of x for each curve, (curves,); None for 1.
        y_scale: factor of y for each curve, (curves,); None for 1.
        points: number of abscissae compared.
        log: interpolate and space the abscissae logarithmically.

    >>> x = torch.tensor([1.0, 2.0, 4.0, 8.0])
    >>> quality = collapse_quality([x, 2 * x], [x**2, x**2], x_scale=[1.0, 0.5])
    >>> quality.spread < 1e-12, quality.range
    (True, (1.0, 8.0))
    """
    points = positive_int("points", points)
    if len(x) != len(y) or len(x) < 2:
        raise ValueError(f"give x and y of at least two curves, got {len(x)} and {len(y)}")
    x_factor, y_factor = _factors("x_scale", x_scale, len(x)), _factors("y_scale", y_scale, len(x))
    curves = []
    for i in range(len(x)):
        abscissa = numbers(f"x[{i}]", x[i], positive=log) * x_factor[i]
        value = numbers(f"y[{i}]", y[i], positive=log) * y_factor[i]
        if abscissa.ndim != 1 or abscissa.shape != value.shape or (abscissa.diff() <= 0).any():
            raise ValueError(
                f"curve {i} must have increasing x and y of one shape (n,), got "
                f"{tuple(abscissa.shape)} and {tuple(value.shape)}"
            )
        curves.append((abscissa.log(), value.log()) if log else (abscissa, value))
    low = max(float(u[0]) for u, _ in curves)
    high = min(float(u[-1]) for u, _ in curves)
    if low > high:
        raise ValueError("the rescaled curves share no range of x, so they cannot be compared")
    grid = torch.linspace(low, high, points, dtype=torch.float64)
    heights = torch.stack([_interpolate(grid, u, v) for u, v in curves])
    heights = heights.exp() if log else heights
    spread = heights.std(0) / heights.mean(0).abs()
    ends = torch.tensor([low, high], dtype=torch.float64)
    ends = ends.exp() if log else ends
    return CollapseQuality(
        float(spread.mean()),
        float(spread.max()),
        (round(float(ends[0]), 12), round(float(ends[1]), 12)),
        len(curves),
    )


def rescaled_error(error: Tensor) -> Tensor:
    """Affine map of errors along the last axis to [0, 1], as in [Geiger 2020, fig. 3d].

    >>> rescaled_error(torch.tensor([0.1, 0.2, 0.3]))
    tensor([0.0000, 0.5000, 1.0000])
    """
    error = check_tensor("error", error)
    low, high = error.amin(-1, keepdim=True), error.amax(-1, keepdim=True)
    if bool((low == high).any()):
        raise ValueError("a curve of errors is constant, so it cannot be mapped to [0, 1]")
    return (error - low) / (high - low)


def _factors(name: str, scale: Numbers | None, count: int) -> Tensor:
    if scale is None:
        return torch.ones(count, dtype=torch.float64)
    factors = numbers(name, scale, positive=True)
    if factors.shape != (count,):
        raise ValueError(f"{name} must have one factor per curve, ({count},), got {factors.shape}")
    return factors


def _interpolate(grid: Tensor, u: Tensor, v: Tensor) -> Tensor:
    return torch.as_tensor(np.interp(grid.numpy(), u.numpy(), v.numpy()))
