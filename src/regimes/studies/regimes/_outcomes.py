"""What an ensemble of runs is judged by: errors alone and together, variance, their error bars.

Together means the mean prediction over seeds. Error bars of what is computed from all seeds at once
come from leaving one out (jackknife), so each such number is kept with its values without each
seed; differences and ratios of settings with the same seeds are then judged pair by pair.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import xarray as xr

LEAST = 3  # seeds: without one of them there must still be a variance


def ensemble_outcomes(
    outputs: np.ndarray, y: np.ndarray, kept: np.ndarray
) -> dict[str, np.ndarray]:
    """Numbers of S14 for predictions of several scales and seeds.

    Args:
        outputs: F on the test points, (scale, seed, point).
        y: labels +-1, (point,).
        kept: 1 for runs that count, (scale, seed): those that fitted.

    Returns:
        `error` (scale, seed) of each run; `ensemble_error` and `variance` (scale) over those kept,
        and with `_without` (scale, seed) the same without one seed (for a run that does not count:
        of all that do). NaN where fewer than three count.

    >>> F = np.array([[[1.0, 1.0], [1.0, -1.0], [-1.0, -3.0]]])
    >>> found = ensemble_outcomes(F, np.ones(2), np.ones((1, 3)))
    >>> found["error"].tolist(), found["ensemble_error"].tolist(), found["variance"].round(3)
    ([[0.0, 0.5, 1.0]], [0.5], array([2.667]))
    """
    outputs, kept = np.asarray(outputs, dtype=float), np.asarray(kept).astype(bool)
    shape = outputs.shape[:2]
    found = {
        "error": (outputs * y <= 0).mean(-1),
        "ensemble_error": np.full(shape[0], np.nan),
        "variance": np.full(shape[0], np.nan),
        "ensemble_error_without": np.full(shape, np.nan),
        "variance_without": np.full(shape, np.nan),
    }

    def together(members: np.ndarray) -> tuple[float, float]:
        wrong = (members.mean(0) * y <= 0).mean()
        return float(wrong), float(members.var(0, ddof=1).mean())

    for scale in range(shape[0]):
        members = np.flatnonzero(kept[scale])
        if len(members) < LEAST:
            continue
        whole = together(outputs[scale, members])
        found["ensemble_error"][scale], found["variance"][scale] = whole
        for seed in range(shape[1]):
            others = members[members != seed]
            part = whole if len(others) == len(members) else together(outputs[scale, others])
            found["ensemble_error_without"][scale, seed] = part[0]
            found["variance_without"][scale, seed] = part[1]
    return found


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
    whole = float(how(getattr(a, name), getattr(b, name)))
    _, left, right = np.intersect1d(a.seeds, b.seeds, return_indices=True)
    of_a, of_b = getattr(a, f"{name}_without"), getattr(b, f"{name}_without")
    if len(left) == len(a.seeds) == len(b.seeds):
        return whole, jackknife_error(how(of_a[left], of_b[right]))
    first = jackknife_error(how(of_a, getattr(b, name)))  # other seeds: no pairs
    second = jackknife_error(how(getattr(a, name), of_b))
    return whole, float(np.hypot(first, second))


def jackknife_error(without: np.ndarray) -> float:
    """Standard error from the values without each of R members: sqrt((R-1)/R sum (x - mean)^2).

    For a mean it is the usual standard error:

    >>> x = np.array([1.0, 2.0, 4.0, 7.0])
    >>> without = (x.sum() - x) / 3
    >>> bool(np.isclose(jackknife_error(without), x.std(ddof=1) / 2))
    True
    """
    count = len(without)
    spread = np.square(without - without.mean()).sum()
    return float(np.sqrt((count - 1) / count * spread))
