"""Verdicts on what the theory stands on."""

from __future__ import annotations

import numpy as np

from regimes.lab import Data, Values, judge, ran

claim = judge.Claims()


def drawn(values: Values) -> Values:
    """Without the seeds that other checks have and this one has not."""
    return values.dropna("seed", how="all")


@claim("KER-22", "variance of m-th differences: exponent min(2 nu, 2m) within 0.15", exact=True)
def _smoothness(dataset: Data) -> judge.Parts:
    at = ran(dataset, "smoothness")
    logs = np.log(at.difference_variance.transpose("field", "difference", "step_size").values)
    steps = np.log(at.step.values)
    for i, nu in enumerate(at.nu.values):
        for j, m in enumerate(at.order.values):
            slope = float(np.polyfit(steps, logs[i, j], 1)[0])
            yield judge.near(f"nu = {nu:g}, m = {int(m)}", slope, min(2 * nu, 2 * m), 0.15)
    told = ", ".join(f"{int(each)}" for each in at.derivatives.values)
    return f"steps 0.02 to 0.08 of the length; the kernels have {told} derivatives"


@claim("KER-23", "beta = 0.4: s = 157 for d = 784, 3 for d = 15", exact=True)
def _values(dataset: Data) -> judge.Parts:
    at = ran(dataset, "values")
    for d, s, goal in zip(
        at.quoted_dimension.values, at.quoted_smoothness.values, (157, 3), strict=True
    ):
        yield judge.near(f"d = {int(d)}", float(s), goal, 0.5)
    return "s = beta d/2 mean-square derivatives"


@claim(
    "KER-31", "eigenvalues fall as rank^-2 (circle) and rank^-1.5 (S^2), within 0.05", exact=True
)
def _spectra(dataset: Data) -> judge.Parts:
    at = ran(dataset, "spectra")
    ranks = np.log(at.spectrum_rank.values)
    thetas = []
    for name, goal in (("circle", 2.0), ("sphere", 1.5)):
        slope = -float(np.polyfit(ranks, np.log(at[f"{name}_eigenvalue"].values), 1)[0])
        yield judge.near(name, slope, goal, 0.05)
        thetas.append(1 + 1 / slope)
    for theta, goal in zip(thetas, (1.5, 5 / 3), strict=True):
        yield judge.near(f"theta, near {goal:.3g}", theta, goal, 0.05)
    for d, theta, goal in zip((15, 35), at.theta.values, (1.937, 1.972), strict=True):
        yield judge.near(f"theta of d = {d}", float(theta), goal, 1e-3)
    return f"ranks {at.spectrum_rank.values[0]:g} to {at.spectrum_rank.values[-1]:g}"


@claim(
    "KER-32",
    "norms grow as k^(d + alpha_S - alpha_T) or stay bounded; tr K K^-1 = n",
    exact=True,  # sums without chance, and an identity that holds for any points
)
def _space(dataset: Data) -> judge.Parts:
    at = ran(dataset, "space")
    sums = at.growing_sum.transpose("growing", "cut").values
    found = np.log2(sums[:, 2] / sums[:, 1])
    for slope, goal in zip(found, at.growing_exponent.values, strict=True):
        yield judge.near(f"growth, exponent {goal:g}", float(slope), float(goal), 0.05)
    bounded = at.bounded_sum.transpose("bounded", "cut").values
    yield judge.below(
        "bounded sums, last growth", float(np.log2(bounded[:, 2] / bounded[:, 1]).max()), 0.05
    )
    n = float(at.trace_points)
    trace = drawn(at.trace)
    off = np.abs(trace.transpose("seed", "sphere").values / n - 1).max()
    yield judge.below("|tr K K^-1/n - 1|, largest", float(off), 1e-9)
    return f"{trace.sizes['seed']} draws of {n:g} points on the circle and on S^2"


@claim("KER-33", "slopes min(b - 1, 2a) = 1, 2, 3 within 0.03", exact=True)
def _generic(dataset: Data) -> judge.Parts:
    at = ran(dataset, "generic")
    n = np.log(at.generic_n.values.astype(float))
    errors = at.generic_error.transpose("generic_case", "generic_size").values
    for row, goal in zip(errors, at.generic_goal.values, strict=True):
        slope = -float(np.polyfit(n, np.log(row), 1)[0])
        yield judge.near(f"slope {goal:g}", slope, float(goal), 0.03)
    return "lambda = rank^-a, q^2 = rank^-b; (a, b) = (2, 2), (1.5, 3), (1.5, 6)"


@claim("KER-34", "S^2: simulation over formula from 1.0 to 1.15; circle: the same slopes")
def _simulation(dataset: Data) -> judge.Parts:
    at = ran(dataset, "simulation")
    n = at.simulated_n.values.astype(float)
    if n.max() < 256 or 64 not in n:
        raise judge.Missing("needs n = 64 and 256")
    dims = ("simulated_case", "seed", "simulated_size")
    ratio = drawn((at.simulated / at.formula).transpose(*dims)).values
    for size in (64, 256):
        k = int(np.flatnonzero(n == size)[0])
        yield judge.within(f"S^2, n = {size}", judge.mean_of(ratio[0, :, k]), 1.0, 1.15)
    names = ("Laplace", "Matern 1", "Matern 4")
    for name, rows, most in zip(names, ratio[1:], (0.12, 0.2, 0.4), strict=True):
        # medians, as the mean on the circle hangs on its largest gap
        gap = judge.resampled(
            rows, lambda d: float(np.polyfit(np.log(n), np.log(np.median(d, 0)), 1)[0])
        )
        yield judge.near(f"circle, {name}: slope apart by", gap, 0.0, most)
    told = ", ".join(
        f"{name} {judge.median_of(rows[:, -1])}"
        for name, rows in zip(names, ratio[1:], strict=True)
    )
    return f"{ratio.shape[1]} draws; on the circle simulation over formula at n = {n[-1]:g}: {told}"


@claim("KER-35", "difference from scikit-learn's Gaussian process below 1e-8")
def _process(dataset: Data) -> judge.Parts:
    at = ran(dataset, "process")
    gap = drawn(at.process_gap)
    yield judge.below("largest difference, of the largest target", float(gap.values.max()), 1e-8)
    return f"{gap.sizes['seed']} draws, Matern kernels of nu = 1/2 and 3/2"


@claim("KER-36", "conditions missed by less than 1e-3; two points: a = 1/(1 - K_12), b = 0")
def _conditions(dataset: Data) -> judge.Parts:
    at = ran(dataset, "conditions")
    violation, gap = drawn(at.violation), drawn(at.pair_gap)
    yield judge.below("largest violation", float(violation.max()), 1e-3)
    yield judge.below("two points, largest difference", float(gap.max()), 1e-3)
    return f"{violation.sizes['seed']} draws of {int(at.machine_points)} images, C = 10,000"
