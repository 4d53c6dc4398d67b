"""Verdicts on effective dimensions."""

from __future__ import annotations

import numpy as np

from regimes.lab import Data, judge

claim = judge.Claims()

FULL_FROM = 20_000  # points from which the largest decade is fitted
SPHERES = {2: 0.05, 5: 0.2, 15: 0.7, 35: 2.0}
EXPECTED = {2: 2.0, 5: 5.0, 15: 13.5, 35: 26.0}


def dimension(dataset: Data, cloud: str, last: int) -> judge.Measured:
    """`-1/slope` of the mean distance from 1000 points on, or over the largest decade."""
    here = judge.where_ran(dataset, "seed", "distance", cloud=cloud)
    distance = here.distance.dropna("size", how="all").transpose("seed", "size")
    n = distance["size"].values.astype(float)
    top = n.max() if n.max() >= FULL_FROM else last
    low = top / 10 if top >= FULL_FROM else 1000
    chosen = (n >= 0.999 * low) & (n <= 1.001 * top)
    if not chosen.any() or n[chosen].max() < 0.999 * top:
        raise judge.Missing(f"needs {cloud} up to {top:g} points")
    logs = np.log(n[chosen])

    def estimate(drawn: np.ndarray) -> float:
        return float(-1 / np.polyfit(logs, np.log(drawn.mean(0)), 1)[0])

    return judge.resampled(distance.values[:, chosen], estimate)


@claim("KER-20", "estimates 2.0, 5.0, 13.5 and 26 on spheres of dimension 2, 5, 15 and 35")
def _spheres(dataset: Data) -> judge.Parts:
    for d, tolerance in SPHERES.items():
        found = dimension(dataset, f"sphere-{d}", 8000)
        yield judge.near(f"S^{d}", found, EXPECTED[d], tolerance)
    return "1000 to 8000 points; the last two are far from their limits"


@claim("KER-28", "MNIST: 13 +- 1.5, within 1.5 of the estimate on S^15")
def _mnist(dataset: Data) -> judge.Parts:
    found, sphere = (dimension(dataset, cloud, 8000) for cloud in ("mnist", "sphere-15"))
    yield judge.near("MNIST", found, 13.0, 1.5)
    yield judge.near("MNIST - S^15", found - sphere, 0.0, 1.5)
    return f"S^15 {sphere} at the same sizes; the paper says 15"


@claim("KER-29", "CIFAR-10: 28 +- 4, within 4 of the estimate on S^35")
def _cifar(dataset: Data) -> judge.Parts:
    found, sphere = (dimension(dataset, cloud, 10_000) for cloud in ("cifar10", "sphere-35"))
    yield judge.near("CIFAR-10", found, 28.0, 4.0)
    yield judge.near("CIFAR-10 - S^35", found - sphere, 0.0, 4.0)
    return f"S^35 {sphere} at the same sizes; 10,000 images at hand; the paper says 35"
