"""What claims and figures read from the scans: N* of one setting, read at the end or before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import regimes as rg
from regimes.lab import Data, judge, rows

JAMMED = 0.1  # N_Delta/N above which a run counts as jammed
DEAD = 2  # measure.RunClass


@dataclass(frozen=True, eq=False)
class Star:
    """N* of one setting, with the runs it is read from."""

    points: float  # P
    found: Any  # measure.Transition
    log_error: float  # of log N*, from the bracket and from the seeds
    runs: Data  # along `weights`

    @property
    def measured(self) -> judge.Measured:
        """N* with its error."""
        return judge.Measured(self.found.n, self.found.n * self.log_error)

    @property
    def told(self) -> str:
        """The bracket in words."""
        low, high = self.found.bracket
        return f"{low:.0f} to {high:.0f} at P = {self.points:.0f}"


def scan(dataset: Data, block: str, **settings: Any) -> Data:
    """The runs of one setting, trials in order of N."""
    found = rows(dataset, block, **settings)
    found = found.isel(trial=np.argsort(found.weights.values, kind="stable"))
    return found.dropna("seed", how="all", subset=["unfitted"])


def held(runs: Data, moment: int | None = None) -> np.ndarray:
    """(seed, trial): 1 for runs with N_Delta > 0.1 N, 0 for others, NaN for dead ones."""
    counts = runs.unfitted if moment is None else runs.unfitted_at.sel(moment=moment)
    many = (counts > JAMMED * runs.weights).astype(float)
    known = runs.classes.notnull() & (runs.classes != DEAD)
    flags: np.ndarray = many.where(known).transpose("seed", "trial").values
    return flags


def star(dataset: Data, block: str, *, moment: int | None = None, **settings: Any) -> Star:
    """N* by the rule of 0.1 N.

    Raises:
        Missing: nothing ran, or the widths that ran do not hold it.
    """
    runs = scan(dataset, block, **settings)
    weights, flags = runs.weights.values, held(runs, moment)
    found = rg.measure.n_star(weights, flags)
    told = ", ".join(f"{name} = {value}" for name, value in settings.items())
    if found is None:
        raise judge.Missing(
            f"no transition among N = {weights.min():.0f} to {weights.max():.0f} of {block}, {told}"
        )
    off = rg.measure.transition_spread(rg.measure.n_star, weights, flags, resamples=100)
    return Star(float(runs.n_train.values[0]), found, off.log_error, runs)


def stars(dataset: Data, block: str, **settings: Any) -> list[Star]:
    """N* at every P of a block."""
    table = rows(dataset, block, **settings)
    sizes = sorted(set(table.n_train.values.tolist()))
    return [star(dataset, block, n_train=p, **settings) for p in sizes]
