"""Verdicts on formulas and on what needs no widths."""

import numpy as np

from regimes.lab import Claim, Data, judge, ran
from regimes.studies.regimes._remarks import numbers, with_errors
from regimes.studies.regimes.foundations._forms import FACTORS, SHARPNESS
from regimes.studies.regimes.foundations._judging import EXACT, farthest, largest_gap, slope

claim = judge.Claims()


@claim("REG-01", "same weights to 1e-10")
def same_model(dataset: Data) -> judge.Parts:
    data = ran(dataset, "parametrisation")
    yield judge.below("relative gap of the weights", data.same_gap, EXACT)
    yield judge.below("of the times t and t_code scale/h", data.same_time_gap, EXACT)
    return (
        f"scale = {numbers(data.same_scales)}, L=2, up to {int(data.same_steps)} steps until all "
        f"margins are reached; weights moved by up to {float(data.same_moved):.3g}"
    )


@claim("REG-02", "1.4044 ± 5e-4", exact=True)
def factors(dataset: Data) -> judge.Parts:
    data = ran(dataset, "forms")
    found = dict(zip(FACTORS, data.factor.values, strict=True))
    yield judge.within("factor of softplus_5", found["softplus_5"], 1.4039, 1.4049)
    gap = largest_gap(data.factor, data.factor_check)
    yield judge.below("gap from another quadrature", gap, 1e-9)
    yield judge.below(
        "gap from the known factors", largest_gap(data.factor, [*FACTORS.values()]), 1e-5
    )
    return ", ".join(f"{name} {value:.6f}" for name, value in found.items())


@claim("REG-03", "largest gap ln2/b to 1e-9", exact=True)
def soft_hinge(dataset: Data) -> judge.Parts:
    data = ran(dataset, "forms")
    off = largest_gap(data.hinge_gap, np.log(2) / np.array(SHARPNESS))
    yield judge.below("largest gap to the hinge off ln2/b by", off, 1e-9)
    yield judge.below("its margin off 1 by", largest_gap(data.hinge_gap_place, 1.0), 1e-9)
    yield judge.above("least gap", data.hinge_below.min(), -1e-12)
    each = zip(SHARPNESS, data.hinge_gap.values, strict=True)
    gaps = ", ".join(f"{gap:.6f} (b={b:g})" for b, gap in each)
    return f"gaps {gaps}, margins from -40 to 40"


@claim("REG-04", "alpha^2 |grad|^2 = sigmoid(20)^2 y.Theta.y/n^2 to 1e-10")
def early_speed(dataset: Data) -> judge.Parts:
    data = ran(dataset, "early-speed")
    alphas = data.speed_alpha.values
    spread = float((data.speed.max("speed_scale") / data.speed.min("speed_scale") - 1).max())
    gap = np.abs(data.speed / data.speed_predicted - 1).max()
    yield judge.below("alpha^2 |grad|^2 off sigmoid(20)^2 y.Theta.y/n^2 by", gap, EXACT)
    return (
        f"largest relative gap, alpha = {alphas.min():g} to {alphas.max():g}, "
        f"{data.sizes['speed_seed']} networks; spread over alpha {spread:.1e}"
    )


@claim("REG-05", "243", exact=True)
def counts(dataset: Data) -> Claim:
    data = ran(dataset, "forms")
    found = data["count"].values  # Dataset has a method of this name
    return Claim.holds(
        "REG-05",
        bool(found[0] == 243 and (found == data.count_formula.values).all()),
        "243 for 7-9-9-9-2, and d h + (L-1) h^2 + h c",
        measured=float(found[0]),
        why=f"counts {numbers(found, '.0f')} of four shapes",
    )


@claim("REG-66", "-1/d within 10 %")
def neighbours(dataset: Data) -> judge.Parts:
    data = ran(dataset, "neighbours").swap_dims(torus_points="torus_p")
    dimensions = data.torus_d.values
    found = [
        slope(data.neighbour.isel(torus=i), "torus_p", "torus_draw", times=float(d))
        for i, d in enumerate(dimensions)
    ]
    yield judge.near("d times the exponent, farthest off", farthest(found, -1.0), -1.0, 0.1)
    return f"d times the exponent in P: {with_errors(found)} for d = {numbers(dimensions)}"
