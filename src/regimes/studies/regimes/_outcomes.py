"""What an ensemble of runs is judged by: cells of `measure.ensemble_outcomes`, and their gaps.

Differences and ratios of settings with the same seeds are judged pair by pair, by leaving one seed
out (jackknife).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import xarray as xr


@dataclass(frozen=True, eq=False)
class Cell:
    """One setting at one scale: its runs that count."""

    seeds: np.ndarray
    error: np.ndarray  # of each
    ensemble_error: float
    ensemble_error_without: np.ndarray  # without each
    variance: float
    variance_without: np.ndarray
    dropped: int  # runs that did not count

    @property
    def shown(self) -> str:
        """Mean error, ensemble error and variance in words."""
        lost = f", {self.dropped} runs that did not fit left out" if self.dropped else ""
        return (
            f"{100 * self.error.mean():.1f} % (ensemble {100 * self.ensemble_error:.1f} %, "
            f"variance {self.variance:.2g}{lost})"
        )


def cell_of(row: xr.Dataset, at: float, coordinate: str = "at") -> Cell | None:
    """The cell of a setting nearest to a scale; None if it was not run or too few runs fitted.

    `row` has the dimensions scale and seed, `coordinate` is a variable over scale.
    """
    if coordinate not in row or "ensemble_error" not in row:
        return None
    scales = row[coordinate].values
    near = np.flatnonzero(np.isclose(scales, at, rtol=1e-3))
    if len(near) == 0:
        return None
    one = row.isel(scale=int(near[0]))
    if not np.isfinite(one.ensemble_error.values):
        return None
    counts = one.kept.values == 1
    return Cell(
        seeds=one.seed.values[counts],
        error=one.error.values[counts],
        ensemble_error=float(one.ensemble_error),
        ensemble_error_without=one.ensemble_error_without.values[counts],
        variance=float(one.variance),
        variance_without=one.variance_without.values[counts],
        dropped=int((~counts).sum()),
    )


def error_gap(a: Cell, b: Cell) -> tuple[float, float]:
    """Mean error of `a` minus that of `b` over the seeds both have, and its standard error."""
    _, left, right = np.intersect1d(a.seeds, b.seeds, return_indices=True)
    if len(left) < 2:
        return float(a.error.mean() - b.error.mean()), float("nan")
    gap = a.error[left] - b.error[right]
    return float(gap.mean()), float(gap.std(ddof=1) / len(gap) ** 0.5)


def ensemble_gap(a: Cell, b: Cell) -> tuple[float, float]:
    """Ensemble error of `a` minus that of `b`, and its jackknife error."""
    return _compared(a, b, "ensemble_error", np.subtract)


def variance_ratio(a: Cell, b: Cell) -> tuple[float, float]:
    """Variance of `a` over that of `b`, and its jackknife error."""
    return _compared(a, b, "variance", np.divide)


def _compared(a: Cell, b: Cell, name: str, how: Callable[..., np.ndarray]) -> tuple[float, float]:
    from regimes.measure import jackknife_error

    whole = float(how(getattr(a, name), getattr(b, name)))
    _, left, right = np.intersect1d(a.seeds, b.seeds, return_indices=True)
    of_a, of_b = getattr(a, f"{name}_without"), getattr(b, f"{name}_without")
    if len(left) == len(a.seeds) == len(b.seeds):
        return whole, jackknife_error(how(of_a[left], of_b[right]))
    first = jackknife_error(how(of_a, getattr(b, name)))  # other seeds: no pairs
    second = jackknife_error(how(getattr(a, name), of_b))
    return whole, float(np.hypot(first, second))
