"""Verdicts on random features: the peak, what ensembles do to it, the implicit ridge."""

from itertools import pairwise

import numpy as np

from regimes.lab import Data, Values, judge

FEW, PEAK, PAST, MANY = 0.5, 1.0, 5 / 3, 25.0  # h/P of 30, 60, 100 and 1500 features for P = 60
BEYOND = 13 / 12  # 65 features: from here on the error is expected to fall
RIDGE = 2.0  # h/P of the implicit ridge
JUDGED = (FEW, PEAK, BEYOND, PAST, RIDGE, MANY)
ENOUGH = 40  # training points, below which nothing is decided
CLOSE = 0.2  # relative distance that counts as close to the predicted ridge

claim = judge.Claims()


@claim("REG-67", "median error at h=P > 20 times that at h=P/2; falls beyond")
def _peak(dataset: Data) -> judge.Parts:
    few, peak, *_ = (_at(dataset, ratio).error for ratio in (FEW, PEAK, BEYOND, MANY))
    yield judge.above("peak over h=P/2", _ratio(peak, few), 20.0)
    ran = dataset.error.dropna("ratio", how="all").sortby("ratio")
    tail = ran.isel(ratio=ran.ratio.values > BEYOND - 1e-6)
    steps = [_ratio(after, before) for before, after in pairwise(tail)]
    worst = max(steps, key=lambda step: step.value + (step.error or 0.0))
    yield judge.below("beyond, each over the one before", worst, 1.0)
    medians = ", ".join(f"{np.median(each):.3g} ({each.ratio:.3g})" for each in ran)
    return (
        f"median error (at h/P): {medians}; {peak.sizes['seed']} training sets, "
        f"{peak.sizes['member']} draws of the features each"
    )


@claim("REG-68", "h/P = 1.67 over 25: ensembles < 1.6, single > 3")
def _ensembles(dataset: Data) -> judge.Parts:
    past, many = (_at(dataset, ratio) for ratio in (PAST, MANY))
    yield judge.below("ensembles", _ratio(past.ensemble_error, many.ensemble_error), 1.6)
    yield judge.above("single", _ratio(past.error, many.error), 3.0)
    medians = "; ".join(
        f"{name.replace('_', ' ')} {np.median(past[name]):.3g} and {np.median(many[name]):.3g}"
        for name in ("ensemble_error", "error")
    )
    sizes = past.error.sizes
    return (
        f"medians at h/P = 1.67 and 25: {medians}; ensembles of {sizes['member']}, "
        f"{sizes['seed']} training sets"
    )


@claim("REG-69", "best ridge > lambda, residual < 6 %, close to the root")
def _ridge(dataset: Data) -> judge.Parts:
    here = _at(dataset, RIDGE)
    used = float(here.ridge)
    yield judge.above("ridge over lambda", judge.mean_of(here.ridge_fitted / used), 1.0)
    yield judge.below("residual", judge.mean_of(here.ridge_residual), 0.06)
    yield judge.near(
        "over the root", judge.mean_of(here.ridge_fitted / here.ridge_root), 1.0, CLOSE
    )
    mean = here.mean("ridge_set")
    return (
        f"lambda = {used:g}, fitted {mean.ridge_fitted:.4f}, root {mean.ridge_root:.4f}, "
        f"{here.sizes['ridge_set']} training sets; with lambda itself the residual would be "
        f"{mean.ridge_same:.1%}; the mean of the draws is known to {mean.ridge_doubt:.1%}"
    )


def _at(dataset: Data, ratio: float) -> Data:
    """The trial at one h/P, of a scan with points enough."""
    here = judge.need(dataset, "error", ratio=ratio)
    if float(here.points) < ENOUGH:
        raise judge.Missing(f"{float(here.points):g} training points are fewer than {ENOUGH}")
    return here


def _ratio(one: Values, other: Values) -> judge.Measured:
    """Ratio of medians, and its error by resampling training sets, the same for both."""
    both = np.stack([one.values, other.values], axis=1)
    return judge.resampled(both, _ratio_of_medians, resamples=400)


def _ratio_of_medians(both: np.ndarray) -> float:
    return float(np.median(both[:, 0]) / np.median(both[:, 1]))
