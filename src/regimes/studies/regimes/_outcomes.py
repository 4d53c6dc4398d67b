"""What an ensemble of runs is judged by: cells of `measure.ensemble_outcomes`, and their gaps.

Differences and ratios of settings with the same seeds are judged pair by pair, by leaving one seed
out (jackknife).
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from math import nan

import numpy as np

import regimes as rg
from regimes.lab import Data, judge


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


def cell_of(row: Data, **place: float) -> Cell:
    """The runs of a setting that count at one place, such as `scale=0.1`.

    Raises:
        Missing: it was not run, or too few runs fitted for an ensemble.
    """
    one = judge.need(row, **place)
    if "ensemble_error" not in one or not np.isfinite(one.ensemble_error.values):
        told = ", ".join(f"{dim} = {value:g}" for dim, value in place.items())
        raise judge.Missing(f"not run, or fewer than three runs fitted, at {told}")
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


def cells_of(row: Data) -> dict[float, Cell]:
    """The cells of a setting at every scale that has one, small scales first."""
    found = {}
    for scale in sorted(row.scale.values.tolist()):
        with suppress(judge.Missing):
            found[scale] = cell_of(row, scale=scale)
    return found


def training_points(row: Data, least: int) -> int:
    """How many points the networks of a setting were trained on.

    Raises:
        Missing: fewer than `least`, which decide nothing.
    """
    count = int(np.nanmax(row.p.values))
    if count < least:
        raise judge.Missing(f"{count} training points are too few to judge")
    return count


def error_gap(a: Cell, b: Cell) -> judge.Measured:
    """Mean error of `a` minus that of `b` over the seeds both have, in percent."""
    _, left, right = np.intersect1d(a.seeds, b.seeds, return_indices=True)
    if len(left) < 2:
        return judge.Measured(float(100 * (a.error.mean() - b.error.mean())), nan)
    return judge.mean_of(100 * (a.error[left] - b.error[right]))


def ensemble_gap(a: Cell, b: Cell) -> judge.Measured:
    """Ensemble error of `a` minus that of `b` in percent, with its jackknife error."""
    return _compared(a, b, "ensemble_error", lambda x, y: 100 * np.subtract(x, y))


def variance_ratio(a: Cell, b: Cell) -> judge.Measured:
    """Variance of `a` over that of `b`, with its jackknife error."""
    return _compared(a, b, "variance", np.divide)


def range_of_ensembles(table: Data) -> judge.Measured:
    """Largest less smallest ensemble error over widths."""
    without = judge.need(table, "ensemble_error_without").ensemble_error_without
    parts = np.ptp(without.transpose("width", "seed").values, axis=0)
    return judge.left_out(np.ptp(table.ensemble_error.values), parts)


def _compared(a: Cell, b: Cell, name: str, how: Callable[..., np.ndarray]) -> judge.Measured:
    whole = float(how(getattr(a, name), getattr(b, name)))
    _, left, right = np.intersect1d(a.seeds, b.seeds, return_indices=True)
    of_a, of_b = getattr(a, f"{name}_without"), getattr(b, f"{name}_without")
    if len(left) == len(a.seeds) == len(b.seeds):
        return judge.left_out(whole, how(of_a[left], of_b[right]))
    first = rg.measure.jackknife_error(how(of_a, getattr(b, name)))  # other seeds: no pairs
    second = rg.measure.jackknife_error(how(getattr(a, name), of_b))
    return judge.Measured(whole, float(np.hypot(first, second)))
