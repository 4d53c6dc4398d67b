"""The ground the theory of spec `compression` stands on, check by check."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from regimes.lab import Axis, Claim, Point, TrialResult, study
from regimes.studies._summaries import finished_parts, one_variable_each
from regimes.studies.compression._attractors import EDGES, TABLE
from regimes.studies.compression.foundations._checks import CHECKS
from regimes.studies.compression.foundations._figures import FIGURES

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import xarray as xr

    from regimes.lab import Results

PERPENDICULAR = (-0.24897, -0.35591, -0.37833)  # COMP-08, in units of 1/tau
PRINTED = (-0.0993, -0.1420, -0.1509)  # what eq. 15 as printed would give
SETTLED = 0.1  # a neuron this near an attractor of its sign has settled (COMP-09)


@dataclass(frozen=True)
class Params:
    """Scanned: check. Fixed: sizes of the checks that have one."""

    check: tuple[str, ...] = tuple(CHECKS)
    seeds: int = 2
    samples: int = 10_000
    step_limits: tuple[float, ...] = (0.02, 0.01)
    conservation_width: int = 30
    monte_carlo: int = 200_000
    ode_neurons: int = 20
    n_test: int = 500
    rotation_end_loss: float = 0.4
    information_points: int = 600


CPU = Params(
    seeds=8,
    samples=1_000_000,
    step_limits=(0.02, 0.01, 0.005, 0.0025),
    conservation_width=100,
    monte_carlo=4_000_000,
    ode_neurons=100,
    n_test=5000,
    rotation_end_loss=0.05,
    information_points=2000,
)


@study(
    "compression/foundations",
    version=2,
    sizes={"smoke": Params(), "cpu": CPU, "paper": replace(CPU, conservation_width=10_000)},
    axes=[Axis("check")],
    units={"perpendicular_rate": "1/tau", "information": "bits"},
    judges=(
        "COMP-01",
        "COMP-02",
        "COMP-03",
        "COMP-04",
        "COMP-06",
        "COMP-08",
        "COMP-09",
        "COMP-35",
        "COMP-47",
        "COMP-48",
        "COMP-49",
    ),
)
class Foundations:
    """Formulas that everything else rests on, each measured by a computation of its own.

    Balanced labels, the quantity that each neuron conserves, the drift of a neuron on infinitely
    many points and where it leads, the split of the tangent kernel, invariance under rotations,
    and the known faults of an estimator.
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """One check."""
        return CHECKS[point.check](params, point)

    @staticmethod
    def summarise(results: Results) -> xr.Dataset:
        """Each variable belongs to one check, so it needs no axis over all of them."""
        return one_variable_each(results, "check")

    @staticmethod
    def figures(dataset: xr.Dataset) -> dict[str, go.Figure]:
        """Those of the checks that have run."""
        done = finished_parts(dataset, "check")
        return {title: draw(dataset) for title, (check, draw) in FIGURES.items() if check in done}

    @staticmethod
    def claims(dataset: xr.Dataset) -> list[Claim]:
        """Those of the checks that have run."""
        done = finished_parts(dataset, "check")
        return [judge(dataset) for check, judge in CLAIMS if check in done]


def _balance(at: xr.Dataset) -> Claim:
    mass, median = float(at.stripe_mass) - 0.5, float(at.chi_median - at.radius)
    means = [float(at[f"{name}_label_mean"]) for name in ("stripe", "cylinder")]
    error = float(at.label_error)
    return Claim.holds(
        "COMP-01",
        abs(mass) < 1e-5 and abs(median) < 1e-4 and max(map(abs, means)) < 4 * error,
        "mass of the stripe .5 within 1e-5, radius = median of chi_2 within 1e-4",
        measured=mass + 0.5,
        why=(
            f"mass - .5 = {mass:.1e}, balanced x_max = {float(at.x_max):.6f}, radius "
            f"{float(at.radius):.5f} and chi_2 median differ by {median:.1e}; mean label of draws "
            f"{means[0]:+.4f} (stripe), {means[1]:+.4f} (cylinder), each ± {error:.4f}"
        ),
    )


def _conservation(at: xr.Dataset) -> Claim:
    limits, drift = at.step_limit.dropna("limit").values, at.drift.dropna("limit").values
    slopes = np.polyfit(np.log(limits), np.log(drift), 1)[0]
    slope, error = slopes.mean(), slopes.std(ddof=1) / len(slopes) ** 0.5
    of_growth = float(at.drift_of_growth.isel(limit=int(np.argmin(abs(limits - 0.02)))).max())
    why = (
        f"exponent of the largest drift until t* against the step limit {limits.max():g} to "
        f"{limits.min():g}; at {limits[np.argmin(abs(limits - 0.02))]:g} the drift is "
        f"{of_growth:.2%} of the largest growth of beta^2; {len(slopes)} networks, d=5, "
        f"p=200, h={int(at.conservation_width)}"
    )
    expected = "drift proportional to the step (exponent 1 ± 0.1), < 2 % of growth at step .02"
    if not of_growth < 0.02:
        return Claim.holds("COMP-02", False, expected, measured=slope, error=error, why=why)
    return Claim.between("COMP-02", slope, 0.9, 1.1, error=error, expected=expected, why=why)


def _gradient(at: xr.Dataset) -> Claim:
    single, double = float(at.gradient_error_float32), float(at.gradient_error_float64)
    return Claim.holds(
        "COMP-03",
        single < 1e-6 and double < 1e-12,
        "< 1e-12 in float64, < 1e-6 in float32",
        measured=double,
        why=(
            f"largest difference over the largest gradient: {double:.1e} in float64, {single:.1e} "
            "in float32; d=5, h=100, p=200, points fitted and not"
        ),
    )


def _drift(at: xr.Dataset) -> Claim:
    distance = np.abs(at.drift_predicted - at.drift_sampled) / at.drift_error
    return Claim.between(
        "COMP-04",
        float(distance.max()),
        high=4.0,
        expected="<= 4 standard errors",
        why=(
            f"{distance.size} averages mu_1, mu_perp, mu_b of five neurons in d=3; largest "
            "distance between quadrature and Monte Carlo in standard errors, root mean square "
            f"{float((distance**2).mean()) ** 0.5:.2f}; error at most "
            f"{float(at.drift_error.max()):.1e}"
        ),
    )


def _attractors(at: xr.Dataset) -> Claim:
    counts = at.flags.values.astype(int).sum(1)
    listing = "; ".join(
        f"d={d}: {found} at the tabulated places, {stable} stable, {compress} compressing, by the "
        f"ODE's field {back} drawn back and {grow} with growing lambda"
        for d, (found, stable, compress, back, grow) in zip(TABLE, counts, strict=True)
    )
    return Claim.holds(
        "COMP-06",
        bool((counts == 3).all()),
        "3 of 3, both conditions, for every d",
        measured=float(counts.min()),
        why=listing,
    )


def _perpendicular(at: xr.Dataset) -> Claim:
    rates = at.perpendicular_rate.values
    worst = int(np.argmax(np.abs(rates - PERPENDICULAR)))
    listing = ", ".join(f"{rate:.5f}" for rate in rates)
    return Claim.near(
        "COMP-08",
        rates[worst],
        PERPENDICULAR[worst],
        1e-3,
        why=(
            f"(1/w_perp) dw_perp/dt in 1/tau of the ODE's field at the attractors, lambda = 1000, "
            f"d=2: {listing}; expected {', '.join(map(str, PERPENDICULAR))}. Eq. 15 as printed, "
            f"with 2 pi for its root, would give {', '.join(map(str, PRINTED))}. Shown is the one "
            "that is farthest off"
        ),
    )


def _divergence(at: xr.Dataset) -> Claim:
    settled = settled_neurons(at)
    size = at.ode_lambda.isel(moment=-1).values
    share = float((size[settled] > 20).mean())
    count = int(settled.sum())
    return Claim.between(
        "COMP-09",
        share,
        low=0.8,
        error=max(share * (1 - share) / count, 0.0) ** 0.5,
        expected="lambda > 20 for >= 80 % of the settled neurons",
        why=(
            f"{count} of {len(size)} random neurons have zeta_1 within {SETTLED} of an attractor "
            f"of their sign after 40 tau in d=2; their lambda has the median "
            f"{np.median(size[settled]):.2g}, of the others {np.median(size[~settled]):.2g}"
        ),
    )


def settled_neurons(at: xr.Dataset) -> np.ndarray:
    """Which neurons of the ODE have come to rest near an attractor of the sign of their w_1."""
    from regimes.theory import stripe_fixed_points

    near = np.zeros(at.sizes["ode_neuron"], dtype=bool)
    for point in stripe_fixed_points(*EDGES, 2):
        if point.attractor:
            here = np.abs(at.ode_zeta.values - point.z) < SETTLED
            near |= here & (at.ode_sign_w.values == point.sign_w)
    return near


def _split(at: xr.Dataset) -> Claim:
    gram, spectrum, null = (
        float(at[name]) for name in ("split_error", "spectrum_error", "null_error")
    )
    return Claim.holds(
        "COMP-35",
        gram < 1e-12 and spectrum < 1e-10 and null < 1e-12,
        "Gram identity 1e-12, spectrum 1e-10 of the top, x_2^2 - 1 in the null space",
        measured=gram,
        why=(
            f"relative to the largest entry or eigenvalue: Theta_1 + Theta_2 x_perp.z_perp differs "
            f"from the tangent kernel by {gram:.1e}, the spectrum from spec(Theta_1) and d_perp "
            f"copies of spec(Theta_2) by {spectrum:.1e}; the image of x_2^2 - 1 is {null:.1e}"
        ),
    )


def _rotation(at: xr.Dataset) -> Claim:
    lemma, gap = float(at.lemma_gap), float(at.rotated_gap)
    errors = at.rotation_error.values
    difference = errors[0].mean() - errors[1].mean()
    error = float(np.sqrt((errors.var(1, ddof=1) / errors.shape[1]).sum()))
    return Claim.holds(
        "COMP-47",
        lemma < 1e-10 and gap < 1e-9 and abs(difference) < 2 * error,
        "lemma 1e-10, rotated outputs 1e-9, equal mean errors within 2 standard errors",
        measured=gap,
        why=(
            f"gradient lemma for a boost of SO(1,1): {lemma:.1e}; outputs after 100 steps (loss "
            f"{float(at.rotated_loss):.2f}) with data and weights rotated: {gap:.1e}; mean test "
            f"error over 8 data sets {errors[0].mean():.4f}, rotated with fresh weights "
            f"{errors[1].mean():.4f}, difference {difference:+.4f} ± {error:.4f}"
        ),
    )


def _information(at: xr.Dataset) -> Claim:
    found = at.information.values
    plain, noisy, padded = found.mean(0)
    error = float(found[:, 0].std(ddof=1) / len(found) ** 0.5)
    why = (
        f"{plain:.3f} bits in one dimension (exact .609), {noisy:.3f} with 30 axes of noise, "
        f"{padded:.3f} padded with zeros to five dimensions; mean over {len(found)} draws"
    )
    expected = ".59 ± .03; noise axes lower it by > .1; zero padding raises it above .85"
    if not (plain - noisy > 0.1 and padded > 0.85):
        return Claim.holds("COMP-48", False, expected, measured=plain, error=error, why=why)
    return Claim.between("COMP-48", plain, 0.56, 0.62, error=error, expected=expected, why=why)


def _exponents(at: xr.Dataset) -> Claim:
    gap, values = float(at.identity_gap), float(at.value_gap)
    return Claim.holds(
        "COMP-49",
        gap < 1e-12 and values < 5e-5,
        "identities to rounding; stated values to four digits",
        measured=gap,
        why=(
            f"largest gap in the identities for d = 2 to 50, all d_perp: {gap:.1e}; from the "
            f"stated values: {values:.1e}; cylinder d=3: {float(at.beta_feature_cylinder):g}"
        ),
    )


CLAIMS: tuple[tuple[str, Callable[[xr.Dataset], Claim]], ...] = (
    ("balance", _balance),
    ("conservation", _conservation),
    ("gradient", _gradient),
    ("drift", _drift),
    ("attractors", _attractors),
    ("attractors", _perpendicular),
    ("divergence", _divergence),
    ("kernel-split", _split),
    ("rotation", _rotation),
    ("information", _information),
    ("exponents", _exponents),
)
