"""The size of the output above the transition, where it diverges."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from regimes._check import positive_int, real
from regimes.measure._numbers import Numbers, numbers

_LEAST = 3  # points of a fit that leaves something to judge it by


@dataclass(frozen=True, eq=False)
class NormDivergence:
    """The fit `log |f|^2 = c - 2 alpha log(N/N* - 1)`."""

    alpha: float
    error: float  # from the scatter about the line, N* taken as known
    n_star: float
    r2: float  # share of the variance explained; NaN for a constant
    points: int
    scan: np.ndarray  # (k, 3): N*, alpha, rms residual of each N* tried; one row where it was given


def norm_divergence(
    parameters: Numbers,
    square: Numbers,
    n_star: float | None = None,
    *,
    window: tuple[float, float] = (0.1, 3.0),
    tried: int = 200,
) -> NormDivergence:
    """Exponent of `|f| ~ (N/N* - 1)^-alpha` [Geiger 2020b, sec. 6]; alpha = 1 is predicted.

    The exponent depends much on N*. Without one it is tuned, as the paper does, so that the line is
    straight: of values between half the smallest and the largest N the one of least residual, all
    of them with their alpha in `scan`.

    Args:
        parameters: N, increasing, (n,).
        square: |f|^2, a median over networks, (n,).
        n_star: N*, by another rule; None to tune it.
        window: N is fitted where N/N* - 1 lies in it.
        tried: values of N* that are tried.

    Raises:
        ValueError: fewer than three N in the window.

    >>> N = np.geomspace(105, 1000, 30)
    >>> fit = norm_divergence(N, 5 * (N / 100 - 1) ** -2.0)
    >>> round(fit.alpha, 2), round(fit.n_star)
    (1.0, 100)
    """
    n = numbers("parameters", parameters, positive=True).numpy()
    f = numbers("square", square, positive=True).numpy()
    if n.ndim != 1 or f.shape != n.shape or (np.diff(n) <= 0).any():
        raise ValueError(
            f"parameters must increase, (n,), and square have the same shape, got {n.shape} and "
            f"{f.shape}"
        )
    low, high = (real("window", edge) for edge in window)
    if not 0.0 <= low < high:
        raise ValueError(f"the window must be (low, high) with 0 <= low < high, got {window}")
    if n_star is None:
        stars = np.geomspace(n[0] / 2, n[-1], positive_int("tried", tried, least=2))
    else:
        stars = np.array([real("n_star", n_star, above=0.0)])
    least = _LEAST if n_star is not None else max(_LEAST, min(len(n) // 3, 5))

    def fitted(tries: np.ndarray) -> list[tuple[float, tuple[float, float, float, float, int]]]:
        made = ((float(each), _line(n, f, each, low, high, least)) for each in tries)
        return [(each, fit) for each, fit in made if fit is not None]

    fits = fitted(stars)
    if not fits:
        raise ValueError(
            f"the divergence needs {least} N with N/N* - 1 in ({low:g}, {high:g}); N runs from "
            f"{n[0]:g} to {n[-1]:g}, N* is {'tried' if n_star is None else f'{n_star:g}'}"
        )
    if n_star is None:
        near = min(fits, key=lambda each: each[1][2])[0]
        step = stars[1] / stars[0]
        fits = sorted(fits + fitted(np.geomspace(near / step, near * step, 101)))
    star, (slope, error, _, r2, count) = min(fits, key=lambda each: each[1][2])
    scan = np.array([(s, -fit[0] / 2, fit[2]) for s, fit in fits])
    return NormDivergence(-slope / 2, error / 2, star, r2, count, scan)


def _line(
    n: np.ndarray, f: np.ndarray, star: float, low: float, high: float, least: int
) -> tuple[float, float, float, float, int] | None:
    """Slope, its error, residual, explained share and points, of log f in log(N/N* - 1)."""
    excess = n / star - 1
    inside = (excess > low) & (excess < high)
    count = int(inside.sum())
    if count < least:
        return None
    u, v = np.log(excess[inside]), np.log(f[inside])
    lever, spread = np.square(u - u.mean()).sum(), np.square(v - v.mean()).sum()
    slope = float(((u - u.mean()) * v).sum() / lever)
    rest = float(np.square(v - v.mean() - slope * (u - u.mean())).sum())
    rms = (rest / (count - 2)) ** 0.5  # per degree of freedom: windows differ in their points
    return slope, rms / lever**0.5, rms, 1 - rest / spread if spread else np.nan, count
