"""Verdicts on the stripe."""

from __future__ import annotations

import numpy as np

from regimes.lab import Data, Values, judge

claim = judge.Claims()

MORE = 100  # points: below, amplification and error are those of chance


def _along(dataset: Data, name: str, d: int) -> Values:
    """One number (seeds, points) of the networks that were trained with enough points."""
    at = judge.need(dataset, name, d=d)
    at = at.isel(p=np.flatnonzero(at.p.values >= MORE))
    if at.sizes["p"] < 3 or bool(at[name].isnull().any()):
        raise judge.Missing("needs three training-set sizes from 100 points, of all seeds")
    if not bool((at.reached == 1).all()):
        raise judge.Missing("some networks were stopped before they had fitted their points")
    return at[name].transpose("seed", "p")


def _dimensions(dataset: Data) -> list[int]:
    return [int(each) for each in judge.need(dataset, "R").d.values]


@claim("DEF-40", "slope of the amplification in P: 0.5 +- 0.12, for d = 5 and 10")
def _shrinks(dataset: Data) -> judge.Parts:
    for d in _dimensions(dataset):
        values = _along(dataset, "amplification", d)
        slope = judge.log_slope(values.p.values, values.values)
        yield judge.near(f"slope at d = {d}", slope, 0.5, 0.12)
    return f"{values.sizes['seed']} seeds"


@claim("DEF-41", "slope of the median R_f in P: -1 +- 0.35, for d = 5 and 10")
def _inverse(dataset: Data) -> judge.Parts:
    for d in _dimensions(dataset):
        values = _along(dataset, "R", d)
        slope = judge.power_law(values, "p")
        yield judge.near(f"slope at d = {d}", slope, -1.0, 0.35)
    return f"{values.sizes['seed']} seeds"


@claim("DEF-42", "rank correlation of error and R_f over all runs above 0.7")
def _together(dataset: Data) -> judge.Parts:
    for d in _dimensions(dataset):
        R, error = (_along(dataset, name, d).values for name in ("R", "error"))
        both = np.stack([R, error], 1)

        def found(drawn: np.ndarray) -> float:
            flat = drawn.transpose(1, 0, 2).reshape(2, -1)
            ranks = flat.argsort(1).argsort(1)
            return float(np.corrcoef(*ranks)[0, 1])

        yield judge.above(f"rank correlation at d = {d}", judge.resampled(both, found), 0.7)
    return f"{R.size} runs at each d"


@claim("DEF-43", "before training, d = 10: each R_f in [0.6, 1.4], log-mean in [0.85, 1.15]")
def _isotropic(dataset: Data) -> judge.Parts:
    at = judge.where_ran(dataset, "p", "R_start", d=10)
    values = at.R_start.transpose("seed", "p").values[:, 0]  # the same networks at every P
    yield judge.within("log-mean", judge.log_mean(values), 0.85, 1.15)
    yield judge.within("smallest", float(values.min()), 0.6, 1.4)
    yield judge.within("largest", float(values.max()), 0.6, 1.4)
    return f"{len(values)} networks"
