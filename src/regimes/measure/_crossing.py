"""Where curves cross, with error bars."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from regimes.measure._numbers import Numbers, curve, numbers, over_seeds, resampled


@dataclass(frozen=True)
class Crossing:
    """One crossing of two curves, or of a curve with a level."""

    x: float
    error: float  # spread over bootstrap resamples of the seeds; NaN without a seed axis
    bracket: tuple[float, float]  # neighbouring abscissae between which it lies
    rising: bool  # the first curve goes from below the second to above it
    found: float  # share of resamples that cross at all; 1 without a seed axis


def crossing(
    x: Numbers,
    a: Numbers,
    b: Numbers | float,
    *,
    log_x: bool = True,
    log_y: bool = True,
    center: str = "median",
    resamples: int = 1000,
    seed: int = 0,
) -> tuple[Crossing, ...]:
    """Every crossing of curve `a` with curve or level `b`, by increasing x.

    Curves are joined by straight lines, on logarithmic axes unless told otherwise. With a seed axis
    the curves are reduced over seeds, and the error of a crossing is the spread of the nearest one
    over bootstrap resamples (those without any are counted in `found`); on a logarithmic axis it is
    the spread of log x times x.

    Args:
        x: increasing abscissae (n,).
        a: values (n,) or (seeds, n).
        b: values (n,) or (seeds, n), or one number.
        log_x: interpolate in log x.
        log_y: interpolate in log of the values, which must then be positive.
        center: how seeds are reduced, "median" or "mean".
        resamples: number of bootstrap resamples.
        seed: of the bootstrap.

    >>> point, = crossing([1.0, 10.0, 100.0], [10.0, 1.0, 0.1], 1.0)
    >>> round(point.x, 9), point.rising
    (10.0, False)
    """
    x = numbers("x", x, positive=log_x)
    if x.ndim != 1 or len(x) < 2 or bool((x.diff() <= 0).any()):
        raise ValueError(f"x must be increasing of shape (n,), n >= 2, got {tuple(x.shape)}")
    curves = [curve("a", x, a, positive=log_y)]
    if isinstance(b, int | float):
        curves.append(curve("b", x, [float(b)] * len(x), positive=log_y))
    else:
        curves.append(curve("b", x, b, positive=log_y))
    u = x.log() if log_x else x

    def height(y: Tensor) -> Tensor:
        return y.log() if log_y else y

    centres = [over_seeds(y, center) if y.ndim == 2 else y for y in curves]
    gap = height(centres[0]) - height(centres[1])
    places = _places(u, gap)
    drawn = None
    if any(y.ndim == 2 for y in curves):
        # Curves of one experiment share their seeds, so they are resampled by the same draw.
        samples = [
            resampled(y, center, resamples, seed) if y.ndim == 2 else y.expand(resamples, -1)
            for y in curves
        ]
        drawn = _places(u, height(samples[0]) - height(samples[1]))
    found = []
    for segment in torch.nonzero(places.isfinite())[:, 0].tolist():
        place = places[segment]
        at = float(place.exp() if log_x else place)
        error, share = (math.nan, 1.0) if drawn is None else _spread(drawn, place)
        found.append(
            Crossing(
                at,
                error * at if log_x else error,
                (float(x[segment]), float(x[segment + 1])),
                bool(gap[segment + 1] >= 0),
                share,
            )
        )
    return tuple(found)


def _places(u: Tensor, gap: Tensor) -> Tensor:
    """Crossing place in each segment (..., n-1), NaN where the gap keeps its sign."""
    left, right = gap[..., :-1], gap[..., 1:]
    crosses = (left >= 0) != (right >= 0)
    share = left / torch.where(crosses, left - right, 1.0)
    return torch.where(crosses, u[:-1] + share * u.diff(), math.nan)


def _spread(drawn: Tensor, place: Tensor) -> tuple[float, float]:
    distance = torch.where(drawn.isnan(), math.inf, (drawn - place).abs())
    nearest = distance.argmin(dim=-1, keepdim=True)
    crosses = drawn.isfinite().any(-1)
    values = drawn.gather(-1, nearest)[crosses, 0]
    error = float(values.std()) if len(values) > 1 else math.nan
    return error, float(crosses.double().mean())
