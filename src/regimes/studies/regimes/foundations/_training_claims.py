"""Verdicts on what the foundations train (spec `regimes` 3), with the numbers they rest on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from regimes.lab import Claim
from regimes.studies._parts import Part, claim_of_parts
from regimes.studies.regimes.foundations._start_claims import (
    EXACT,
    farthest,
    largest_gap,
    numbers,
    slope,
    with_errors,
)

if TYPE_CHECKING:
    import xarray as xr


def maximal_claim(at: xr.Dataset) -> Claim:
    logs = np.log(at.moved.values)  # (form, width, layer, seed)
    mean = logs.mean(-1)
    error = logs.std(-1, ddof=1) / logs.shape[-1] ** 0.5
    ratios = []
    for layer in range(mean.shape[2]):
        high, low = mean[0, :, layer].argmax(), mean[0, :, layer].argmin()
        ratio = float(np.exp(mean[0, high, layer] - mean[0, low, layer]))
        ratios.append((ratio, ratio * float(np.hypot(error[0, high, layer], error[0, low, layer]))))
    widths = at.move_width.values
    moved = at.moved.values[1]
    lazy = [slope(widths, moved[:, layer].T) for layer in range(moved.shape[1])]
    # Narrow networks have to move farther to fit, so that the exponent settles with the width.
    local = np.diff(np.log(moved.mean(-1)), axis=0) / np.diff(np.log(widths))[:, None]
    worst, steep = max(ratios), farthest(lazy, -0.5)
    sizes = "; ".join("/".join(f"{v:.2f}" for v in np.exp(mean[0, :, k])) for k in range(len(lazy)))
    parts = [
        Part("gap of mean-field and maximal update", float(at.form_gap), high=EXACT),
        Part("largest over smallest change", worst[0], high=1.3, error=worst[1]),
        Part("exponent at alpha=100", steep[0], -0.7, -0.3, steep[1]),
        Part("share of runs that fitted", float(at.move_fitted), low=1.0),
    ]
    return claim_of_parts(
        "REG-70",
        parts,
        why=(
            f"rms change of the pre-activations of layers 1 to 3 for h = "
            f"{numbers(widths)}: {sizes} (mean-field, at=1); exponents in h in the NTK "
            f"form {with_errors(lazy)}, from each width to the next in layer 1 "
            f"{', '.join(f'{each:.2f}' for each in local[:, 0])}"
        ),
    )


def descent_claim(at: xr.Dataset) -> Claim:
    halvings = np.diff(np.log2(at.step_count.values))
    logs = np.diff(np.log2(at.descent_distance.values), axis=0) / halvings[:, None]
    ratios = 2.0**-logs  # by how much the distance falls when the step is halved
    found = [(row.mean(), row.std(ddof=1) / len(row) ** 0.5) for row in ratios]
    worst = farthest(found, 2.0)
    sgd = at.sgd_distance.values
    mean, error = sgd.mean(1), sgd.std(1, ddof=1) / sgd.shape[1] ** 0.5
    falls = mean[1:] / mean[:-1]
    spread = falls * np.hypot(error[1:] / mean[1:], error[:-1] / mean[:-1])
    k = int(falls.argmax())
    parts = [
        Part("ratio of distances", worst[0], 1.7, 2.3, worst[1]),
        Part("SGD, half the rate: distance times", falls[k], high=1.0, error=spread[k]),
    ]
    return claim_of_parts(
        "REG-71",
        parts,
        why=(
            f"descent: ratios {with_errors(found)} for {numbers(at.step_count.values)} "
            f"steps to t = {float(at.step_end):.3g}, where the loss is {float(at.step_loss):.2f} "
            f"of its start; SGD, batches of a tenth, {sgd.shape[1]} orderings: distance "
            f"{', '.join(f'{m:.2g}' for m in mean)} of the way gone"
        ),
    )


def density_claim(at: xr.Dataset) -> Claim:
    from regimes.measure import power_law

    widths, variance = at.field_width.values, at.field_variance.values
    left_out = np.log(at.field_left_out.values)
    n = left_out.shape[1]
    sigma = variance * np.sqrt((n - 1) * left_out.var(1))  # the jackknife's error
    fit = power_law(widths.astype(float), variance, sigma=sigma)
    parts = [
        Part("exponent of the variance", fit.exponent, -1.25, -0.75, fit.error),
        Part("gap of the neuron's potential", float(at.potential_gap), high=1e-12),
        Part("gap with every neuron doubled", float(at.twin_gap), high=1e-12),
        Part("share of runs that fitted", float(at.field_fitted), low=1.0),
    ]
    scaled = ", ".join(f"{v:.3g}" for v in widths * variance)
    return claim_of_parts(
        "REG-73",
        parts,
        why=(f"h var(F) = {scaled} for h = {numbers(widths)}, {n} networks, L=1, at=0.1"),
    )


def stops_claim(at: xr.Dataset) -> Claim:
    weights, moved = at.late_weight.values, at.late_moved.values  # (at, seed, moment)
    growth = weights[..., 1] / weights[..., 0] - 1
    small = int(np.argmin(at.stop_at.values))
    parts = [
        Part("share of soft hinge runs that stopped", float(at.stop_fitted.mean()), low=1.0),
        Part("of hinge runs", float(at.hinge_fitted.mean()), low=1.0),
        Part("hinge's last gradient", float(at.hinge_pull.max()), high=0.0),
        Part("cross-entropy", float(at.late_loss.min()), low=1e-9),
        Part("growth of |w|", float(growth[small].min()), low=1e-9),
        Part("growth of |w - w0|", float((moved[..., 1] / moved[..., 0] - 1).min()), low=1e-9),
    ]
    times = "; ".join(
        f"at={a:g}: t = {', '.join(f'{t:.3g}' for t in row)}"
        for a, row in zip(at.stop_at.values, at.stop_time.values, strict=True)
    )
    return claim_of_parts(
        "REG-74",
        parts,
        why=(
            f"the soft hinge ends at {times}; the cross-entropy is read at 5 times that, its "
            f"growth from 2.5 to 5 times; least growth of |w| for each at "
            f"{', '.join(f'{g:.1e}' for g in growth.min(1))}. |w| is asked to grow at the smallest "
            "at only: in the lazy regime f0 outweighs what is learnt and decides the sign"
        ),
    )


def steps_claim(at: xr.Dataset) -> Claim:
    worst, told = at.check_worst.values, at.check_told.values
    over, forced = at.check_over.values, at.check_forced.values
    agree = float(np.abs(told / worst - 1).max())
    parts = [
        Part("gradient change / eps", worst[..., 1].max() / float(at.check_eps), high=1.0),
        Part("output change", worst[..., 0].max(), high=0.1),
        Part("steps over the output's bound", float(over[..., 0].sum()), high=0.0),
        Part(
            "steps over the gradient's but not forced", largest_gap(over[..., 1], forced), high=0.0
        ),
        Part("record off by", agree, high=1e-3),
    ]
    return claim_of_parts(
        "REG-75",
        parts,
        why=(
            f"eps = {float(at.check_eps):g}, every accepted step measured anew from the weights, "
            f"at = {numbers(at.check_at.values)}; forced steps: softplus_5 "
            f"{numbers(forced[0])}, relu (which may force them) "
            f"{numbers(forced[1])}"
        ),
    )
