"""What claims and figures read from the runs: scans of one network, told apart, and r*."""

from __future__ import annotations

from typing import Any

import numpy as np

import regimes as rg
from regimes.lab import Data, judge, rows

LOW_LOSS = {"random": 2e-3, "parity": 5e-3}  # near the transition (LAND-03, LAND-26), margin 1/2
FALLING = 0.01


def scan(dataset: Data, block: str, **settings: Any) -> Data:
    """The runs of one network of one block, over ratio and seed; places that ran alone.

    Trials of the same network hold different ratios or seeds; here they are one.
    """
    found = rows(dataset, block, **settings)
    kept = [name for name in found.data_vars if "ratio" in found[name].dims]
    merged = found[kept].max("trial")
    merged = merged.dropna("ratio", how="all", subset=["unfitted"])
    merged = merged.dropna("seed", how="all", subset=["unfitted"])
    return merged.assign(weights=float(found.weights.values[0])).transpose("ratio", "seed", ...)


def flag(runs: Data, *classes: str) -> Any:
    """1 for runs of these classes, 0 for others, NaN where nothing ran."""
    codes = [int(rg.measure.RunClass[name]) for name in classes]
    return runs.classes.isin(codes).astype(float).where(runs.classes.notnull())


def dead(runs: Data) -> Any:
    """1 for runs that no gradient reaches."""
    return flag(runs, "DEAD")


def alive(runs: Data) -> Data:
    """All runs but the dead, along `run`, with their ratio."""
    stacked = runs.drop_dims("moment").stack(run=("ratio", "seed"), create_index=False)
    counts = stacked.classes.notnull() & (dead(stacked) == 0)
    return stacked.isel(run=np.flatnonzero(counts.values))


def held(runs: Data) -> Any:
    """1 for runs with N_Delta > 0.1 N that are not dead, NaN for the dead: those that jam.

    Runs that still fall count: whether they would have fitted later is not known.
    """
    many = (runs.unfitted > 0.1 * runs.weights).astype(float)
    return many.where((dead(runs) == 0) & runs.classes.notnull())


def r_star(runs: Data) -> judge.Measured:
    """Middle of the bracket of r*, with the spread over seeds and the width of the bracket.

    Raises:
        Missing: the ratios do not hold it.
    """
    ratios, flags = runs.ratio.values, held(runs).transpose("seed", "ratio").values
    found = rg.measure.p_star(ratios, flags)
    if found is None:
        raise judge.Missing(f"no transition among the ratios {ratios.min():g} to {ratios.max():g}")
    middle = sum(found.bracket) / 2
    off = rg.measure.transition_spread(rg.measure.p_star, ratios, flags)
    return judge.Measured(middle, middle * off.log_error)


def near(runs: Data, labels: str = "random") -> Data:
    """Jammed runs of small loss, along `run`."""
    each = alive(runs)
    small = (flag(each, "JAMMED") == 1) & (each.loss < LOW_LOSS[labels])
    return each.isel(run=np.flatnonzero(small.values))
