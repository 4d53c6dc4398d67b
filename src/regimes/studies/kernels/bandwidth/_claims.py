"""Verdict on the length of the kernel."""

from __future__ import annotations

import itertools

import numpy as np

from regimes.lab import Data, judge

claim = judge.Claims()

WIDE = (0.4, 4.0, 40.0)
NARROW = 0.04
WINDOW = (128, 2048)
FLAT = 0.05  # how far below 1 the error of a kernel narrower than any distance may come


@claim("KER-05", "slopes within 0.1 for sigma = 0.4, 4, 40 median distances; none learned at 0.04")
def _bandwidth(dataset: Data) -> judge.Parts:
    curves = []
    for ratio in WIDE:
        here = judge.where_ran(dataset, "seed", "mse", ratio=ratio)
        curves.append(here.mse.transpose("seed", "size"))
    shared = sorted(set.intersection(*(set(curve.seed.values.tolist()) for curve in curves)))
    if len(shared) < 2:
        raise judge.Missing("needs at least two draws that have run with every length")
    curves = [curve.sel(seed=shared) for curve in curves]
    last = int(curves[0]["size"].max())
    span = (128, last) if last > 4096 else WINDOW
    chosen = ((curves[0]["size"] >= span[0]) & (curves[0]["size"] <= span[1])).values
    if last < span[1]:
        raise judge.Missing("needs n = 128 to 2048")
    x = np.log(curves[0]["size"].values[chosen].astype(float))
    told = [-judge.power_law(curve, "size", span, center="mean").exponent for curve in curves]
    for i, j in itertools.combinations(range(len(WIDE)), 2):
        both = np.stack([curves[i].values[:, chosen], curves[j].values[:, chosen]], 1)
        gap = judge.resampled(
            both, lambda drawn: float(np.diff(np.polyfit(x, np.log(drawn.mean(0)).T, 1)[0])[0])
        )
        yield judge.near(f"{WIDE[i]:g} - {WIDE[j]:g}", gap, 0.0, 0.1)
    narrow = judge.where_ran(dataset, "seed", "mse", ratio=NARROW).mse
    yield judge.near(
        f"error at {NARROW}, n = {last}", judge.mean_of(narrow.isel(size=-1)), 1.0, FLAT
    )
    exponents = ", ".join(f"{beta:.3f}" for beta in told)
    return f"exponents {exponents}; n = {span[0]} to {span[1]}, {len(curves[0])} draws"
