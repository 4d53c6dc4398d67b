"""Verdicts on transfer."""

from __future__ import annotations

from regimes.lab import Data, judge
from regimes.studies.deformations.transfer import STARTS

claim = judge.Claims()

ENOUGH = 500  # training images: below, nothing is judged
SHARE = 2 / 3  # of seeds


def _lower(dataset: Data, start: str) -> judge.Parts:
    at = judge.where_ran(dataset, "seed", "R")
    if float(at.points.min()) < ENOUGH:
        raise judge.Missing(f"needs networks that were trained on {ENOUGH} images or more")
    k, scratch = STARTS.index(start), STARTS.index("scratch")
    ratios = {
        name: (at[name].isel(start=k) / at[name].isel(start=scratch)).values
        for name in ("error", "R")
    }
    both = (ratios["error"] < 1) & (ratios["R"] < 1)
    yield judge.above("share of seeds in which both are lower", judge.mean_of(both), SHARE)
    told = [f"{name} {judge.log_mean(each)}" for name, each in ratios.items()]
    means = [f"{name} {judge.mean_of(at.error[:, i].values)}" for i, name in enumerate(STARTS)]
    return f"tuned over scratch: {', '.join(told)}; errors {', '.join(means)}; {len(both)} networks"


@claim("DEF-27", "tuned at the paper's rates: error and R_f lower than from scratch, 2 of 3 seeds")
def _slowly(dataset: Data) -> judge.Parts:
    return (yield from _lower(dataset, "tuned"))


@claim("DEF-27b", "tuned at the rate of a fresh start: both lower than from scratch, 2 of 3 seeds")
def _fast(dataset: Data) -> judge.Parts:
    return (yield from _lower(dataset, "tuned_fast"))
