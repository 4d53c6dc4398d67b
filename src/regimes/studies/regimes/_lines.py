"""The lines of the phase diagram, read from the scan (docs/themes/regimes.md)."""

from __future__ import annotations

import numpy as np

import regimes as rg
from regimes.lab import Data, Values, judge
from regimes.studies._types import JammingLine

TOO_MANY_UNFITTED = 0.05  # of the training points: such runs are left out of the map


def plane(dataset: Data) -> Data:
    """The widths of which every scale has run, both in increasing order."""
    fitted = judge.need(dataset, "fitted").fitted
    ran = fitted.notnull().all([name for name in fitted.dims if name != "width"])
    if not ran.any():
        raise judge.Missing("no width has run at every scale")
    return dataset.isel(width=np.flatnonzero(ran.values)).sortby(["width", "scale"])


def crossover(plane: Data, level: float = 1.0) -> tuple[np.ndarray, ...]:
    """Widths at which `kernel_change = level` is met by fitted runs, the scales, their errors."""
    change = plane.kernel_change.where(plane.fitted > 0)
    field = change.transpose("seed", "width", "scale").values
    line = rg.measure.phase_boundary(plane.width.values, plane.scale.values, field, level)
    met = np.isfinite(line.y)
    return line.x[met], line.y[met], line.error[met]


def jamming(plane: Data, share: float = 1.0) -> JammingLine:
    """The jamming line within a share of the budget of steps."""
    return rg.measure.jamming_line(plane.width.values, plane.scale.values, _fits_by(plane, share))


def border(plane: Data, share: float) -> np.ndarray:
    """Widths of the jamming line, infinite at scales where no network fits: beyond the grid."""
    nobody = ~(_fits_by(plane, share) > 0).any((0, 1))
    return np.where(nobody, np.inf, jamming(plane, share).width)


def _fits_by(plane: Data, share: float) -> np.ndarray:
    """Which runs fit within a share of the budget, (seed, width, scale)."""
    by_then = (plane.fitted > 0) & (plane.steps <= share * float(plane.budget.max()))
    return np.asarray(by_then.astype(float).transpose("seed", "width", "scale").values)


def shown(plane: Data, name: str) -> Values:
    """A variable at the points that are nearly fitted on average; the others NaN."""
    unfitted = plane.unfitted.mean("seed") / float(plane.n_train.max())
    return plane[name].where(unfitted <= TOO_MANY_UNFITTED)
