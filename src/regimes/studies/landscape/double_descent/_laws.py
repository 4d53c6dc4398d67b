"""Verdicts on how fluctuations, gradients, boundaries and norms change with N."""

from __future__ import annotations

from functools import partial

import numpy as np

from regimes.lab import Data, judge
from regimes.studies.landscape.double_descent._curves import (
    Curves,
    Values,
    curves,
    explained,
    line_fit,
    log_slope,
    mean,
    middle,
    star,
    three,
)

PAPER_LIMIT = 0.054  # eps_infinity of [Geiger 2020b, fig. 2A] at ten times the points
NARROW, BROAD = 9, 100  # widths of the boundary's estimate
WHOLE = 14, 57  # those of [Geiger 2020b, fig. 9], at its size

claim = judge.Claims()


@claim("LAND-47", "eps = eps_inf + B0 N^-1/2 + B1 N^-3/4 beyond 2 N*")
def asymptotic(dataset: Data) -> judge.Parts:
    own = curves(dataset, "main")
    past = three(own.past(2.0), 4, "N > 2 N*")
    columns = np.stack([own.weights[past] ** p for p in (0.0, -0.5, -0.75)], 1)

    def fit(v: Values) -> tuple[np.ndarray, float]:
        error = v["error"].mean(0)[past]
        found = np.linalg.lstsq(columns, error, rcond=None)[0]
        return found, explained(error, columns @ found)

    yield judge.above("R^2", own.of(lambda v: fit(v)[1]), 0.9)
    yield judge.above("B0", own.of(lambda v: fit(v)[0][1]), 0.0)
    limits = (0.045, 0.065) if own.whole else (PAPER_LIMIT, np.inf)
    yield judge.within("eps_inf", own.of(lambda v: fit(v)[0][0]), *limits)
    limit, b0, b1 = fit(own.values)[0]
    return f"eps_inf = {limit:.3f}, B0 = {b0:.3g}, B1 = {b1:.3g} from N = {own.listed(past)}"


@claim("LAND-48", "the error differs little between initialisations, less as N grows")
def averaging(dataset: Data) -> judge.Parts:
    own = curves(dataset, "main")
    past = three(own.past(2.0), 2, "N > 2 N*")

    def spread(v: Values) -> np.ndarray:
        return np.asarray((v["error"].std(0, ddof=1) / v["error"].mean(0))[past])

    yield judge.below("largest std/mean", own.of(lambda v: spread(v).max()), 0.12)
    yield judge.below(
        "std/mean, widest over narrowest", own.of(lambda v: spread(v)[-1] / spread(v)[0]), 1.0
    )
    return f"std/mean: {', '.join(f'{each:.3f}' for each in spread(own.values))}"


@claim("LAND-53", "fluctuations peak at N* and fall as N^-1/4")
def fluctuations(dataset: Data) -> judge.Parts:
    own = curves(dataset, "main")
    if own.whole:
        last, limits = three(own.weights > 1e5, 3, "N > 1e5"), (-0.3, -0.2)
    else:
        last, limits = np.arange(len(own.weights)) >= len(own.weights) - 3, (-0.55, -0.2)
    three(own.past(1.0), 3, "N > N*")

    def rms(v: Values, name: str) -> np.ndarray:
        return np.asarray(np.sqrt(np.square(v[name]).mean(0)))

    def exponent(v: Values, name: str) -> float:
        return log_slope(own.weights[last], rms(v, name)[last])

    def place(v: Values, name: str) -> float:
        return float(own.weights[rms(v, name).argmax()] / star(own.weights, v["fitted"]))

    for name, points in (("apart_test", "test"), ("apart_train", "training")):
        yield judge.within(
            f"exponent on {points} points", own.of(partial(exponent, name=name)), *limits
        )
        yield judge.within(
            f"N / N* of the largest on {points} points", own.of(partial(place, name=name)), 0.6, 1.5
        )
    shown = ", ".join(f"{each:.3g}" for each in rms(own.values, "apart_test"))
    return f"on test points, narrow to wide: {shown}; exponent of N = {own.listed(last)}"


@claim("LAND-54", "|grad f| falls beyond N*, as C0 + C1 N^-1/4")
def gradient(dataset: Data) -> judge.Parts:
    own = curves(dataset, "main")
    past, far = three(own.past(1.0), 3, "N > N*"), three(own.past(2.5), 3, "N > 2.5 N*")

    def fit(v: Values) -> tuple[float, float, float]:
        return line_fit(own.weights[far] ** -0.25, middle(v["steepness"])[far])

    def rise(v: Values) -> float:
        found = middle(v["steepness"])[past]
        return float((found[1:] / found[:-1]).max())

    yield judge.below("largest ratio of a width to the one before", own.of(rise), 1.0)
    yield judge.above("R^2", own.of(lambda v: fit(v)[2]), 0.8)
    yield judge.above("C1 / |C0|", own.of(lambda v: fit(v)[0] / abs(fit(v)[1])), 10.0)
    c1, c0, _ = fit(own.values)
    shown = ", ".join(f"{each:.3g}" for each in middle(own.values["steepness"]))
    return f"C0 = {c0:.3g}, C1 = {c1:.3g}; |grad f|, narrow to wide: {shown}"


@claim("LAND-55", "eps = eps_inf + D0 delta^2 beyond 2.5 N*")
def quadratic(dataset: Data) -> judge.Parts:
    own = curves(dataset, "main")
    far = three(own.past(2.5), 3, "N > 2.5 N*")

    def fit(v: Values) -> tuple[float, float, float]:
        return line_fit(mean(v["distance"])[far] ** 2, v["error"].mean(0)[far])

    yield judge.above("R^2", own.of(lambda v: fit(v)[2]), 0.85)
    yield judge.above("D0", own.of(lambda v: fit(v)[0]), 0.0)
    return f"eps_inf = {fit(own.values)[1]:.3f}; {int(far.sum())} widths"


@claim("LAND-56", "delta is proportional to |delta f| / |grad f| beyond 2.5 N*")
def boundary(dataset: Data) -> judge.Parts:
    own = curves(dataset, "main")
    far = three(own.past(2.5), 3, "N > 2.5 N*")

    def logs(v: Values) -> tuple[float, float, float]:
        x, y = (mean(v[name])[far] for name in ("distance_overall", "distance"))
        return line_fit(np.log(x), np.log(y))

    yield judge.within("exponent", own.of(lambda v: logs(v)[0]), 0.8, 1.4)
    yield judge.above("R^2", own.of(lambda v: logs(v)[2]), 0.95)
    flat = float(own.table.flat.mean())
    return f"N = {own.listed(far)}; left out for a flat output: {flat:.2g} points a network"


@claim("LAND-57", "the gain of the ensemble falls as N^-1/2 beyond 4 N*")
def gain(dataset: Data) -> judge.Parts:
    own = curves(dataset, "main")
    far = three(own.past(4.0), 3, "N > 4 N*")
    error = own.values["error"]
    found = error.mean(0) - own.together
    others = (error.sum(0) - error) / (own.seeds - 1) - own.values["ensemble_without"]
    if (found[far] <= 0).any() or (others[:, far] <= 0).any():
        raise judge.Missing("an ensemble is no better than its networks")
    slopes = [log_slope(own.weights[far], each[far]) for each in others]
    yield judge.within(
        "exponent", judge.left_out(log_slope(own.weights[far], found[far]), slopes), -0.75, -0.3
    )
    if own.whole:  # the constant of the paper's fit
        powers = np.stack([own.weights[far] ** p for p in (-0.5, -0.75)], 1)
        fits = [np.linalg.lstsq(powers, each[far], rcond=None)[0][0] for each in (found, *others)]
        yield judge.within("E0", judge.left_out(fits[0], fits[1:]), 5.0, 11.0)
    shown = ", ".join(f"{100 * each:.2f}" for each in found[far])
    return f"gain in % at N = {own.listed(far)}: {shown}; {own.seeds} networks together"


@claim("LAND-58", "the linear estimate of the boundary holds, better for wide networks")
def probes(dataset: Data) -> judge.Parts:
    own = curves(dataset, "main")
    few, many = WHOLE if own.whole else (NARROW, BROAD)
    at = {h: np.flatnonzero(own.widths == h) for h in (few, many)}
    if not all(len(found) for found in at.values()):
        raise judge.Missing(f"the widths {few} and {many} are needed")
    narrow, broad = (int(found[0]) for found in at.values())

    def crossing(v: Values, at: int) -> float:
        return float(middle(v["probe_ratio"])[at])

    for h, i in ((few, narrow), (many, broad)):
        found = own.of(partial(crossing, at=i))
        yield judge.near(f"crossing over prediction at h = {h}", found, 1.0, 0.05)

    def more(v: Values, name: str) -> float:
        return float(mean(v[name])[broad] - mean(v[name])[narrow])

    yield judge.above(
        f"share within 5 %: gain from h = {few} to {many}",
        own.of(lambda v: more(v, "probe_close")),
        0.0,
    )
    yield judge.below(
        "share without a crossing: change", own.of(lambda v: more(v, "probe_missed")), 0.0
    )
    close, missed = (
        mean(own.values[f"probe_{name}"])[[narrow, broad]] for name in ("close", "missed")
    )
    return f"within 5 %: {close[0]:.2f}, {close[1]:.2f}; without: {missed[0]:.2f}, {missed[1]:.2f}"


def divergence(own: Curves, v: Values) -> float:
    """Slope of log |f|^2 against log(N/N* - 1) for N/N* - 1 in (0.1, 3)."""
    excess = own.weights / star(own.weights, v["fitted"]) - 1
    near = (excess > 0.1) & (excess < 3)
    if near.sum() < 3:
        raise judge.Missing(f"{int(near.sum())} widths with 0.1 < N/N* - 1 < 3, three are needed")
    return log_slope(excess[near], middle(v["square"])[near])


@claim("LAND-63", "|f|^2 grows as (N/N* - 1)^-2 towards N*")
def norm(dataset: Data) -> judge.Parts:
    own = curves(dataset, "main")

    def fall(v: Values) -> float:
        at = star(own.weights, v["fitted"])
        logs = np.interp(np.log([at, 10 * at]), np.log(own.weights), np.log(middle(v["square"])))
        return float(np.exp(logs[0] - logs[1]))

    limits = (-2.3, -1.7) if own.whole else (-2.6, -0.9)
    yield judge.within("exponent", own.of(lambda v: divergence(own, v)), *limits)
    yield judge.above("|f|^2 at N* over that at 10 N*", own.of(fall), 30.0)
    shown = ", ".join(f"{each:.3g}" for each in middle(own.values["square"]))
    told = []
    for factor in (0.9, 1.1):
        excess = own.weights / (factor * own.star) - 1
        near = (excess > 0.1) & (excess < 3)
        told.append(f"{log_slope(excess[near], middle(own.values['square'])[near]):.2f}")
    return (
        f"N* = {own.star:.0f} (exponents {' and '.join(told)} with 0.9 and 1.1 times it); "
        f"|f|^2, narrow to wide: {shown}"
    )


@claim("LAND-64", "the largest |f|^2 grows with the time of training")
def cut_off(dataset: Data) -> judge.Parts:
    own = curves(dataset, "main")
    times = judge.need(own.table, "third").third.values
    course = own.table.square_course.transpose("seed", "third", "trial").values

    def tops(drawn: np.ndarray) -> np.ndarray:
        return np.asarray(np.median(drawn, 0).max(-1))

    def growth(drawn: np.ndarray, later: int) -> float:
        found = tops(drawn)
        return float(found[later] / found[later - 1])

    for later in (1, 2):
        found = judge.resampled(course, partial(growth, later=later), resamples=200)
        yield judge.above(
            f"largest |f|^2 at {times[later]:g} steps over that at {times[later - 1]:g}", found, 1.0
        )
    where = [f"{own.weights[each.argmax()]:.0f}" for each in np.median(course, 0)]
    shown = ", ".join(f"{each:.3g}" for each in tops(course))
    return f"largest {shown} at N = {', '.join(where)}"
