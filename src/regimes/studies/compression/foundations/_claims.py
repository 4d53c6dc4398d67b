"""Verdicts on the foundations, each from the check that measures it."""

import numpy as np

from regimes.lab import Claim, Data, ran
from regimes.lab.judge import Claims, Missing, Parts, above, below, log_slope, mean_of, near, within
from regimes.studies.compression._attractors import EDGES, TABLE

PERPENDICULAR = (-0.24897, -0.35591, -0.37833)  # COMP-08, in units of 1/tau
PRINTED = (-0.0993, -0.1420, -0.1509)  # what eq. 15 as printed would give
SETTLED = 0.1  # a neuron this near an attractor of its sign has settled (COMP-09)
EXPECTED = {
    "COMP-01": "mass of the stripe .5 within 1e-5, radius = median of chi_2 within 1e-4",
    "COMP-03": "< 1e-12 in float64, < 1e-6 in float32",
    "COMP-06": "3 of 3, both conditions, for every d",
    "COMP-35": "Gram identity 1e-12, spectrum 1e-10 of the top, x_2^2 - 1 in the null space",
    "COMP-47": "lemma 1e-10, rotated outputs 1e-9, equal mean errors within 2 standard errors",
    "COMP-49": "identities to rounding; stated values to four digits",
}

claim = Claims()


@claim("COMP-01", EXPECTED["COMP-01"])
def _balance(dataset: Data) -> Claim:
    at = ran(dataset, "balance")
    mass, median = float(at.stripe_mass) - 0.5, float(at.chi_median - at.radius)
    means = [float(at[f"{name}_label_mean"]) for name in ("stripe", "cylinder")]
    error = float(at.label_error)
    why = (
        f"mass - .5 = {mass:.1e}, balanced x_max = {float(at.x_max):.6f}, radius "
        f"{float(at.radius):.5f} and chi_2 median differ by {median:.1e}; mean label of draws "
        f"{means[0]:+.4f} (stripe), {means[1]:+.4f} (cylinder), each ± {error:.4f}"
    )
    balanced = abs(mass) < 1e-5 and abs(median) < 1e-4 and max(map(abs, means)) < 4 * error
    return _holds("COMP-01", balanced, mass + 0.5, why)


@claim("COMP-02", "drift proportional to the step (exponent 1 ± 0.1), < 2 % of growth at step .02")
def _conservation(dataset: Data) -> Parts:
    at = ran(dataset, "conservation")
    limits, drift = at.step_limit.values, at.drift.transpose("network", "limit").values
    if len(limits) < 2:
        raise Missing("an exponent needs two step limits, one ran")
    usual = int(np.argmin(abs(limits - 0.02)))
    of_growth = at.drift_of_growth.isel(limit=usual).max()
    yield near("exponent", log_slope(limits, drift), 1.0, 0.1)
    yield below(f"drift / largest growth of beta^2, step {limits[usual]:g}", of_growth, 0.02)
    return (
        f"exponent of the largest drift until t* against the step limit {limits.max():g} to "
        f"{limits.min():g}; {len(drift)} networks, d=5, p=200, h={int(at.conservation_width)}"
    )


@claim("COMP-03", EXPECTED["COMP-03"])
def _gradient(dataset: Data) -> Claim:
    at = ran(dataset, "gradient")
    single, double = float(at.gradient_error_float32), float(at.gradient_error_float64)
    why = (
        f"largest difference over the largest gradient: {double:.1e} in float64, {single:.1e} "
        "in float32; d=5, h=100, p=200, points fitted and not"
    )
    return _holds("COMP-03", single < 1e-6 and double < 1e-12, double, why)


@claim("COMP-04", "<= 4 standard errors")
def _drift(dataset: Data) -> Parts:
    at = ran(dataset, "drift")
    distance = np.abs(at.drift_predicted - at.drift_sampled) / at.drift_error
    yield below("|quadrature - Monte Carlo| / standard error, largest", distance.max(), 4.0)
    return (
        f"{distance.size} averages mu_1, mu_perp, mu_b of {at.sizes['unit']} neurons in d=3; root "
        f"mean square distance {float((distance**2).mean()) ** 0.5:.2f} standard errors; error at "
        f"most {float(at.drift_error.max()):.1e}"
    )


@claim("COMP-06", EXPECTED["COMP-06"])
def _attractors(dataset: Data) -> Claim:
    counts = ran(dataset, "attractors").flags.values.astype(int).sum(1)
    listing = "; ".join(
        f"d={d}: {found} at the tabulated places, {stable} stable, {compress} compressing, by the "
        f"ODE's field {back} drawn back and {grow} with growing lambda"
        for d, (found, stable, compress, back, grow) in zip(TABLE, counts, strict=True)
    )
    return _holds("COMP-06", bool((counts == 3).all()), float(counts.min()), listing)


@claim("COMP-08", "w_perp shrinks at the attractors at the rates of the ODE")
def _perpendicular(dataset: Data) -> Parts:
    rates = ran(dataset, "attractors").perpendicular_rate.values
    worst = int(np.argmax(np.abs(rates - PERPENDICULAR)))
    yield near("rate farthest off", rates[worst], PERPENDICULAR[worst], 1e-3)
    return (
        f"(1/w_perp) dw_perp/dt in 1/tau of the ODE's field at the attractors, lambda = 1000, "
        f"d=2: {', '.join(f'{rate:.5f}' for rate in rates)}; expected "
        f"{', '.join(map(str, PERPENDICULAR))}. Eq. 15 as printed, with 2 pi for its root, would "
        f"give {', '.join(map(str, PRINTED))}"
    )


@claim("COMP-09", "lambda > 20 for >= 80 % of the settled neurons")
def _divergence(dataset: Data) -> Parts:
    at = ran(dataset, "divergence")
    settled, size = settled_neurons(at), at.ode_lambda.isel(moment=-1).values
    count = int(settled.sum())
    if not count:
        raise Missing(f"none of {len(size)} neurons has settled")
    share = float((size[settled] > 20).mean())
    error = max(share * (1 - share) / count, 0.0) ** 0.5
    yield above("share of the settled with lambda > 20", (share, error), 0.8)
    others = f", of the others {np.median(size[~settled]):.2g}" if count < len(size) else ""
    return (
        f"{count} of {len(size)} random neurons have zeta_1 within {SETTLED} of an attractor of "
        "their sign after 40 tau in d=2; their lambda has the median "
        f"{np.median(size[settled]):.2g}{others}"
    )


def settled_neurons(at: Data) -> np.ndarray:
    """Which neurons of the ODE have come to rest near an attractor of the sign of their w_1."""
    from regimes.theory import stripe_fixed_points

    near = np.zeros(at.sizes["ode_neuron"], dtype=bool)
    for point in stripe_fixed_points(*EDGES, 2):
        if point.attractor:
            here = np.abs(at.ode_zeta.values - point.z) < SETTLED
            near |= here & (at.ode_sign_w.values == point.sign_w)
    return near


@claim("COMP-35", EXPECTED["COMP-35"])
def _split(dataset: Data) -> Claim:
    at = ran(dataset, "kernel-split")
    names = ("split_error", "spectrum_error", "null_error")
    gram, spectrum, null = (float(at[name]) for name in names)
    why = (
        f"relative to the largest entry or eigenvalue: Theta_1 + Theta_2 x_perp.z_perp differs "
        f"from the tangent kernel by {gram:.1e}, the spectrum from spec(Theta_1) and d_perp "
        f"copies of spec(Theta_2) by {spectrum:.1e}; the image of x_2^2 - 1 is {null:.1e}"
    )
    return _holds("COMP-35", gram < 1e-12 and spectrum < 1e-10 and null < 1e-12, gram, why)


@claim("COMP-47", EXPECTED["COMP-47"])
def _rotation(dataset: Data) -> Claim:
    at = ran(dataset, "rotation")
    lemma, gap, errors = float(at.lemma_gap), float(at.rotated_gap), at.rotation_error.values
    if errors.shape[1] < 2:
        raise Missing("the error of a mean needs two data sets, one ran")
    plain, rotated = errors.mean(1)
    difference = plain - rotated
    error = float(np.sqrt((errors.var(1, ddof=1) / errors.shape[1]).sum()))
    why = (
        f"gradient lemma for a boost of SO(1,1): {lemma:.1e}; outputs after 100 steps (loss "
        f"{float(at.rotated_loss):.2f}) with data and weights rotated: {gap:.1e}; mean test "
        f"error over {errors.shape[1]} data sets {plain:.4f}, rotated with fresh weights "
        f"{rotated:.4f}, difference {difference:+.4f} ± {error:.4f}"
    )
    same = lemma < 1e-10 and gap < 1e-9 and abs(difference) < 2 * error
    return _holds("COMP-47", same, gap, why)


@claim("COMP-48", ".59 ± .03; noise axes lower it by > .1; zero padding raises it above .85")
def _information(dataset: Data) -> Parts:
    found = ran(dataset, "information").information.transpose("draw", "case").values
    plain, noisy, padded = found.mean(0)
    yield within("bits in one dimension", mean_of(found[:, 0]), 0.56, 0.62)
    yield above("lost by noise axes", plain - noisy, 0.1)
    yield above("bits with zero padding", padded, 0.85)
    return (
        f"exact .609 in one dimension; {noisy:.3f} bits with 30 axes of noise, padding to five "
        f"dimensions; mean over {len(found)} draws"
    )


@claim("COMP-49", EXPECTED["COMP-49"])
def _exponents(dataset: Data) -> Claim:
    at = ran(dataset, "exponents")
    gap, values = float(at.identity_gap), float(at.value_gap)
    why = (
        f"largest gap in the identities for d = 2 to 50, all d_perp: {gap:.1e}; from the "
        f"stated values: {values:.1e}; cylinder d=3: {float(at.beta_feature_cylinder):g}"
    )
    return _holds("COMP-49", gap < 1e-12 and values < 5e-5, gap, why)


def _holds(id: str, condition: bool, measured: float, why: str) -> Claim:
    return Claim.holds(id, condition, EXPECTED[id], measured=measured, why=why)
