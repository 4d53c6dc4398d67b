"""Verdicts on the foundations, each from the check that measures it."""

import numpy as np

import regimes as rg
from regimes.lab import Data, judge, ran
from regimes.studies.compression._attractors import EDGES, TABLE

PERPENDICULAR = (-0.24897, -0.35591, -0.37833)  # COMP-08, in units of 1/tau
PRINTED = (-0.0993, -0.1420, -0.1509)  # what [Paccolat 2021, eq. 15] as printed would give
SETTLED = 0.1  # a neuron this near an attractor of its sign has settled (COMP-09)

claim = judge.Claims()


@claim("COMP-01", "both labels are equally probable, on the stripe and on the cylinder", exact=True)
def _balance(dataset: Data) -> judge.Parts:
    at = ran(dataset, "balance")
    means = [float(at[f"{name}_label_mean"]) for name in ("stripe", "cylinder")]
    error = float(at.label_error)
    yield judge.near("mass of the stripe", at.stripe_mass, 0.5, 1e-5)
    yield judge.near(
        "radius of the cylinder less the median of chi_2", at.radius - at.chi_median, 0, 1e-4
    )
    farthest = max(map(abs, means)) / error
    yield judge.below("|mean label| of draws / standard error, larger of both", farthest, 4.0)
    return (
        f"balanced x_max = {float(at.x_max):.6f}, radius {float(at.radius):.5f}; mean label of "
        f"draws {means[0]:+.4f} (stripe), {means[1]:+.4f} (cylinder), each ± {error:.4f}"
    )


@claim("COMP-02", "drift proportional to the step (exponent 1 ± 0.1), < 2 % of growth at step .02")
def _conservation(dataset: Data) -> judge.Parts:
    at = ran(dataset, "conservation")
    limits, drift = at.step_limit.values, at.drift.transpose("network", "limit").values
    if len(limits) < 2:
        raise judge.Missing("an exponent needs two step limits, one ran")
    usual = int(np.argmin(abs(limits - 0.02)))
    of_growth = at.drift_of_growth.isel(limit=usual).max()
    name = f"drift / largest growth of beta^2, step {limits[usual]:g}, largest of all networks"
    yield judge.near("exponent", judge.log_slope(limits, drift), 1.0, 0.1)
    yield judge.below(name, of_growth, 0.02)
    return (
        f"exponent of the largest drift until t* against the step limit {limits.max():g} to "
        f"{limits.min():g}; {len(drift)} networks, d=5, p=200, h={int(at.conservation_width)}"
    )


@claim("COMP-03", "a neuron's closed-form gradient is that of automatic differentiation")
def _gradient(dataset: Data) -> judge.Parts:
    at = ran(dataset, "gradient")
    yield judge.below(
        "largest difference / largest gradient, float64", at.gradient_error_float64, 1e-12
    )
    yield judge.below("float32", at.gradient_error_float32, 1e-6)
    return "an identity; d=5, h=100, p=200, points fitted and not"


@claim("COMP-04", "<= 4 standard errors")
def _drift(dataset: Data) -> judge.Parts:
    at = ran(dataset, "drift")
    distance = np.abs(at.drift_predicted - at.drift_sampled) / at.drift_error
    yield judge.below("|quadrature - Monte Carlo| / standard error, largest", distance.max(), 4.0)
    return (
        f"{distance.size} averages mu_1, mu_perp, mu_b of {at.sizes['unit']} neurons in d=3; root "
        f"mean square distance {float((distance**2).mean()) ** 0.5:.2f} standard errors; error at "
        f"most {float(at.drift_error.max()):.1e}"
    )


@claim("COMP-06", "three attractors that are stable and compress, in every d", exact=True)
def _attractors(dataset: Data) -> judge.Parts:
    counts = ran(dataset, "attractors").flags.values.astype(int).sum(1)
    yield judge.above("attractors of three that fulfil a condition, least of all", counts.min(), 3)
    return "; ".join(
        f"d={d}: {found} at the tabulated places, {stable} stable, {compress} compressing, by the "
        f"ODE's field {back} drawn back and {grow} with growing lambda"
        for d, (found, stable, compress, back, grow) in zip(TABLE, counts, strict=True)
    )


@claim("COMP-08", "w_perp shrinks at the attractors at the rates of the ODE", exact=True)
def _perpendicular(dataset: Data) -> judge.Parts:
    rates = ran(dataset, "attractors").perpendicular_rate.values
    worst = int(np.argmax(np.abs(rates - PERPENDICULAR)))
    yield judge.near("rate farthest off", rates[worst], PERPENDICULAR[worst], 1e-3)
    return (
        f"(1/w_perp) dw_perp/dt in 1/tau of the ODE's field at the attractors, lambda = 1000, "
        f"d=2: {', '.join(f'{rate:.5f}' for rate in rates)}; expected "
        f"{', '.join(map(str, PERPENDICULAR))}. [Paccolat 2021, eq. 15] as printed, with 2 pi for "
        f"its root, would give {', '.join(map(str, PRINTED))}"
    )


@claim("COMP-09", "lambda > 20 for >= 80 % of the settled neurons")
def _divergence(dataset: Data) -> judge.Parts:
    at = ran(dataset, "divergence")
    settled, size = settled_neurons(at), at.ode_lambda.isel(moment=-1).values
    count = int(settled.sum())
    if not count:
        raise judge.Missing(f"none of {len(size)} neurons has settled")
    share = float((size[settled] > 20).mean())
    error = max(share * (1 - share) / count, 0.0) ** 0.5
    yield judge.above("share of the settled with lambda > 20", (share, error), 0.8)
    others = f", of the others {np.median(size[~settled]):.2g}" if count < len(size) else ""
    return (
        f"{count} of {len(size)} random neurons have zeta_1 within {SETTLED} of an attractor of "
        "their sign after 40 tau in d=2; their lambda has the median "
        f"{np.median(size[settled]):.2g}{others}"
    )


def settled_neurons(at: Data) -> np.ndarray:
    """Which neurons of the ODE have come to rest near an attractor of the sign of their w_1."""
    near = np.zeros(at.sizes["ode_neuron"], dtype=bool)
    for point in rg.theory.stripe_fixed_points(*EDGES, 2):
        if point.attractor:
            here = np.abs(at.ode_zeta.values - point.z) < SETTLED
            near |= here & (at.ode_sign_w.values == point.sign_w)
    return near


@claim("COMP-35", "the kernel of a network without perpendicular weights is a sum of two")
def _split(dataset: Data) -> judge.Parts:
    at = ran(dataset, "kernel-split")
    yield judge.below("Gram less Theta_1 + Theta_2 x_perp.z_perp", at.split_error, 1e-12)
    yield judge.below("spectrum less that of both parts", at.spectrum_error, 1e-10)
    yield judge.below("image of x_2^2 - 1", at.null_error, 1e-12)
    return (
        "identities, relative to the largest entry or eigenvalue; the parts' spectrum is "
        "spec(Theta_1) and d_perp copies of spec(Theta_2)"
    )


@claim("COMP-47", "rotated data with rotated weights are learned alike")
def _rotation(dataset: Data) -> judge.Parts:
    at = ran(dataset, "rotation")
    errors = at.rotation_error.transpose("frame", "data_set").values
    if errors.shape[1] < 2:
        raise judge.Missing("the error of a mean needs two data sets, one ran")
    plain, rotated = errors.mean(1)
    error = float(np.sqrt((errors.var(1, ddof=1) / errors.shape[1]).sum()))
    yield judge.below("outputs after 100 steps, data and weights rotated", at.rotated_gap, 1e-9)
    yield judge.below("gradient lemma for a boost of SO(1,1)", at.lemma_gap, 1e-10)
    apart = abs(plain - rotated) / error
    yield judge.below(
        "|difference of mean test errors| / standard error, fresh weights", apart, 2.0
    )
    return (
        f"loss after 100 steps {float(at.rotated_loss):.2f}; mean test error over "
        f"{errors.shape[1]} data sets {plain:.4f}, rotated with fresh weights {rotated:.4f}, "
        f"difference {plain - rotated:+.4f} ± {error:.4f}"
    )


@claim("COMP-48", ".59 ± .03; noise axes lower it by > .1; zero padding raises it above .85")
def _information(dataset: Data) -> judge.Parts:
    found = ran(dataset, "information").information.transpose("draw", "case").values
    yield judge.within("bits in one dimension", judge.mean_of(found[:, 0]), 0.56, 0.62)
    yield judge.above("lost by noise axes", judge.mean_of(found[:, 0] - found[:, 1]), 0.1)
    yield judge.above("bits with zero padding", judge.mean_of(found[:, 2]), 0.85)
    return (
        f"exact .609 in one dimension; {found[:, 1].mean():.3f} bits with 30 axes of noise, "
        f"padding to five dimensions; mean over {len(found)} draws"
    )


@claim("COMP-49", "identities to rounding; stated values to four digits", exact=True)
def _exponents(dataset: Data) -> judge.Parts:
    at = ran(dataset, "exponents")
    yield judge.below("largest gap in the identities", at.identity_gap, 1e-12)
    yield judge.below("from the stated values", at.value_gap, 5e-5)
    return f"d = 2 to 50, all d_perp; cylinder d=3: {float(at.beta_feature_cylinder):g}"
