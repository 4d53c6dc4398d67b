"""Numbers with their errors: means, medians, ratios and exponents over independent draws.

Every function takes one value per draw (usually per seed) along the first axis. The error of a
single draw is unknown, not zero: it is NaN, and a claim that rests on it is inconclusive.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from regimes.lab.judge._missing import Missing

if TYPE_CHECKING:
    import xarray as xr

    from regimes.measure import PowerLaw

RESAMPLES = 1000


@dataclass(frozen=True)
class Measured:
    """A number and its standard error; None says that the number is exact."""

    value: float
    error: float | None = None

    def __str__(self) -> str:
        """The number with its error.

        >>> str(Measured(0.512, 0.031)), str(Measured(2.0)), str(Measured(1.0, float("nan")))
        ('0.512 ± 0.031', '2', '1 ± ?')
        """
        return f"{self.value:.3g}{spread(self.error)}"

    def __neg__(self) -> Measured:
        """The number with the other sign.

        >>> -Measured(1.0, 0.2)
        Measured(value=-1.0, error=0.2)
        """
        return Measured(-self.value, self.error)

    def __abs__(self) -> Measured:
        """How large it is, whatever its sign.

        >>> abs(Measured(-1.0, 0.2))
        Measured(value=1.0, error=0.2)
        """
        return Measured(abs(self.value), self.error)

    def __sub__(self, other: Measured) -> Measured:
        """The difference of two independent numbers.

        >>> Measured(3.0, 0.3) - Measured(1.0, 0.4)
        Measured(value=2.0, error=0.5)
        """
        return Measured(self.value - other.value, _joint(self.error, other.error))

    def __truediv__(self, other: Measured) -> Measured:
        """The ratio of two independent numbers, for errors that are small beside them.

        >>> Measured(2.0, 0.2) / Measured(4.0)
        Measured(value=0.5, error=0.05)
        """
        ratio = self.value / other.value
        error = _joint(self.error, None if other.error is None else ratio * other.error)
        return Measured(ratio, None if error is None else error / abs(other.value))


def _joint(one: float | None, other: float | None) -> float | None:
    """The error of two independent ones together; exact where both are."""
    if one is None and other is None:
        return None
    return float(np.hypot(one or 0.0, other or 0.0))


def spread(error: float | None) -> str:
    """An error bar in words, empty for an exact number."""
    if error is None:
        return ""
    return " ± ?" if np.isnan(error) else f" ± {error:.2g}"


def standard_error(values: Any) -> Any:
    """Standard error of the mean over the first axis; NaN for fewer than two values.

    >>> standard_error([1.0, 3.0])
    1.0
    """
    values = np.asarray(values, dtype=float)
    if len(values) < 2:
        return np.full(values.shape[1:], np.nan)[()]
    error = values.std(0, ddof=1) / len(values) ** 0.5
    return error if values.ndim > 1 else float(error)


def mean_of(values: Any) -> Measured:
    """Mean of all values, with its standard error.

    >>> mean_of([1.0, 3.0])
    Measured(value=2.0, error=1.0)
    """
    values = np.asarray(values, dtype=float).ravel()
    return Measured(float(values.mean()), standard_error(values))


def log_mean(values: Any) -> Measured:
    """Geometric mean of all values, with its standard error.

    >>> log_mean([1.0, 4.0]).value
    2.0
    """
    found = mean_of(np.log(np.asarray(values, dtype=float)))
    middle = float(np.exp(found.value))
    return Measured(middle, middle * float(found.error or 0.0))


def median_ratio(above: Any, below: Any) -> Measured:
    """`median(above)/median(below)` over the same draws.

    The error is the spread over bootstrap resamples, drawn together for both.

    >>> median_ratio([2.0, 4.0, 6.0], [1.0, 2.0, 3.0]).value
    2.0
    """
    above, below = np.asarray(above, dtype=float), np.asarray(below, dtype=float)
    rows = np.random.default_rng(0).integers(len(above), size=(RESAMPLES, len(above)))
    drawn = np.median(above[rows], axis=1) / np.median(below[rows], axis=1)
    error = float(drawn.std()) if len(above) > 1 else np.nan
    return Measured(float(np.median(above) / np.median(below)), error)


def median_of(values: Any) -> Measured:
    """Median of all values, with the spread over bootstrap resamples.

    >>> median_of([3.0, 3.0, 3.0])
    Measured(value=3.0, error=0.0)
    """
    values = np.asarray(values, dtype=float).ravel()
    return median_ratio(values, np.ones_like(values))


def log_slope(x: Any, values: Any) -> Measured:
    """Slope of log values (draws, n) against log x (n,): its mean and standard error over draws.

    >>> x = np.array([1.0, 10.0, 100.0])
    >>> found = log_slope(x, np.stack([x**-1.1, x**-0.9]))
    >>> round(found.value, 6), round(found.error, 6)
    (-1.0, 0.1)
    """
    logs = np.log(np.asarray(values, dtype=float))
    return mean_of(np.polyfit(np.log(np.asarray(x, dtype=float)), logs.T, 1)[0])


def slope_of(x: Any, values: Any, errors: Any) -> Measured:
    """Slope of log values (n,) against log x (n,), its error from those of the values.

    >>> found = slope_of([1.0, 10.0], [3.0, 0.3], [0.0, 0.0])
    >>> round(found.value, 9), found.error
    (-1.0, 0.0)
    """
    logs, values = np.log(np.asarray(x, dtype=float)), np.asarray(values, dtype=float)
    arms = (logs - logs.mean()) / np.square(logs - logs.mean()).sum()
    error = np.sqrt(np.square(arms * np.asarray(errors, dtype=float) / values).sum())
    return Measured(float((arms * np.log(values)).sum()), float(error))


def power_law(
    curve: xr.DataArray,
    over: str,
    window: tuple[float, float] | None = None,
    *,
    draws: str = "seed",
    center: str = "median",
) -> PowerLaw:
    """`measure.power_law` of a curve over one dimension, its error from resampled draws.

    Args:
        curve: values over `over` and, for an error from draws, `draws`.
        over: the dimension that is x.
        window: smallest and largest x used, both included.
        draws: the dimension that is resampled.
        center: "median" or "mean" over draws.

    Raises:
        Missing: fewer than two places or two draws, or values that have no logarithm.
    """
    from regimes.measure import power_law as fit

    curve = curve.dropna(over, how="all")
    if window is not None:
        x = curve[over]
        curve = curve.isel({over: ((x >= window[0] * 0.999) & (x <= window[1] * 1.001)).values})
    if curve.sizes[over] < 2:
        told = "" if window is None else f" from {window[0]:g} to {window[1]:g}"
        raise Missing(f"a power law needs two values of {over}{told}, {curve.sizes[over]} ran")
    if draws in curve.dims:
        curve = curve.transpose(draws, over)
        if len(curve) < 2:
            raise Missing(f"the error of an exponent needs two values of {draws}, one ran")
    if not bool((curve > 0).all()):
        raise Missing(f"not every value over {over} is a positive number")
    return fit(curve[over].values.astype(float), curve.values, center=center)


def largest_ratio(groups: Sequence[Any]) -> Measured:
    """Largest over smallest geometric mean of groups of draws, with its standard error.

    >>> largest_ratio([[1.0, 1.0], [2.0, 2.0]])
    Measured(value=2.0, error=0.0)
    """
    means = sorted((log_mean(group) for group in groups), key=lambda found: found.value)
    return means[-1] / means[0]


def jackknifed(values: Any, statistic: Callable[[np.ndarray], float]) -> Measured:
    """Any number of the draws, with its error from leaving one of them out.

    >>> jackknifed([1.0, 3.0], np.mean)
    Measured(value=2.0, error=1.0)
    """
    values = np.asarray(values, dtype=float)
    whole = float(statistic(values))
    if len(values) < 2:
        return Measured(whole, np.nan)
    return left_out(whole, [statistic(np.delete(values, i, 0)) for i in range(len(values))])


def left_out(whole: Any, without: Any) -> Measured:
    """A number of all draws, with its error from the same number without each of them.

    >>> left_out(2.0, [3.0, 1.0])
    Measured(value=2.0, error=1.0)
    """
    from regimes.measure import jackknife_error

    return Measured(float(whole), jackknife_error(np.asarray(without, dtype=float)))


def resampled(
    values: Any, statistic: Callable[[np.ndarray], float], *, resamples: int = RESAMPLES
) -> Measured:
    """Any number of the draws, with its spread over bootstrap resamples of them.

    >>> resampled([2.0, 2.0], np.mean)
    Measured(value=2.0, error=0.0)
    """
    values = np.asarray(values, dtype=float)
    rows = np.random.default_rng(0).integers(len(values), size=(resamples, len(values)))
    drawn = np.array([statistic(values[row]) for row in rows])
    return Measured(float(statistic(values)), float(drawn.std()) if len(values) > 1 else np.nan)
