"""Verdicts on smooth kernels."""

from __future__ import annotations

from functools import cache

import numpy as np

import regimes as rg
from regimes.lab import Data, judge

claim = judge.Claims()

LENGTH = 1.0  # of both kernels on the lattice, in units of the box, as both have one on spheres
FLOOR = 1e-13  # errors below are rounding


@cache
def lattice_slopes() -> tuple[np.ndarray, np.ndarray]:
    """N and the local slopes of the lattice error, Laplace teacher and Gaussian student, d = 1."""
    sizes = np.array([32, 64, 128, 256])

    def rough(w: np.ndarray) -> np.ndarray:
        return -np.log(LENGTH**-2 + w**2)

    def smooth(w: np.ndarray) -> np.ndarray:
        return -((LENGTH * w) ** 2) / 2

    values = [rg.theory.lattice_error(rough, smooth, int(N)).value for N in sizes]
    return sizes, -np.diff(np.log(values)) / np.diff(np.log(sizes))


def mixed(dataset: Data, jitter: float) -> tuple[np.ndarray, np.ndarray]:
    """Sizes, and errors (seed, size) of the Gaussian student on a Laplace field."""
    here = judge.where_ran(dataset, "seed", "mixed", jitter=jitter)
    return here.mixed_size.values, here.mixed.transpose("seed", "mixed_size").values


@claim("KER-11", "slope 1 on the lattice; on random points not without a ridge", report=True)
def _rough_field(dataset: Data) -> judge.Parts:
    n, plain = mixed(dataset, 0.0)
    _, ridged = mixed(dataset, 1e-7)
    yield judge.within("random points, d = 6, no ridge: exponent", -_slope(n, plain))
    yield judge.within("jitter 1e-7: exponent", -_slope(n, ridged))
    _, slopes = lattice_slopes()
    worst = float(slopes[np.abs(slopes - 1).argmax()])
    yield judge.near("lattice, d = 1, slope furthest from 1", worst, 1.0, 0.02)
    single = judge.where_ran(dataset, "seed", "mixed_float32").mixed_float32
    lists = [
        ", ".join(f"{value:.2g}" for value in np.median(values, 0))
        for values in (plain, ridged, single.transpose("seed", "mixed_size").values)
    ]
    told = ", ".join(str(int(each)) for each in n)
    return (
        f"error at n = {told}: {lists[0]} without ridge, {lists[1]} with jitter 1e-7, {lists[2]} "
        "without ridge in float32; medians"
    )


def _slope(n: np.ndarray, values: np.ndarray) -> judge.Measured:
    return judge.log_slope(n, values)


@claim("KER-12", "log error against n^(1/3): correlation below -0.98, slope -3.0 +- 0.6")
def _faster(dataset: Data) -> judge.Parts:
    here = judge.where_ran(dataset, "seed", "smooth")
    values = here.smooth.transpose("seed", "smooth_size").values
    n = here.smooth_size.values
    if not {8, 512} <= set(n.tolist()):
        raise judge.Missing("needs n = 8 to 512")
    kept = np.median(values, 0) > FLOOR
    root, logs = np.cbrt(n[kept].astype(float)), np.log(values[:, kept])
    lines = judge.mean_of([np.corrcoef(root, row)[0, 1] for row in logs])
    yield judge.below("correlation", lines, -0.98)
    slopes = judge.mean_of(np.polyfit(root, logs.T, 1)[0])
    yield judge.near("slope", slopes, -3.0, 0.6)
    worst = float(here.smooth_residual.max())
    least = float((here.smooth_rank / here.smooth_size).min())
    return (
        f"n = 8 to {int(n[kept].max())}, {len(values)} draws; largest residual {worst:.1e}, "
        f"least share of eigenvalues used {least:.2f}"
    )


@claim("KER-13", "error at n = 216 below 1e-4 of the rough pair's; that has slope 0.21 +- 0.04")
def _pairs(dataset: Data) -> judge.Parts:
    here = judge.where_ran(dataset, "seed", "smooth")
    if 216 not in here.smooth_size.values or 216 not in here.rough_size.values:
        raise judge.Missing("needs n = 216")
    ratio = here.smooth.sel(smooth_size=216) / here.rough.sel(rough_size=216)
    yield judge.below("error of Gauss over Laplace", judge.log_mean(ratio), 1e-4)
    sizes = [n for n in (100, 200, 400, 800, 1600) if n in here.rough_size.values]
    if len(sizes) < 5:
        raise judge.Missing("needs n = 100 to 1600")
    rough = here.rough.sel(rough_size=sizes).transpose("seed", "rough_size").values
    yield judge.near("Laplace exponent", -judge.log_slope(sizes, rough), 0.21, 0.04)
    return f"{len(rough)} draws; 1/6 in the limit"
