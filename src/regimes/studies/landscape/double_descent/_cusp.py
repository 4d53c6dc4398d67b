"""Verdicts on the cusp, early stopping and ensembles."""

from __future__ import annotations

from functools import partial

import numpy as np

from regimes.lab import Data, judge
from regimes.studies.landscape.double_descent._curves import (
    Curves,
    Values,
    curves,
    star,
    steps_to_fit,
    three,
)

FLOOR = 0.06  # the maximum is looked for where N is above this times P
WIDE = 50.0  # N / N* of networks far beyond the transition
AROUND = (0.6, 1.7)  # N / N* across the transition

claim = judge.Claims()


def peak(own: Curves, values: Values, name: str = "error") -> int:
    """The width of the largest mean error among those with N >= FLOOR P."""
    mean = values[name].mean(0)
    return int(np.where(own.weights >= FLOOR * own.n_train, mean, -np.inf).argmax())


def place_of_peak(own: Curves) -> judge.Measured:
    """N / N* there."""
    return own.of(lambda v: own.weights[peak(own, v)] / star(own.weights, v["fitted"]))


def _cusp(own: Curves, times: float = 1.0) -> judge.Parts:
    far = three(own.weights >= WIDE * own.star, 1, f"N >= {WIDE:g} N*")
    yield judge.within("N / N* of the largest error", place_of_peak(own), 0.6, 1.5)

    def above_wide(v: Values) -> float:
        mean = v["error"].mean(0)
        return float(mean[peak(own, v)] - mean[far].mean())

    def above_narrow(v: Values) -> float:
        mean, at = v["error"].mean(0), peak(own, v)
        if not at:
            raise judge.Missing("the error is largest at the narrowest width")
        return float(mean[at] - mean[:at].min())

    yield judge.above("peak less the error far beyond", own.of(above_wide), 0.03 * times)
    yield judge.above("peak less the minimum before it", own.of(above_narrow), 0.01 * times)
    return None


def remark(own: Curves) -> str:
    """N* and the curve in words."""
    mean = own.values["error"].mean(0)
    shown = ", ".join(f"{n:.0f}: {100 * e:.1f}" for n, e in zip(own.weights, mean, strict=True))
    return f"N* = {own.star:.0f}; error in % at N = {shown}; {own.seeds} seeds"


@claim("LAND-39", "the error peaks at N*, with a minimum before it, and falls beyond")
def cusp(dataset: Data) -> judge.Parts:
    own = curves(dataset, "main")
    yield from _cusp(own)
    return remark(own)


@claim("LAND-40", "what training on adds to the error is largest at N*, the best error is smooth")
def early(dataset: Data) -> judge.Parts:
    own = curves(dataset, "main")

    def over(v: Values) -> np.ndarray:
        return np.asarray((v["error"] - v["early_error"]).mean(0))

    near = (own.weights >= AROUND[0] * own.star) & (own.weights <= AROUND[1] * own.star)
    three(near, 2, "widths across N*")
    yield judge.within(
        "N / N* of the largest overfitting",
        own.of(lambda v: own.weights[over(v).argmax()] / star(own.weights, v["fitted"])),
        *AROUND,
    )
    yield judge.below(
        "overfitting of the widest / largest", own.of(lambda v: over(v)[-1] / over(v).max()), 1 / 3
    )
    yield judge.below(
        "range of the best error across N*",
        own.of(lambda v: float(np.ptp(v["early_error"].mean(0)[near]))),
        0.02,
    )
    shown = ", ".join(f"{100 * each:.1f}" for each in over(own.values))
    return f"overfitting in %, narrow to wide: {shown}; the best error is that of the test points"


@claim("LAND-41", "the peaks of P = 500 and 1000 lie at one N / N* within 40 %")
def aligned(dataset: Data) -> judge.Parts:
    one, other = (place_of_peak(curves(dataset, block)) for block in ("half", "main"))
    yield judge.near("ratio of N / N* at the peaks", other / one, 1.0, 0.4)
    return f"at N / N* = {one} and {other}"


@claim("LAND-42", "beyond N* wider networks take fewer steps to fit")
def sooner(dataset: Data) -> judge.Parts:
    from scipy.stats import spearmanr

    own = curves(dataset, "main")
    past = three(own.past(1.0), 3, "N > N*")

    def order(v: Values) -> float:
        return float(spearmanr(own.weights[past], steps_to_fit(v)[past]).statistic)

    yield judge.below("Spearman of N and steps", own.of(order), -0.8)
    shown = ", ".join(f"{each:.0f}" for each in steps_to_fit(own.values)[past])
    return f"median steps beyond N*: {shown}"


@claim("LAND-43", "the cusp at two and at three hidden layers, with half the heights")
def depths(dataset: Data) -> judge.Parts:
    told = []
    for block, depth in (("half", 2), ("deep", 3)):
        own = curves(dataset, block)
        for part in _cusp(own, 0.5):
            yield judge.within(
                f"L = {depth}: {part.name}", (part.measured, part.error), part.low, part.high
            )
        told.append(f"L = {depth}: {remark(own)}")
    return "; ".join(told)


@claim("LAND-45", "no training point is misclassified from 1.3 N* on")
def trained(dataset: Data) -> judge.Parts:
    own = curves(dataset, "main")
    past = three(own.weights >= 1.3 * own.star, 1, "N >= 1.3 N*")
    wrong = own.values["train_error"].mean(0)
    yield judge.below(
        "largest training error beyond",
        own.of(lambda v: v["train_error"].mean(0)[past].max()),
        0.0,
    )
    shown = ", ".join(f"{n:.0f}: {100 * e:.2g}" for n, e in zip(own.weights, wrong, strict=True))
    return f"N* = {own.star:.0f}; training error in % at N = {shown}"


@claim("LAND-46", "the ensemble's error is flat beyond N*, a single network's is not")
def flat(dataset: Data) -> judge.Parts:
    own = curves(dataset, "main")
    past = three(own.weights >= 1.5 * own.star, 3, "N >= 1.5 N*")
    yield judge.below(
        "range of the ensemble's error",
        own.of_groups(lambda g: float(np.ptp(g.mean(0)[past]))),
        0.015,
    )
    yield judge.above(
        "range of a single network's error",
        own.of(lambda v: float(np.ptp(v["error"].mean(0)[past]))),
        0.025,
    )
    errors = ", ".join(f"{100 * each:.1f}" for each in own.groups.mean(0)[past])
    count = len(own.groups)
    return f"{count} ensembles of {own.seeds // count}; their errors in %: {errors}"


@claim("LAND-66", "an ensemble just past N* is as good as one far beyond, at a tenth of the cost")
def cheap(dataset: Data) -> judge.Parts:
    own = curves(dataset, "main")
    near = (own.weights >= 1.5 * own.star) & (own.weights <= 4 * own.star)
    three(near, 1, "1.5 N* <= N <= 4 N*")
    far = three(own.weights >= WIDE * own.star, 1, f"N >= {WIDE:g} N*")

    def worse(groups: np.ndarray) -> float:
        mean = groups.mean(0)
        return float(mean[near].max() - mean[far].mean())

    yield judge.below(
        "ensemble error just past N* less that far beyond", own.of_groups(worse), 0.006
    )
    share = own.weights[near].max() / own.weights[far].min()
    yield judge.below("operations of a prediction, of those far beyond", share, 0.1)
    return f"N = {own.listed(near)} against {own.listed(far)}"


@claim("LAND-77", "without the initial function: the peak within 30 %, ensembles better as before")
def subtracted(dataset: Data) -> judge.Parts:
    plain, without = curves(dataset, "half"), curves(dataset, "subtracted")
    places = [place_of_peak(own) for own in (plain, without)]
    yield judge.near("ratio of N / N* at the peaks", places[1] / places[0], 1.0, 0.3)
    for name, own in (("as it is", plain), ("without the initial function", without)):
        past = three(own.weights >= 1.5 * own.star, 3, "N >= 1.5 N*")
        single = own.values["error"].mean(0)[past]
        gain = own.of_groups(partial(_least_gain, single=single, past=past))
        yield judge.above(f"least gain of an ensemble, {name}", gain, 0.0)
    return f"peaks at N / N* = {places[0]} and {places[1]}; without: {remark(without)}"


def _least_gain(groups: np.ndarray, single: np.ndarray, past: np.ndarray) -> float:
    return float((single - groups.mean(0)[past]).min())


@claim("LAND-68", "steps to fit within a factor 2.5 at a rate that falls as h^-1.5")
def constant_steps(dataset: Data) -> judge.Parts:
    own = curves(dataset, "rates")
    steps = steps_to_fit(own.values)
    if not np.isfinite(steps).all() or len(own.widths) < 3:
        raise judge.Missing("three widths are needed at which some run fits")

    def factor(v: Values) -> float:
        found = steps_to_fit(v)
        return float(np.nanmax(found) / np.nanmin(found))

    yield judge.below("most over fewest steps", own.of(factor), 2.5)
    shown = ", ".join(f"{s:.0f} (h = {h:g})" for s, h in zip(steps, own.widths, strict=True))
    return f"median steps {shown}"
