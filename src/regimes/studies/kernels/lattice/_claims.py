"""Verdicts on the error on lattices."""

from __future__ import annotations

import math

import numpy as np

import regimes as rg
from regimes.lab import Data, Values, judge, ran

claim = judge.Claims()


def slopes(errors: Values, sizes: Values) -> np.ndarray:
    """Minus the local slopes in N, from each size to the next, of the last dimension."""
    logs = np.log(errors.transpose(..., *sizes.dims).values)
    return np.asarray(-np.diff(logs) / np.diff(np.log(sizes.values.astype(float))))


@claim("KER-11b", "Laplace teacher, Gaussian student, d = 1: slope 1 +- 0.02", exact=True)
def _smooth_student(dataset: Data) -> judge.Parts:
    at = ran(dataset, "relations")
    kept = at.isel(size=at.N.values >= 32)
    found = slopes(kept.gauss_error, kept.N)
    yield judge.near("lowest slope", float(found.min()), 1.0, 0.02)
    yield judge.near("highest slope", float(found.max()), 1.0, 0.02)
    return f"N = 32 to {int(kept.N.max())}, both lengths that of the box"


@claim("KER-15", "last slope in N within 0.01 of min(alpha_T - d, 2 alpha_S)", exact=True)
def _theorem(dataset: Data) -> judge.Parts:
    at = ran(dataset, "theorem")
    for d, name in enumerate(("line", "plane", "space"), 1):
        last = slopes(at[f"{name}_error"], at[f"{name}_N"])[:, -1]
        teachers, students = at[f"{name}_teacher"].values, at[f"{name}_student"].values
        for found, alpha_T, alpha_S in zip(last, teachers, students, strict=True):
            goal = d * rg.theory.beta(float(alpha_T), float(alpha_S), d)
            yield judge.near(f"d = {d}, ({alpha_T:g}, {alpha_S:g})", found, goal, 0.01)
    cuts = ", ".join(f"{float(at[f'{n}_cut'].max()):.1e}" for n in ("line", "plane", "space"))
    return f"half of the images change errors by at most {cuts} of them in d = 1, 2, 3"


@claim(
    "KER-16", "sum and solved lattice differ by less than 1e-2, less with more modes", exact=True
)
def _direct(dataset: Data) -> judge.Parts:
    at = ran(dataset, "direct")
    summed = at.summed.transpose("direct_size", "modes").values
    gaps = np.abs(summed / at.solved.values[:, None] - 1).max(0)
    yield judge.below("largest relative difference, 4000 modes", gaps[-1], 1e-2)
    yield judge.below("of that with fewer modes", gaps[-1] / gaps[0], 1.0)
    told = ", ".join(f"{gap:.1e}" for gap in gaps)
    modes = ", ".join(str(int(each)) for each in at.mode_count.values)
    return f"{told} with {modes} modes; N = 6 to 12"


@claim("KER-16b", "fields drawn on a fine lattice have the error of the formula within 5 %")
def _sampled(dataset: Data) -> judge.Parts:
    at = ran(dataset, "sampled")
    ratio = (at.sampled_error / at.sampled_formula).transpose("seed", "sampled_size")
    for k, N in enumerate(at.sampled_N.values):
        yield judge.near(f"ratio, N = {int(N)}", judge.mean_of(ratio.values[:, k]), 1.0, 0.05)
    return f"{len(ratio)} draws of many fields each"


@claim("KER-17", "expansion within 1 %; the printed one is a sixth of the truth", exact=True)
def _expansion(dataset: Data) -> judge.Parts:
    at = ran(dataset, "relations")
    kept = at.N.values >= 64
    ratio = (at.expansion / at.exact_error).values[kept]
    printed = (at.expansion_printed / at.exact_error).values[kept]
    yield judge.near("expansion over the error, furthest from 1", _furthest(ratio, 1), 1.0, 0.01)
    yield judge.near("printed over the error", _furthest(printed, 1 / 6), 1 / 6, 0.01 / 6)
    return f"alpha_T = 9, alpha_S = 2, N = {', '.join(str(n) for n in at.N.values[kept])}"


@claim(
    "KER-18", "alpha_T = 3: same slope for alpha_S = 3, 4, 6; errors 1.015 and 1.052", exact=True
)
def _optimal(dataset: Data) -> judge.Parts:
    at = ran(dataset, "relations")
    kept = at.isel(size=(at.N.values >= 32) & (at.N.values <= 128))
    found = slopes(kept.smooth_error, kept.N)
    yield judge.below("largest difference of slopes", float(np.ptp(found, axis=0).max()), 0.01)
    rows = dict(
        zip(
            at.alpha_S.values.tolist(),
            kept.smooth_error.transpose("student", "size").values,
            strict=True,
        )
    )
    if not {3.0, 4.0, 6.0} <= set(rows):
        raise judge.Missing("needs alpha_S = 3, 4 and 6")
    for student, goal in ((4.0, 1.015), (6.0, 1.052)):
        ratio = rows[student] / rows[3.0]
        yield judge.near(f"alpha_S = {student:g} over optimal", _furthest(ratio, goal), goal, 2e-3)
        yield judge.below(f"alpha_S = {student:g}, change with N", float(np.ptp(ratio)), 1e-3)
    return "N = 32 to 128"


@claim("KER-19", "alpha_T - 1 = 2 alpha_S = 4: slopes from 3.84 to 3.88, rising", exact=True)
def _logarithm(dataset: Data) -> judge.Parts:
    at = ran(dataset, "relations")
    found = slopes(at.log_error, at.N)
    if int(at.N.max()) < 256:
        raise judge.Missing("needs N up to 256")
    # the ledger gives three digits
    yield judge.within("lowest slope", found.min(), 3.835, 3.885)
    yield judge.within("highest slope", found.max(), 3.835, 3.885)
    yield judge.above("least rise", float(np.diff(found).min()), 0.0)
    return f"slopes {', '.join(f'{each:.3f}' for each in found)} for N = 16 to 256"


@claim(
    "KER-24",
    "error over the power above N/2: pi^2/6 within 2 % for (2,2); grows for (8,2)",
    exact=True,
)
def _proportional(dataset: Data) -> judge.Parts:
    at = ran(dataset, "relations")
    ratio = (at.tail_error / at["tail"]).transpose("tail_case", "size").values
    kept = at.N.values >= 64
    goal = math.pi**2 / 6
    yield judge.near("(2, 2), N >= 64", _furthest(ratio[0, kept], goal), goal, 0.02 * goal)
    growth = np.diff(np.log(ratio[1])) / np.diff(np.log(at.N.values.astype(float)))
    yield judge.above("(8, 2), slowest growth exponent", float(growth.min()), 1.0)
    return f"(8, 2): ratio from {ratio[1, 0]:.3g} to {ratio[1, -1]:.3g}"


def _furthest(values: np.ndarray, goal: float) -> float:
    return float(values[np.abs(values - goal).argmax()])
