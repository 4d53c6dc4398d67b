"""Verdicts on packings of discs."""

from __future__ import annotations

import numpy as np

import regimes as rg
from regimes.lab import Data, judge
from regimes.studies.landscape.packings import FORCES, GAPS

JAMMING = 1e-16  # energy per disc
SPHERES = 0.42311, 0.41269  # theta and gamma in many dimensions [Geiger 2019, sec. VI]

claim = judge.Claims()


def at_jamming(dataset: Data) -> tuple[Data, np.ndarray]:
    """Everything at the least energy, and which packings came to rest there, (seed, packing)."""
    own = judge.need(dataset, "contacts", energy=JAMMING).transpose("seed", "packing", ...)
    rest = own.converged.values == 1
    if rest.sum() < 3:
        raise judge.Missing(f"{int(rest.sum())} packings came to rest at jamming")
    return own, rest


@claim("LAND-71", "contacts = 2 (n - rattlers) - 1; Hp <= 1e-18; density 0.81 to 0.86")
def _isostatic(dataset: Data) -> judge.Parts:
    own, rest = at_jamming(dataset)
    excess = (own.contacts - own.freedom - 1).values[rest]
    yield judge.below("most contacts away from 2 (n - rattlers) - 1", np.abs(excess).max(), 0)
    yield judge.below("largest eigenvalue of Hp", own.hp_top.values[rest].max(), 1e-18)
    density = np.where(rest, own.density.values, np.nan)[rest.any(1)]
    yield judge.within("density", judge.mean_of(np.nanmean(density, 1)), 0.81, 0.86)
    return (
        f"{int(rest.sum())} of {rest.size} packings of {int(own.discs.max())} discs came to rest; "
        f"rattlers {np.mean(own.rattlers.values[rest]):.3g}"
    )


@claim("LAND-72", "gamma = 1/(2 + theta) of the numbers quoted", report=True)
def _exponents(dataset: Data) -> judge.Parts:
    theta, gamma = SPHERES
    yield judge.near(
        "1/(2 + theta) - gamma", rg.theory.marginal_gap_exponent(theta) - gamma, 0, 5e-6
    )
    own, rest = at_jamming(dataset)
    found = {}
    for name, window in (("force", FORCES), ("gap", GAPS)):
        counts, sums = (
            np.where(rest, own[f"{name}_{kind}"].values, 0).sum(1) for kind in ("count", "sum")
        )
        fit = rg.measure.exponent_of_sums(rg.measure.TailSums(window, counts, sums))
        found[name] = judge.Measured(fit.exponent, fit.error)
    return (
        f"theta = {theta}, gamma = {gamma}; of {int(own.discs.max())} discs in the plane: "
        f"overlaps {found['force']} in [{FORCES[0]:g}, {FORCES[1]:g}], gaps {-found['gap']} in "
        f"[{GAPS[0]:g}, {GAPS[1]:g}]"
    )


@claim("LAND-73", "spread of Hp against U/n has slope 0.4 to 0.6")
def _scale(dataset: Data) -> judge.Parts:
    own = judge.need(dataset, "hp_spread").sortby("energy")
    own = own.isel(energy=own.energy.values > 2 * JAMMING).transpose(
        "seed", "energy", "packing", ...
    )
    if own.sizes["energy"] < 3:
        raise judge.Missing("three energies above jamming are needed")
    spread, energy = (
        np.log(own[name].where(own.converged == 1).values)
        for name in ("hp_spread", "overlap_energy")
    )
    seen = np.isfinite(spread).any(2).all(1)
    if not seen.any():
        raise judge.Missing("no seed has packings at every energy")
    slopes = [
        np.polyfit(np.nanmean(x, 1), np.nanmean(y, 1), 1)[0]
        for x, y in zip(energy[seen], spread[seen], strict=True)
    ]
    yield judge.near("slope of log std(Hp) against log(U/n)", judge.mean_of(slopes), 0.5, 0.1)
    low, high = float(own.energy.min()), float(own.energy.max())
    return f"{own.sizes['energy']} energies from {low:g} to {high:g}, {len(slopes)} seeds"
