"""Verdicts on jamming: REG-59 and REG-60."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from regimes.lab import Claim
from regimes.studies._parts import Part, claim_of_parts

if TYPE_CHECKING:
    import xarray as xr

EXPECTED = {
    "REG-59": "C0 N <= N_Delta <= N at jamming, C0 0.5 for relu, 0.43 for tanh",
    "REG-60": "N* ~ P for random labels, slower for digits; dN*/dP follows the test error",
}


def n_star(dataset: xr.Dataset, labels: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """P, N* and the factor of its bracket, where the scan holds a last width that jams.

    A width jams when less than half of its runs fit; N* is sqrt(N1 N2) of the last and the next.
    """
    found = []
    for p in dataset.n_train.values:
        cut = dataset.sel(labels=labels, n_train=p).dropna("width", how="all", subset=["fitted"])
        narrow = np.flatnonzero(cut.fitted.mean("seed").values < 0.5)
        if len(narrow) and narrow[-1] + 1 < cut.sizes["width"]:
            pair = cut.parameters.values[narrow[-1] : narrow[-1] + 2].astype(float)
            found.append((float(p), float(np.sqrt(pair.prod())), float(np.sqrt(pair[1] / pair[0]))))
    p, stars, factor = np.array(found, dtype=float).reshape(-1, 3).T
    return p, stars, factor


def jamming_claims(dataset: xr.Dataset) -> list[Claim]:
    """Both of them."""
    if "fitted" not in dataset:
        return [Claim.unclear(id, told, why="nothing has run") for id, told in EXPECTED.items()]
    return [_constraints(dataset), _growth(dataset)]


def at_jamming(dataset: xr.Dataset, labels: str) -> np.ndarray:
    """N_Delta/N of the unfitted runs at the widest width that jams, for every P."""
    shares = []
    for p, middle, factor in zip(*n_star(dataset, labels), strict=True):
        cut = dataset.sel(labels=labels, n_train=p).dropna("width", how="all", subset=["fitted"])
        last = cut.isel(width=int(np.abs(cut.parameters.values * factor / middle - 1).argmin()))
        held = last.unfitted.where(last.fitted < 1) / last.parameters
        shares.append(float(held.mean()))
    return np.array(shares)


def _constraints(dataset: xr.Dataset) -> Claim:
    shares = np.concatenate([at_jamming(dataset, name) for name in dataset.labels.values])
    draws = dataset.negative.sel(labels="random").transpose("activation", "draw", ...).values
    draws = draws.reshape(draws.shape[0], draws.shape[1], -1)
    relu, tanh = (np.nanmean(draws[i], axis=-1) for i in range(2))
    if not len(shares) or len(relu) < 3:
        return Claim.unclear("REG-59", EXPECTED["REG-59"], why="no jamming width, or few Hessians")
    parts = [
        Part(
            "N_Delta/N at jamming, mean", shares.mean(), 0.2, 1.0, shares.std() / len(shares) ** 0.5
        ),
        Part("N_Delta/N, largest", shares.max(), high=1.0),
        Part("negative share of Hp, relu", relu.mean(), 0.48, 0.52, _error(relu)),
        Part("negative share of Hp, tanh", tanh.mean(), 0.38, 0.52, _error(tanh)),
    ]
    told = ", ".join(f"{s:.2f}" for s in shares)
    slow = (
        " (few points short: such runs are slow rather than jammed)" if shares.min() < 0.2 else ""
    )
    why = f"N_Delta/N just below N*: {told}{slow}; Hessians at initialisation, random labels"
    return claim_of_parts("REG-59", parts, why=why)


def _error(values: np.ndarray) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values)))


def _growth(dataset: xr.Dataset) -> Claim:
    from scipy.stats import spearmanr

    fits = {}
    for name in ("parity", "random"):
        p, stars, factor = n_star(dataset, name)
        if len(p) < 3:
            why = f"N* is known at {len(p)} sizes for {name} labels, three are needed"
            return Claim.unclear("REG-60", EXPECTED["REG-60"], why=why)
        u = np.log(p) - np.log(p).mean()
        slope = float((u * np.log(stars)).sum() / (u**2).sum())
        # a bracket of factor f has the standard deviation ln f / sqrt 3 either way
        spread = float(np.sqrt(((u * np.log(factor)) ** 2).sum() / 3) / (u**2).sum())
        fits[name] = (p, stars, slope, spread)
    p, stars, slope, spread = fits["parity"]
    _, _, steep, steep_spread = fits["random"]
    errors = [_error_near(dataset, each) for each in p]
    middle = [(a + b) / 2 for a, b in pairwise(errors)]
    rank = float(spearmanr(np.diff(stars) / np.diff(p), middle).statistic)
    parts = [
        Part("exponent for digits", slope, 0.55, 0.95, spread),
        Part("exponent for random labels", steep, 0.75, 1.2, steep_spread),
        Part("rank correlation of dN*/dP and test error", rank, low=0.0),
    ]
    told = "; ".join(
        f"{name} "
        + ", ".join(f"{n:.0f} at {int(x)}" for x, n in zip(each[0], each[1], strict=True))
        for name, each in fits.items()
    )
    return claim_of_parts("REG-60", parts, why=f"N* of {told}")


def _error_near(dataset: xr.Dataset, p: float) -> float:
    """Mean error of the widest networks at this P."""
    cut = dataset.sel(labels="parity", n_train=p).dropna("width", how="all", subset=["fitted"])
    return float(cut.error.isel(width=-1).mean())
