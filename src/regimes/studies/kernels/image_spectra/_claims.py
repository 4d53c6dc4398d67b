"""Verdicts on what the spectrum foretells."""

from __future__ import annotations

import numpy as np

import regimes as rg
from regimes.lab import Data, Values, judge

claim = judge.Claims()

FULL_FROM = 20_000  # points in a Gram from which the claims of the full size are judged
SPLITS = ("cifar10", "cifar10-other")


def tails(dataset: Data, task: str, points: int) -> Values:
    """Powers beyond each rank (seed, rank) of Grams of one size."""
    here = judge.where_ran(dataset, "seed", "tail", task=task, points=points)
    return here["tail"].dropna("rank", how="all").transpose("seed", "rank")


def slope(dataset: Data, task: str, points: int, window: tuple[int, int]) -> judge.Measured:
    """Exponent of the tail over a window of ranks, twenty in each decade."""
    tail = tails(dataset, task, points)
    last = int(tail["rank"].max())
    if last < window[1]:
        raise judge.Missing(f"needs {window[1]} ranks, {last} were kept")
    chosen = tail.sel(rank=rg.curves.spaced_ranks(window, last))
    found = judge.power_law(chosen, "rank", center="mean")
    return judge.Measured(-found.exponent, found.error)


def largest(dataset: Data, task: str) -> int:
    """Points of the largest Gram of a task."""
    here = judge.need(dataset, "tail", task=task)
    return int(here.points[here["tail"].notnull().any(["seed", "rank"])].max())


@claim("KER-25", "MNIST: slope of the tail from 0.28 to 0.48, falling with the points")
def _mnist(dataset: Data) -> judge.Parts:
    for window in ((10, 100), (30, 300)):
        name = f"ranks {window[0]} to {window[1]}"
        yield judge.within(name, slope(dataset, "mnist", 3000, window), 0.28, 0.48)
    top = largest(dataset, "mnist")
    small, large = tails(dataset, "mnist", 3000), tails(dataset, "mnist", top)
    seeds = [s for s in small.seed.values if s in large.seed.values]
    ranks = rg.curves.spaced_ranks((10, 100), 100)
    ratio = large.sel(seed=seeds, rank=ranks) / small.sel(seed=seeds, rank=ranks)
    yield judge.above("fall from 3000 points on", judge.log_slope(ranks, ratio.values), 0.0)
    more = slope(dataset, "mnist", top, (10, 100)), slope(dataset, "mnist", top, (30, 300))
    return (
        f"{len(seeds)} draws; with {top} points {more[0]} and {more[1]}; the paper's 0.36 "
        "is of 60,000"
    )


@claim("KER-26", "CIFAR-10: slope of the tail from 0.03 to 0.11, either split")
def _cifar(dataset: Data) -> judge.Parts:
    top = largest(dataset, "cifar10")
    for split in SPLITS:
        found = slope(dataset, split, max(4500, top), (10, 100))
        yield judge.within(split, found, 0.03, 0.11)
    return f"ranks 10 to 100 of {max(4500, top)} points, of the 10,000 images at hand"


@claim("KER-27", "MNIST: tail and learning curve have the same slope within 0.12")
def _parallel(dataset: Data) -> judge.Parts:
    top = largest(dataset, "mnist")
    points = top if top >= FULL_FROM else 3000
    most = 0.06 if top >= FULL_FROM else 0.12
    found = slope(dataset, "mnist", points, (10, 100))
    mse = judge.where_ran(dataset, "seed", "mse", task="mnist").mse
    curve = judge.power_law(mse, "size", (128, float(mse["size"].max())), center="mean")
    gap = found - judge.Measured(-curve.exponent, curve.error)
    yield judge.near("slope of the tail - slope of the error", gap, 0.0, most)
    return f"tail {found} over ranks 10 to 100 of {points} points, error {-curve.exponent:.3f}"


@claim("KER-30", "MNIST: ranks 1 and 10 within 3 % and 15 % from 1500 to 4500 points")
def _converged(dataset: Data) -> judge.Parts:
    ratios = {task: _ratios(dataset, task) for task in ("mnist", "cifar10")}
    first, tenth, last = (judge.mean_of(ratios["mnist"][:, rank - 1]) for rank in (1, 10, 100))
    yield judge.near("rank 1", first, 1.0, 0.03)
    yield judge.near("rank 10", tenth, 1.0, 0.15)
    off = np.abs(np.log(ratios["cifar10"].mean(0)))
    slower = judge.resampled(
        ratios["mnist"][:, (9, 99)], lambda d: float(np.diff(np.abs(np.log(d.mean(0))))[0])
    )
    yield judge.above("log ratio at rank 100 beyond that at rank 10", slower, 0.0)
    gap = judge.mean_of(np.abs(np.log(ratios["cifar10"][:, 99]))) - judge.mean_of(
        np.abs(np.log(ratios["mnist"][:, 99]))
    )
    yield judge.above("log ratio at rank 100, CIFAR-10 beyond MNIST", gap, 0.0)
    return (
        f"eigenvalues of 1500 points over those of 4500; rank 100 of MNIST {last}, CIFAR-10 ranks "
        f"1, 10, 100: {', '.join(f'{off[k]:.3f}' for k in (0, 9, 99))} off in log"
    )


def _ratios(dataset: Data, task: str) -> np.ndarray:
    """Eigenvalues of 1500 points over those of 4500, (seed, rank)."""
    few, many = (
        judge.where_ran(dataset, "seed", "eigenvalue", task=task, points=n) for n in (1500, 4500)
    )
    if float(many["rank"].max()) < 100:
        raise judge.Missing("needs 100 ranks")
    ratio = (few.eigenvalue / many.eigenvalue).transpose("seed", "rank")
    return ratio.values[:, :100]
