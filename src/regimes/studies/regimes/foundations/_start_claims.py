"""Verdicts on what needs no training (spec `regimes` 3), with the numbers they rest on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from regimes.lab import Claim
from regimes.studies._parts import Part, claim_of_parts
from regimes.studies.regimes.foundations._forms import FACTORS, SHARPNESS

if TYPE_CHECKING:
    import xarray as xr

EXACT = 1e-10


def slope(x: Any, y: Any) -> tuple[float, float]:
    """Exponent and its error of the mean over seeds, y of shape (seeds, x)."""
    from regimes.measure import power_law

    fit = power_law(np.asarray(x, dtype=float), np.asarray(y), center="mean")
    return fit.exponent, fit.error


def farthest(found: list[tuple[float, float]], expected: float) -> tuple[float, float]:
    """The exponent that is farthest from what is expected, with its error."""
    return max(found, key=lambda each: abs(each[0] - expected))


def with_errors(found: list[tuple[float, float]]) -> str:
    return ", ".join(f"{value:.3f} ± {error:.2g}" for value, error in found)


def numbers(values: Any) -> str:
    return ", ".join(f"{value:g}" for value in values)


def same_model_claim(at: xr.Dataset) -> Claim:
    parts = [
        Part("relative gap of the weights", float(at.same_gap), high=EXACT),
        Part("of the times t and t_code at/h", float(at.same_time_gap), high=EXACT),
    ]
    return claim_of_parts(
        "REG-01",
        parts,
        why=(
            f"at = {numbers(at.same_ats.values)}, L=2, up to "
            f"{int(at.same_steps)} steps until all margins are reached; weights moved by up to "
            f"{float(at.same_moved):.3g}"
        ),
    )


def factor_claim(at: xr.Dataset) -> Claim:
    factors = at.factor.values
    names = list(FACTORS)
    parts = [
        Part("factor of softplus_5", factors[names.index("softplus_5")], 1.4039, 1.4049),
        Part(
            "gap from another quadrature", largest_gap(factors, at.factor_check.values), high=1e-9
        ),
        Part("gap from the table of S2", largest_gap(factors, list(FACTORS.values())), high=1e-5),
    ]
    listing = ", ".join(f"{name} {value:.6f}" for name, value in zip(names, factors, strict=True))
    return claim_of_parts("REG-02", parts, why=listing)


def largest_gap(one: Any, other: Any) -> float:
    return float(np.abs(np.asarray(one) - np.asarray(other)).max())


def soft_hinge_claim(at: xr.Dataset) -> Claim:
    predicted = np.log(2) / np.array(SHARPNESS)
    parts = [
        Part(
            "largest gap to the hinge off ln2/b by", largest_gap(at.hinge_gap, predicted), high=1e-9
        ),
        Part("its margin off 1 by", largest_gap(at.hinge_gap_place, 1.0), high=1e-9),
        Part("least gap", float(at.hinge_below.min()), low=-1e-12),
    ]
    gaps = ", ".join(
        f"{g:.6f} (b={b:g})" for b, g in zip(SHARPNESS, at.hinge_gap.values, strict=True)
    )
    return claim_of_parts("REG-03", parts, why=f"gaps {gaps}, margins from -40 to 40")


def early_claim(at: xr.Dataset) -> Claim:
    gap = float(np.abs(at.speed / at.speed_predicted - 1).max())
    alphas = at.speed_alpha.values
    spread = float((at.speed.max("speed_scale") / at.speed.min("speed_scale") - 1).max())
    return Claim.between(
        "REG-04",
        gap,
        high=EXACT,
        expected="alpha^2 |grad|^2 = sigmoid(20)^2 y.Theta.y/n^2 to 1e-10",
        why=(
            f"largest relative gap, alpha = {alphas.min():g} to {alphas.max():g}, "
            f"{at.sizes['speed_seed']} networks; spread over alpha {spread:.1e}"
        ),
    )


def count_claim(at: xr.Dataset) -> Claim:
    counts = at["count"].values  # Dataset has a method of this name
    return Claim.holds(
        "REG-05",
        bool(counts[0] == 243 and (counts == at.count_formula.values).all()),
        "243 for 7-9-9-9-2, and d h + (L-1) h^2 + h c",
        measured=float(counts[0]),
        why=f"counts {', '.join(str(int(c)) for c in counts)} of four shapes",
    )


def process_claim(at: xr.Dataset) -> Claim:
    predicted, networks = at.process_predicted.values, at.sizes["process_network"]
    gaps = np.abs(at.process_covariance.values - predicted)
    variance = np.diag(predicted)
    errors = np.sqrt((np.outer(variance, variance) + predicted**2) / networks)
    worst = int(gaps.argmax())
    kurtosis = np.abs(at.process_kurtosis.values).max()
    parts = [
        Part(
            "covariance off the recursion by", gaps.flat[worst], high=0.15, error=errors.flat[worst]
        ),
        Part("excess kurtosis", kurtosis, high=0.6, error=(24 / networks) ** 0.5),
    ]
    return claim_of_parts(
        "REG-06",
        parts,
        why=(
            f"largest of {len(predicted)} points, {networks} relu networks, L=2, "
            f"h={int(at.process_width)}; rms gap {np.sqrt((gaps**2).mean()):.3f}"
        ),
    )


def noise_claim(at: xr.Dataset) -> Claim:
    widths, noise = at.noise_width.values, at.noise.values  # (width, seed)
    exponent, error = slope(widths, noise.T**2)
    scaled = np.sqrt((noise**2).mean(1) * widths)
    return Claim.near(
        "REG-07",
        exponent / 2,
        -0.5,
        0.1,
        error=error / 2,
        why=(
            f"relative fluctuation times sqrt h = {', '.join(f'{s:.2f}' for s in scaled)} for h = "
            f"{numbers(widths)}, {noise.shape[1]} networks, L=2; their mean is "
            f"{float(at.limit_distance[-1]):.3f} from the kernel of infinite width at the last"
        ),
    )


def gradients_claim(at: xr.Dataset) -> Claim:
    sizes = at.gradient_size.values  # (seed, width, layer)
    found = [slope(at.layer_width, sizes[..., layer]) for layer in range(sizes.shape[2])]
    inner = farthest(found[1:-1], -1.0)
    parts = [
        Part("first layer", found[0][0], -0.6, -0.4, found[0][1]),
        Part("inner layer", inner[0], -1.1, -0.9, inner[1]),
        Part("readout", found[-1][0], -0.6, -0.4, found[-1][1]),
    ]
    return claim_of_parts(
        "REG-08",
        parts,
        why=(
            f"exponents in h of the rms of df/dW: {with_errors(found)} from first to last layer; "
            f"{_sizes(at)}"
        ),
    )


def _sizes(at: xr.Dataset) -> str:
    widths = at.layer_width.values
    return (
        f"h = {widths.min():g} to {widths.max():g}, L={int(at.layer_depth)}, "
        f"{at.sizes['layer_seed']} networks"
    )


def speeds_claim(at: xr.Dataset) -> Claim:
    speed = at.preact_speed.values  # (width, layer, scale, seed), alpha = .1, 1, 10
    found = [slope(at.layer_width, speed[:, layer, 1].T) for layer in range(speed.shape[1])]
    worst = farthest(found, -0.5)
    scaled = speed * np.array([0.1, 1.0, 10.0])[:, None]
    gap = float(np.abs(scaled / scaled[:, :, 1:2] - 1).max())
    parts = [
        Part("exponent in h", worst[0], -0.62, -0.38, worst[1]),
        Part("alpha times speed changes with alpha by", gap, high=1e-4),
    ]
    return claim_of_parts(
        "REG-09",
        parts,
        why=f"exponents of hidden layers 1 to L: {with_errors(found)}; {_sizes(at)}",
    )


def neighbours_claim(at: xr.Dataset) -> Claim:
    found = []
    for i, d in enumerate(at.torus_d.values):
        exponent, error = slope(at.torus_p, at.neighbour.values[i])
        found.append((exponent * d, error * d))
    worst = farthest(found, -1.0)
    return Claim.near(
        "REG-66",
        worst[0],
        -1.0,
        0.1,
        error=worst[1],
        why=(
            f"d times the exponent in P: {with_errors(found)} for d = "
            f"{numbers(at.torus_d.values)}; shown is the one farthest off"
        ),
    )
