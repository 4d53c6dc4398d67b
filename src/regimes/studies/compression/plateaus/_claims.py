"""Verdicts on both plateaus: the logarithm, the inverse, the amplification, the condition on p."""

import numpy as np

import regimes as rg
from regimes.lab import Data, judge
from regimes.studies.compression._attractors import fastest_attractor

LAZY_FROM = 99  # alpha of 1e2 and more

claim = judge.Claims()


@claim("COMP-17", "t* linear in ln(1/alpha), slope that of the fastest fixed point ± 10 %")
def _logarithm(dataset: Data) -> judge.Parts:
    scan = _finished(dataset, 0)
    scan = scan.sel(alpha=scan.alpha < 1.0000001e-6)
    if scan.sizes["alpha"] < 3:
        raise judge.Missing("needs three alpha up to 1e-6")
    predicted, u = predicted_slope(scan), np.log(1 / scan.alpha.values)
    times = scan.t_star.transpose("alpha", "seed").values
    slopes, offsets = np.polyfit(u, times, 1)
    r2 = 1 - np.var(times - u[:, None] * slopes - offsets, axis=0) / np.var(times, axis=0)
    yield judge.near("slope of t* (tau)", judge.mean_of(slopes), predicted, 0.1 * predicted)
    yield judge.above("R², smallest of all runs", r2.min(), 0.999)
    return (
        f"slope predicted {predicted:.3f}, smallest R² {r2.min():.5f}; alpha from "
        f"{scan.alpha.values[0]:.0e} to 1e-6, d={int(scan.dimension.max())}"
    )


@claim("COMP-18", "alpha t* constant within 2 % and equal to the frozen kernel's within 4 %")
def _inverse(dataset: Data) -> judge.Parts:
    scan = _finished(dataset, 0)
    lazy = scan.sel(alpha=scan.alpha >= LAZY_FROM)
    if lazy.sizes["alpha"] < 2:
        raise judge.Missing("needs two alpha from 1e2 on")
    products = lazy.t_star * lazy.alpha
    spread = products.max("alpha") / products.min("alpha") - 1
    ratio = (products.mean("alpha") / lazy.frozen_t_star).values
    yield judge.near("alpha t* / that of the frozen kernel", judge.mean_of(ratio), 1.0, 0.04)
    yield judge.below("distance of that from 1, largest of all runs", np.abs(ratio - 1).max(), 0.04)
    yield judge.below("spread of alpha t* over alpha, largest of all runs", spread.max(), 0.02)
    return f"ratios {', '.join(f'{r:.4f}' for r in ratio)}"


@claim("COMP-19", "no amplification at large alpha, a constant one at small alpha")
def _levels(dataset: Data) -> judge.Parts:
    scan = _finished(dataset, 0)
    alpha = scan.alpha.values
    if alpha[-1] < LAZY_FROM:
        raise judge.Missing("needs alpha of 1e2 or more")
    values = scan.amplification.transpose("seed", "alpha").values
    least, most = (judge.need(scan, "amplification", alpha=a).amplification for a in (1e-14, 1e-6))
    yield judge.near("Λ*(1e-14)/Λ*(1e-6)", judge.mean_of(least / most), 1.0, 0.03)
    for number in np.flatnonzero(alpha >= LAZY_FROM):
        yield judge.near(
            f"Λ* at alpha = {alpha[number]:.0e}", judge.mean_of(values[:, number]), 1.0, 0.1
        )

    def crossover(drawn: np.ndarray) -> float:
        mean = drawn.mean(0)
        middle = np.sqrt(mean[0] * mean[-1])
        return float(np.interp(-np.log(middle), -np.log(mean), np.log10(alpha)))

    yield judge.within("log10 alpha half way", judge.resampled(values, crossover), -4.0, -1.0)
    told = ", ".join(f"{v:.3g} at {a:.0e}" for a, v in zip(alpha, values.mean(0), strict=True))
    return f"half way is the geometric mean of both ends; Λ* {told}"


@claim("COMP-50", "Λ*(1e-2)/Λ*(1e-8) <= 0.5 at the largest p")
def _condition(dataset: Data) -> judge.Parts:
    last = _finished(dataset, -1)
    large, small = (judge.need(last, alpha=alpha).amplification for alpha in (1e-2, 1e-8))
    yield judge.below("Λ*(1e-2)/Λ*(1e-8)", judge.mean_of(large / small), 0.5)
    return f"at p = {int(last.p)}"


def predicted_slope(dataset: Data) -> float:
    """Of t* against ln(1/alpha), in units of tau; the dimension is that of all trials."""
    return rg.theory.fitting_slope([fastest_attractor(int(dataset.dimension.max()))])


def _finished(dataset: Data, place: int) -> Data:
    """The seeds that have run at one place along p, in the order of alpha."""
    here = judge.need(dataset, "t_star").isel(p=place)
    ran = here.dropna("seed", how="all", subset=["t_star"])
    if not ran.sizes["seed"]:
        raise judge.Missing(f"no seed has finished at p = {int(here.p)}")
    return ran.sortby("alpha")
