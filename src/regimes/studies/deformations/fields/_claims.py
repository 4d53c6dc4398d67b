"""Verdicts on the ensemble of deformations."""

from __future__ import annotations

import numpy as np

from regimes.lab import Data, judge

claim = judge.Claims()

HALF, SHARP = 0, 1  # rules, in the order of the data
RISING = {HALF: {3: 0.85, 10: 0.98, 30: 0.994}, SHARP: {3: 0.56, 10: 0.88, 30: 0.955}}
SIZE = {3: 0.96, 5: 0.94, 10: 0.87, 15: 0.84, 30: 0.83}  # of max Xi over its law, rule "half"


def _of(dataset: Data, name: str) -> Data:
    """One variable, and the seeds that have it."""
    return judge.where_ran(dataset, "seed", name)


def _seeds(at: Data) -> str:
    return f"{at.sizes['seed']} draws"


@claim("DEF-01", "1 +- 0.03 of (pi^2/2) n^2 T, by coefficients and by derivatives on a grid")
def _whole(dataset: Data) -> judge.Parts:
    at = _of(dataset, "norm_whole").norm_whole.transpose("seed", "way").values
    yield judge.near("by coefficients / law", judge.mean_of(at[:, 0]), 1.0, 0.03)
    yield judge.near("on a grid / law", judge.mean_of(at[:, 1]), 1.0, 0.03)
    return f"{len(at)} draws"


@claim("DEF-02", "sampled / exact 1 +- 0.03; exact / asymptote rises to 1 as listed")
def _cut(dataset: Data) -> judge.Parts:
    at = _of(dataset, "norm_sampled")
    found = at.norm_sampled.transpose("seed", "rule", "norm_cut").values
    ratio = at.norm_asymptote.isel(seed=0).transpose("rule", "norm_cut").values
    for row, rule in enumerate(("half", "sharp")):
        for column, c in enumerate(at.norm_cut.values):
            name = f"{rule}, c = {c:g}"
            sampled = judge.mean_of(found[:, row, column])
            yield judge.near(f"sampled / exact, {name}", sampled, 1.0, 0.03)
            if c in RISING[row]:
                expected = RISING[row][int(c)]
                yield judge.near(f"exact / asymptote, {name}", ratio[row, column], expected, 0.01)
    return _seeds(at)


@claim("DEF-03", "mean energy of every mode within 5 standard errors of the others'")
def _equal(dataset: Data) -> judge.Parts:
    at = _of(dataset, "mode_deviation")
    most = float(np.abs(at.mode_deviation.values).max())
    yield judge.below("largest deviation in standard errors", most, 5.0)
    return f"{at.sizes['mode']} modes, {_seeds(at)}"


@claim("DEF-04", "no displacement on the frame (1e-12); |correlation| of components below 0.05")
def _frame(dataset: Data) -> judge.Parts:
    at = _of(dataset, "frame")
    correlation = judge.mean_of(at.correlation.values)
    yield judge.below("|correlation| of dx and dy", abs(correlation), 0.05)
    yield judge.below("largest displacement on the frame", float(at.frame.max()), 1e-12)
    spread = judge.mean_of(at.variance_ratio.values)
    return f"variance of dx over dy {spread}; {_seeds(at)}"


@claim("DEF-05", "exact sums to 3 %; from c = 15 less (pi/4) ln c: -0.50, +0.32 +- 0.04 (sharp)")
def _moves(dataset: Data) -> judge.Parts:
    at = _of(dataset, "move_average")
    for row, rule in enumerate(("half", "sharp")):
        for column, c in enumerate(at.move_cut.values):
            for kind in ("average", "centre"):
                found = at[f"move_{kind}"].transpose("seed", "rule", "move_cut").values
                ratio = judge.mean_of(found[:, row, column])
                yield judge.near(f"{kind} / exact, {rule}, c = {c:g}", ratio, 1.0, 0.03)
    told = []
    for kind, expected in (("average", -0.50), ("centre", 0.32)):
        far = at[f"far_{kind}"].isel(seed=0).transpose("rule", "far_cut").values
        for column, c in enumerate(at.far_cut.values):
            if c >= 15:
                name = f"{kind} less law, sharp, c = {c:g}"
                yield judge.near(name, float(far[SHARP, column]), expected, 0.04)
        told.append(f"{kind} {', '.join(f'{value:.3f}' for value in far[HALF])}")
    return f"the same for the rule half: {'; '.join(told)}; {_seeds(at)}"


@claim("DEF-06", "1/(pi n^2 ln c) moves pixels by half a pixel, to 1e-12", exact=True)
def _lowest(dataset: Data) -> judge.Parts:
    at = _of(dataset, "half_a_pixel")
    yield judge.below("largest |delta(T_min) - 1/2|", float(at.half_a_pixel.max()), 1e-12)
    return "28, 32 and 320 pixels"


@claim("DEF-07", "median of max Xi / law: half 0.96 to 0.83 +- 0.04, sharp 0.72 to 0.83")
def _largest(dataset: Data) -> judge.Parts:
    at = _of(dataset, "xi_ratio")
    found = at.xi_ratio.transpose("seed", "rule", "xi_cut").values
    for column, c in enumerate(at.xi_cut.values):
        if c in SIZE:
            half = judge.mean_of(found[:, HALF, column])
            yield judge.near(f"half, c = {c:g}", half, SIZE[int(c)], 0.04)
            sharp = judge.mean_of(found[:, SHARP, column])
            yield judge.within(f"sharp, c = {c:g}", sharp, 0.72, 0.83)
    return _seeds(at)


@claim("DEF-08", "bijective: 0.4 to 0.95 at T_max, above 0.99 at T_max/4, below 0.1 at 4 T_max")
def _border(dataset: Data) -> judge.Parts:
    at = _of(dataset, "bijective")
    found = at.bijective.transpose("seed", "rule", "border_cut", "times_border").values
    for row, rule in enumerate(("half", "sharp")):
        for column, c in enumerate(at.border_cut.values):
            below, there, over = (judge.mean_of(found[:, row, column, k]) for k in range(3))
            name = f"{rule}, c = {c:g}"
            yield judge.within(f"at T_max, {name}", there, 0.4, 0.95)
            yield judge.above(f"at T_max/4, {name}", below, 0.99)
            yield judge.below(f"at 4 T_max, {name}", over, 0.1)
    return _seeds(at)


@claim("DEF-09", "discs stay whole in 98 % of draws at T_max, in less than half at 30 T_max")
def _torn(dataset: Data) -> judge.Parts:
    at = _of(dataset, "disc_whole")
    found = at.disc_whole.transpose("seed", "border_cut", "times_torn").values
    for column, c in enumerate(at.border_cut.values):
        kept, torn = (judge.mean_of(found[:, column, k]) for k in range(2))
        yield judge.above(f"whole at T_max, c = {c:g}", kept, 0.98)
        yield judge.below(f"whole at 30 T_max, c = {c:g}", torn, 0.5)
    return _seeds(at)


@claim("DEF-10", "4.0020 +- 0.0005", exact=True)
def _pixels(dataset: Data) -> judge.Parts:
    at = _of(dataset, "participation")
    yield judge.near("participation ratio", float(at.participation.values[0]), 4.0020, 5e-4)
    return "sigma = 0.4715; bilinear weights have 4"
