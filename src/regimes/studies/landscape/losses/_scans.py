"""N* of the scans over width, by the rule of each loss."""

from __future__ import annotations

from typing import Any

import numpy as np

import regimes as rg
from regimes.lab import Data, judge, rows

DEAD = 2  # measure.RunClass


def star(dataset: Data, block: str, **settings: Any) -> tuple[judge.Measured, str]:
    """N* with its error, and its bracket in words.

    A hinge fails with N_Delta > 0.1 N, cross-entropy with any misclassified point.

    Raises:
        Missing: nothing ran, or the widths that ran do not hold it.
    """
    runs, flags = failed(dataset, block, **settings)
    weights = runs.weights.values
    found = rg.measure.n_star(weights, flags)
    if found is None:
        raise judge.Missing(
            f"no transition among N = {weights.min():.0f} to {weights.max():.0f} of {block}"
        )
    off = rg.measure.transition_spread(rg.measure.n_star, weights, flags, resamples=100)
    told = f"{found.bracket[0]:.0f} to {found.bracket[1]:.0f}"
    return judge.Measured(found.n, found.n * off.log_error), told


def failed(dataset: Data, block: str, **settings: Any) -> tuple[Data, np.ndarray]:
    """The runs of one setting in order of N, and (seed, trial) which of them failed."""
    runs = rows(dataset, block, **settings)
    runs = runs.isel(trial=np.argsort(runs.weights.values, kind="stable"))
    runs = runs.dropna("seed", how="all", subset=["unmet"])
    limit = 0.0 if block == "entropy" else 0.1 * runs.weights
    flags = (runs.unmet > limit).astype(float).where(runs.unmet.notnull())
    if block == "hinge":
        flags = flags.where(runs.classes != DEAD)
    return runs, flags.transpose("seed", "trial").values
