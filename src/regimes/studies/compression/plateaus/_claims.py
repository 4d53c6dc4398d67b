"""Verdicts on both plateaus: the logarithm, the inverse, the amplification, the condition on p."""

import numpy as np

from regimes.lab import Claim, Data
from regimes.lab.judge import Claims, Missing, Parts, below, mean_of, need
from regimes.studies.compression._attractors import fastest_attractor

LAZY_FROM = 99  # alpha of 1e2 and more

claim = Claims()


@claim("COMP-17", "t* linear in ln(1/alpha), slope that of the fastest fixed point ± 10 %")
def _logarithm(dataset: Data) -> Claim:
    scan = _finished(dataset, 0)
    scan = scan.sel(alpha=scan.alpha < 1.0000001e-6)
    if scan.sizes["alpha"] < 3:
        raise Missing("needs three alpha up to 1e-6")
    predicted, u = predicted_slope(scan), np.log(1 / scan.alpha.values)
    times = scan.t_star.transpose("alpha", "seed").values
    slopes, offsets = np.polyfit(u, times, 1)
    r2 = 1 - np.var(times - u[:, None] * slopes - offsets, axis=0) / np.var(times, axis=0)
    found = mean_of(slopes)
    return Claim.holds(
        "COMP-17",
        bool(abs(found.value / predicted - 1) <= 0.10 and r2.min() > 0.999),
        f"t* linear in ln(1/alpha), R² > 0.999, slope {predicted:.3f} tau ± 10 %",
        measured=found.value,
        error=found.error,
        why=(
            f"smallest R² {r2.min():.5f}; alpha from {scan.alpha.values[0]:.0e} to 1e-6, "
            f"d={int(scan.dimension.max())}"
        ),
    )


_INVERSE = "alpha t* constant within 2 % and equal to the frozen kernel's within 4 %"


@claim("COMP-18", _INVERSE)
def _inverse(dataset: Data) -> Claim:
    scan = _finished(dataset, 0)
    lazy = scan.sel(alpha=scan.alpha >= LAZY_FROM)
    if lazy.sizes["alpha"] < 2:
        raise Missing("needs two alpha from 1e2 on")
    products = lazy.t_star * lazy.alpha
    spread = float((products.max("alpha") / products.min("alpha") - 1).max())
    ratio = (products.mean("alpha") / lazy.frozen_t_star).values
    holds = bool(spread <= 0.02 and np.all(np.abs(ratio - 1) <= 0.04))
    found = mean_of(ratio)
    why = (
        "measured is alpha t* over the frozen kernel's t*; largest spread of alpha t* over alpha "
        f"{spread:.4f}; ratios {', '.join(f'{r:.4f}' for r in ratio)}"
    )
    return Claim.holds("COMP-18", holds, _INVERSE, measured=found.value, error=found.error, why=why)


_LEVELS = (
    "Λ* in [0.9, 1.1] for alpha >= 1e2; Λ*(1e-14)/Λ*(1e-6) = 1 ± 0.03; crossover between "
    "1e-4 and 1e-1"
)


@claim("COMP-19", _LEVELS)
def _levels(dataset: Data) -> Claim:
    scan = _finished(dataset, 0)
    mean = scan.amplification.mean("seed").values
    alpha, lazy = scan.alpha.values, mean[scan.alpha >= LAZY_FROM]
    if not len(lazy) or alpha[0] > 1e-7:
        raise Missing("needs alpha from 1e-7 or less to 1e2 or more")
    found = mean_of(scan.amplification.isel(alpha=0) / need(scan, alpha=1e-6).amplification)
    middle = np.sqrt(mean[0] * lazy[-1])
    place = float(np.exp(np.interp(-np.log(middle), -np.log(mean), np.log(alpha))))
    flat = np.all((lazy >= 0.9) & (lazy <= 1.1)) and abs(found.value - 1) <= 0.03
    holds = bool(flat and 1e-4 <= place <= 1e-1)
    told = ", ".join(f"{v:.3g} at {a:.0e}" for a, v in zip(alpha, mean, strict=True))
    why = (
        f"measured is Λ*(smallest alpha)/Λ*(1e-6); Λ* {told}; half way (geometric) at alpha "
        f"{place:.1e}"
    )
    return Claim.holds("COMP-19", holds, _LEVELS, measured=found.value, error=found.error, why=why)


@claim("COMP-50", "Λ*(1e-2)/Λ*(1e-8) <= 0.5 at the largest p")
def _condition(dataset: Data) -> Parts:
    last = _finished(dataset, -1)
    large, small = (need(last, alpha=alpha).amplification for alpha in (1e-2, 1e-8))
    yield below("Λ*(1e-2)/Λ*(1e-8)", mean_of(large / small), 0.5)
    return f"at p = {int(last.p)}"


def predicted_slope(dataset: Data) -> float:
    """Of t* against ln(1/alpha), in units of tau; the dimension is that of all trials."""
    from regimes.theory import fitting_slope

    return fitting_slope([fastest_attractor(int(dataset.dimension.max()))])


def _finished(dataset: Data, place: int) -> Data:
    """The seeds that have run at one place along p, in the order of alpha."""
    here = need(dataset, "t_star").isel(p=place)
    ran = here.dropna("seed", how="all", subset=["t_star"])
    if not ran.sizes["seed"]:
        raise Missing(f"no seed has finished at p = {int(here.p)}")
    return ran.sortby("alpha")
