"""Verdicts on exponents on spheres."""

from __future__ import annotations

import numpy as np

import regimes as rg
from regimes.lab import Data, Values, judge

claim = judge.Claims()

FULL_FROM = 4096  # training points from which curves are fitted as the paper does
FROM = 700  # the paper's first fitted size
FLOOR = 1e-12  # errors below are rounding

ROUGH = {1: (1.0, 0.12), 2: (0.50, 0.04), 3: (0.34, 0.03), 5: (0.23, 0.04)}
SMOOTH = {1: (3.85, 0.4), 2: (3.0, 0.3), 3: (2.6, 0.25), 5: (2.35, 0.25)}
PREDICTED = {"laplace": lambda d: 1 / d, "gaussian": lambda d: 2 * (1 + 1 / d)}


def errors(dataset: Data, d: int, teacher: str, scale: float = 0.0) -> Values:
    """Errors (seed, size)."""
    here = judge.where_ran(dataset, "seed", "mse", d=d, teacher=teacher, scale=scale)
    return here.mse.transpose("seed", "size")


def sizes(curve: Values, count: int | None = None) -> np.ndarray:
    """Sizes to be fitted: all, the last few, or those of a large scan that are no rounding."""
    n = curve["size"].values
    if n.max() >= FULL_FROM:
        kept = n[(n >= FROM) & (np.median(curve.values, 0) >= FLOOR)]
        return kept if count is None else kept[-max(count, 3) :]
    if n.max() < 1024:
        raise judge.Missing("needs n up to 1024")
    return n if count is None else n[-count:]


def exponent(curve: Values, count: int | None = None) -> judge.Measured:
    """Exponent of the median over draws."""
    fit = judge.power_law(curve.sel(size=sizes(curve, count)), "size")
    return judge.Measured(-fit.exponent, fit.error)


def told(dataset: Data, d: int = 1, count: int | None = None) -> str:
    """Sizes and draws."""
    curve = errors(dataset, d, "laplace")
    kept = sizes(curve, count)
    return f"n = {kept[0]} to {kept[-1]}, medians of {len(curve)} draws"


@claim("KER-07", "Laplace teacher: near 1, 0.5, 0.34 and 0.23 for d = 1, 2, 3, 5")
def _rough(dataset: Data) -> judge.Parts:
    for d, (middle, tolerance) in ROUGH.items():
        found = exponent(errors(dataset, d, "laplace"))
        yield judge.near(f"d = {d}", found, middle, tolerance)
    return f"{told(dataset)}; 1/d = 1, 0.5, 0.333, 0.2"


@claim("KER-08", "Gaussian teacher: near 3.85, 3, 2.6 and 2.35 for d = 1, 2, 3, 5")
def _smooth(dataset: Data) -> judge.Parts:
    for d, (middle, tolerance) in SMOOTH.items():
        found = exponent(errors(dataset, d, "gaussian"), 3)
        yield judge.near(f"d = {d}", found, middle, tolerance)
    return f"{told(dataset, 1, 3)}; 2 (1 + 1/d) = 4, 3, 2.67, 2.4"


@claim("KER-09", "exponents come closer to the prediction from n = 256 to 1024; they fall with d")
def _approach(dataset: Data) -> judge.Parts:
    for teacher, predicted in PREDICTED.items():
        for d in (3, 5):
            curve = errors(dataset, d, teacher)
            n = curve["size"].values
            if not {256, 1024} <= set(n.tolist()):
                raise judge.Missing("needs n = 256 and 1024")

            def closer(drawn: np.ndarray, n: np.ndarray = n, goal: float = predicted(d)) -> float:
                off = [abs(_slope(n, drawn, most) - goal) for most in (256, 1024)]
                return off[0] - off[1]

            yield judge.above(f"{teacher}, d = {d}", judge.resampled(curve.values, closer), 0.0)
        found = [exponent(errors(dataset, d, teacher)) for d in (1, 2, 3, 5)]
        for d, one, other in zip((2, 3, 5), found[:-1], found[1:], strict=True):
            yield judge.above(f"{teacher}, fall to d = {d}", one - other, 0.0)
    return f"fits over all sizes up to n_max; {told(dataset)}"


def _slope(n: np.ndarray, drawn: np.ndarray, most: int) -> float:
    """Exponent of the median of draws over all sizes up to n_max."""
    chosen = n <= most
    middle = np.median(drawn[:, chosen], 0)
    return float(-np.polyfit(np.log(n[chosen]), np.log(middle), 1)[0])


@claim("KER-10", "d = 5: last exponents with length 10 and with length d within 0.03 and 0.25")
def _lengths(dataset: Data) -> judge.Parts:
    remarks = []
    for teacher, most in (("laplace", 0.03), ("gaussian", 0.25)):
        own, ten = (errors(dataset, 5, teacher, scale) for scale in (0.0, 10.0))
        kept = sizes(own, 3)
        ratio = own.sel(size=kept).values / ten.sel(size=kept).values
        yield judge.near(f"{teacher} teacher", judge.log_slope(kept, ratio), 0.0, most)
        remarks.append(f"{teacher} {exponent(own, 3)} and {exponent(ten, 3)}")
    return f"{told(dataset, 5, 3)}; exponents with length d and 10: {', '.join(remarks)}"


@claim("KER-21", "exponents of random points and of the lattice agree within 0.12, d = 1, 2")
def _lattice(dataset: Data) -> judge.Parts:
    for d, N in ((1, 128), (2, 32)):
        alpha = d + 1.0

        def log_kappa(w: np.ndarray, alpha: float = alpha) -> np.ndarray:
            return -alpha / 2 * np.log(1 + w**2)

        coarse, fine = (
            rg.theory.lattice_error(log_kappa, log_kappa, each, d).value for each in (N // 2, N)
        )
        own = float(np.log2(coarse / fine)) / d
        found = exponent(errors(dataset, d, "laplace"))
        yield judge.near(f"d = {d}, random - lattice", found - judge.Measured(own), 0.0, 0.12)
    return f"{told(dataset)}; lattices of N^d points, N = 128 and 32"
