"""Verdicts on the amplification: its level, its growth with p, its course in time."""

from collections.abc import Generator

import numpy as np

from regimes.lab import Data, Values, judge

TIMES = np.linspace(0.0, 3.0, 61)  # at which Λ(t) is kept, in units of t*
LEVEL, FULL_LEVEL, FULL_LEVEL_FROM = 0.25, 0.10, 100_000  # COMP-11: of Λ*, and from which p on
RATIO = 0.004  # and of w_i/w_1
FULL_SLOPE, FULL_SLOPE_FROM = 0.03, 10_000  # COMP-12 and -13: a scan that reaches so far

claim = judge.Claims()


@claim("COMP-11", "Λ* and w_i/w_1 as the noise of each data set predicts them")
def _level(dataset: Data) -> judge.Parts:
    """By `theory.saturation`, of first order in 1/sqrt(p); Λ* is Λ at t*."""
    chosen = _saturated(dataset)
    p = int(chosen.p)
    part = LEVEL if p < FULL_LEVEL_FROM else FULL_LEVEL
    level = chosen.amplification / chosen.amplification_first_order
    gap = np.abs(chosen.ratios - chosen.ratios_first_order).max("direction").values
    yield judge.above("Λ*/prediction, least of all data sets", level.min(), 1 - part)
    yield judge.below("Λ*/prediction, largest of all data sets", level.max(), 1 + part)
    yield judge.below("|w_i/w_1 - prediction|, largest of all data sets", gap.max(), RATIO)
    return (
        f"{level.size} data sets, p = {p}; Λ* within {part:.0%} on "
        f"{int((np.abs(level - 1) <= part).sum())} of them, w_i/w_1 within {RATIO} on "
        f"{int((gap <= RATIO).sum())}. w_i/w_1 is taken when the first sample is fitted, Λ* at t*: "
        f"when the first sample is fitted Λ/prediction is "
        f"{_range(chosen.level / chosen.amplification_first_order)}. The formula is of first order "
        "in 1/sqrt(p), which is not small here; COMP-11b judges what it is the first order of"
    )


@claim("COMP-11b", "ours: the level before the first fit is that of the data set's own drift")
def _level_of_the_drift(dataset: Data) -> judge.Parts:
    """Without an expansion in 1/sqrt(p), and before samples that are fitted stop to pull."""
    chosen = _saturated(dataset)
    level = chosen.level / chosen.amplification_predicted
    gap = np.abs(chosen.ratios - chosen.ratios_predicted)
    yield judge.above("Λ/prediction, least of all data sets", level.min(), 1 - LEVEL)
    yield judge.below("Λ/prediction, largest of all data sets", level.max(), 1 + LEVEL)
    yield judge.below("|w_i/w_1 - prediction|, largest of all data sets", gap.max(), RATIO)
    late = chosen.amplification / chosen.amplification_predicted
    return (
        f"{level.size} data sets, p = {int(chosen.p)}, when the first sample is fitted, against "
        "the direction of rest of each data set's own drift. At t*, with a tenth of the samples "
        f"fitted, Λ/prediction is {_range(late)}"
    )


@claim("COMP-12", "slope 0.5 ± 0.08, Λ*/sqrt(p) from 0.6 to 1.2")
def _growth_in_five_dimensions(dataset: Data) -> judge.Parts:
    chosen = yield from _growth(dataset, 5, 0.08)
    for each in chosen.transpose("p", "seed") / np.sqrt(chosen.p):
        yield judge.within(
            f"median of Λ*/sqrt(p) at p = {int(each.p)}", judge.median_of(each), 0.6, 1.2
        )
    return f"{chosen.sizes['seed']} seeds"


@claim("COMP-13", "slope 0.5 ± 0.1")
def _growth_in_ten_dimensions(dataset: Data) -> judge.Parts:
    chosen = yield from _growth(dataset, 10, 0.10)
    return f"{chosen.sizes['seed']} seeds, {_told(chosen.median('seed') / np.sqrt(chosen.p))}"


@claim("COMP-15", "exponential growth, a plateau before t*, no loss after it, in every run")
def _shape(dataset: Data) -> judge.Parts:
    p, plateau, ends, slowing = _courses(dataset)
    yield judge.above("Λ(0.9 t*)/Λ(t*), least of all runs", plateau.min(), 0.8)
    yield judge.below("Λ(0.9 t*)/Λ(t*), largest of all runs", plateau.max(), 1.25)
    yield judge.above("end Λ/Λ*, least of all runs", ends.min(), 0.5)
    yield judge.above("share of all runs whose growth slows before t*", slowing.mean(), 1.0)
    return (
        f"p = {p}; {int((ends >= 0.5).sum())} of {len(ends)} runs end with Λ >= Λ*/2, by seed "
        f"{', '.join(f'{e:.2f}' for e in ends)}"
    )


@claim("COMP-15b", "ours: the same of the mean over runs, which the paper's figure shows")
def _mean_shape(dataset: Data) -> judge.Parts:
    p, plateau, ends, _ = _courses(dataset)
    yield judge.within("Λ(0.9 t*)/Λ(t*), mean", judge.mean_of(plateau), 0.8, 1.25)
    yield judge.above("end Λ/Λ*, mean", judge.mean_of(ends), 0.5)
    return f"p = {p}, {len(ends)} runs"


def _saturated(dataset: Data) -> Data:
    """The largest p at which the level was predicted, with the seeds of which it was."""
    chosen = judge.where_ran(dataset, "p", "amplification_predicted", d=5).isel(p=-1)
    return chosen.dropna("seed", subset=["amplification_predicted"])


def _courses(dataset: Data) -> tuple[int, np.ndarray, np.ndarray, np.ndarray]:
    """p, and of every run followed to its end Λ(.9 t*)/Λ(t*), end Λ/Λ*, and whether it slows.

    A run slows when ln Λ rises more in the first half of the way to t* than in the second.
    """
    runs = judge.where_ran(dataset, "p", "course", d=5).isel(p=0)
    runs = runs.dropna("seed", how="all", subset=["course"])
    course = runs.course.transpose("seed", "moment").values
    half, late, star = np.searchsorted(TIMES, (0.5, 0.9, 1.0))
    logs = np.log(course)
    slowing = (logs[:, half] - logs[:, 0]) > (logs[:, star] - logs[:, half])
    ends = (runs["last"] / runs.amplification).values
    return int(runs.p), course[:, late] / course[:, star], ends, slowing


def _growth(dataset: Data, d: int, tolerance: float) -> Generator[judge.Part, None, Values]:
    """Λ* as a power of p, and the values it was taken from.

    Left out are the p at which the level was predicted, where alpha was another, and those that
    were followed to the end, for they have fewer seeds.
    """
    here = judge.need(dataset, "amplification", d=d)
    chosen = here.amplification
    for other in ("amplification_predicted", "last"):
        if other in here:
            alone = here[other].isnull().all("seed")
            chosen = chosen.sel(p=alone.sel(p=chosen.p).values)
    chosen = chosen.dropna("p", how="all").dropna("seed")
    if chosen.sizes["p"] < 3:
        raise judge.Missing("fewer than three p")
    if int(chosen.p.max()) >= FULL_SLOPE_FROM:
        tolerance = FULL_SLOPE
    yield judge.near("slope", judge.power_law(chosen, "p"), 0.5, tolerance)
    return chosen


def _told(medians: Values) -> str:
    values = ", ".join(f"{float(median):.3f} at {int(median.p)}" for median in medians)
    return f"Λ*/sqrt(p), medians: {values}"


def _range(values: Values) -> str:
    return f"{float(values.min()):.3f} to {float(values.max()):.3f}"
