"""Verdicts on the learning curves: COMP-14, 21, 24, 25, 26, and what the theme regimes repeats."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeAlias

from regimes.lab import Data, judge
from regimes.studies.compression._medians import need_whole

if TYPE_CHECKING:
    Ratios: TypeAlias = dict[tuple[int, int], judge.Measured]  # of medians over seeds, by (d, p)


DECIDE_FROM = 128  # smaller training sets are not judged
FULL_FROM = 4096  # a scan that reaches so far is judged by the tolerances of the full size
EXPONENTS = {5: (0.69, 0.07), 10: (0.68, 0.07)}  # of the full size, by d

# The claim of the theme regimes that names five of this theme: no study judges them all.
ELSEWHERE = (
    "this row is judged where it is measured: the exponent of the network as COMP-25, the lazy one "
    "as COMP-22, the root of p as COMP-12, the alignment as COMP-38 and COMP-39"
)

claim = judge.Claims()


@claim("COMP-14", "after t* the amplification goes on to a few times what it was")
def _peak(dataset: Data) -> judge.Parts:
    large = _judged(dataset)
    ratios = _ratios(large, "amplification_max", "amplification_star")
    yield from _everywhere("Lambda_max/Lambda*", ratios, 1.5, 6.0)
    yield judge.within(
        "share of runs with the largest after t*", judge.mean_of(large.peak_time > 1), low=0.8
    )
    fits = {d: judge.power_law(large.amplification_max.sel(d=d), "n_train") for d in large.d.values}
    slopes = [f"{fit.exponent:.2f} ± {fit.error:.2f} (d = {d})" for d, fit in fits.items()]
    return _remark(large, f"Lambda_max grows with p to the {', '.join(slopes)}")


@claim("COMP-21", "features make far fewer errors than the kernel at initialisation")
def _lazy(dataset: Data) -> judge.Parts:
    large = _judged(dataset)
    ratios = _ratios(large, "initial_error", "feature_error")
    yield from _everywhere("lazy/feature", ratios, low=1.8)
    return _remark(large)


@claim("COMP-24", "on compressed data the kernel at initialisation does as well")
def _compressed(dataset: Data) -> judge.Parts:
    large = _judged(dataset)
    low, high, least = (0.5, 1.5, 1000) if _is_full(large) else (0.3, 1.2, DECIDE_FROM)
    chosen = large.sel(n_train=large.n_train >= least)
    ratios = _ratios(chosen, "compressed_error", "feature_error")
    yield from _everywhere("compressed/feature", ratios, low, high)
    return _remark(large)


@claim("COMP-25", "the error of the network falls with the predicted exponent")
def _exponent(dataset: Data) -> judge.Parts:
    return _exponents(dataset)


@claim("COMP-26", "the kernel after training comes close to the network, on fresh points")
def _final(dataset: Data) -> judge.Parts:
    large = _judged(dataset)
    first, last = large.n_train.values[[0, -1]]
    level = _ratios(large, "final_error", "feature_error")
    for d in large.d.values:
        start, end = level[d, first], level[d, last]
        yield judge.within(f"final/net at d = {d}, p = {last}", end, high=1.2)
        drop = end.value / start.value
        error = drop * math.hypot(*((each.error or 0.0) / each.value for each in (start, end)))
        name = f"final/net at d = {d}, p = {last} over that at {first}"
        yield judge.within(name, judge.Measured(drop, error), high=1.0)
    better = _ratios(large, "final_error", "initial_error")
    yield from _everywhere("final/initial", better, high=0.75)
    between = ", ".join(f"{ratio.value:.2f} at p = {p}" for (_, p), ratio in level.items())
    left = f"at most {float(large.final_unfitted.max()):.1%} of fresh points lack their margin"
    return _remark(large, f"final/net {between}; {left}")


@claim("REG-64", "the rows COMP-12, -22, -25, -38 and -39 together", report=True)
def _repeated(dataset: Data) -> judge.Parts:
    told = yield from _exponents(dataset)
    return f"{told}; {ELSEWHERE}"


def _exponents(dataset: Data) -> judge.Parts:
    from regimes.theory import beta_feature

    large, limits = _judged(dataset), []
    for d in large.d.values:
        if _is_full(large) and d not in EXPONENTS:
            raise judge.Missing(f"the full size has no expected exponent for d = {d}")
        middle, tolerance = EXPONENTS[d] if _is_full(large) else (0.75, 0.2)
        fit = judge.power_law(large.feature_error.sel(d=d), "n_train")
        found = (-fit.exponent, fit.error)
        yield judge.near(f"exponent at d = {d}", found, middle, tolerance)
        limits.append(f"{beta_feature(d, d - 1):.3f} at d = {d}")
    first, last = large.n_train.values[[0, -1]]
    return _remark(large, f"p = {first} to {last}; (2d-1)/(3d-2) = {', '.join(limits)}")


def _judged(dataset: Data) -> Data:
    """The sizes that are judged, once all has run."""
    need_whole(dataset)
    large = dataset.sel(n_train=dataset.n_train >= DECIDE_FROM).sortby("n_train")
    if large.sizes["n_train"] < 2 or large.sizes["seed"] < 3:
        raise judge.Missing(f"needs two sizes from p = {DECIDE_FROM} on and three seeds")
    return large


def _is_full(dataset: Data) -> bool:
    return bool(dataset.n_train.max() >= FULL_FROM)


def _ratios(dataset: Data, over: str, under: str) -> Ratios:
    pairs = dataset[[over, under]].stack(place=("d", "n_train"))
    return {
        place: judge.median_ratio(here[over], here[under])
        for place, here in ((place, pairs.sel(place=place)) for place in pairs.place.values)
    }


def _everywhere(
    name: str, ratios: Ratios, low: float = -math.inf, high: float = math.inf
) -> judge.Parts:
    several = len({d for d, _ in ratios}) > 1
    for (d, p), ratio in ratios.items():
        yield judge.within(f"{name} at {f'd = {d}, ' if several else ''}p = {p}", ratio, low, high)
    return None


def _remark(dataset: Data, told: str = "") -> str:
    """What is said beside the numbers, with the runs that did not come to their end."""
    count = int((dataset.fitted < 1).sum())
    unfitted = f"{count} of {dataset.fitted.size} runs ended unfitted" if count else ""
    return "; ".join(filter(None, (told, unfitted)))
