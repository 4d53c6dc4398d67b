"""The lines of the phase diagram, read from the scan (spec `regimes` S15)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import xarray as xr

    from regimes.measure import JammingLine, PhaseBoundary

TOO_MANY_UNFITTED = 0.05  # of the training points: such runs are left out of the map (S15 i)


def finished(dataset: xr.Dataset) -> xr.Dataset:
    """The widths of which every scale has run."""
    if "fitted" not in dataset:
        return dataset.isel(width=[])
    ran = dataset.fitted.notnull().all([name for name in dataset.fitted.dims if name != "width"])
    return dataset.isel(width=np.flatnonzero(ran.values))


def crossover(dataset: xr.Dataset, level: float = 1.0) -> PhaseBoundary:
    """`kernel_change = level` as sqrt(h) alpha against h; fitted runs only."""
    from regimes.measure import phase_boundary

    change = dataset.kernel_change.where(dataset.fitted > 0)
    field = change.transpose("seed", "width", "at").values
    return phase_boundary(dataset.width.values, dataset.at.values, field, level)


def jamming(dataset: xr.Dataset, share: float = 1.0) -> JammingLine:
    """The jamming line within a share of the budget of steps (S15 iii)."""
    from regimes.measure import jamming_line

    return jamming_line(dataset.width.values, dataset.at.values, _fits_by(dataset, share))


def border(dataset: xr.Dataset, share: float) -> np.ndarray:
    """Widths of the jamming line, infinite at scales where no network fits: beyond the grid."""
    nobody = ~(np.nan_to_num(_fits_by(dataset, share)) > 0).any((0, 1))
    return np.where(nobody, np.inf, jamming(dataset, share).width)


def _fits_by(dataset: xr.Dataset, share: float) -> np.ndarray:
    """Which runs fit within a share of the budget, (seed, width, at)."""
    by_then = (dataset.fitted > 0) & (dataset.steps <= share * float(dataset.budget.max()))
    flags = by_then.astype(float).where(dataset.fitted.notnull())
    return np.asarray(flags.transpose("seed", "width", "at").values)


def shown(dataset: xr.Dataset, name: str) -> xr.DataArray:
    """A variable at the points that are nearly fitted on average; the others NaN."""
    unfitted = dataset.unfitted.mean("seed") / float(dataset.n_train.max())
    return dataset[name].where(unfitted <= TOO_MANY_UNFITTED)
