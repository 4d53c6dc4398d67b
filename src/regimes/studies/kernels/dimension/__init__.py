"""Effective dimensions of images and spheres by nearest neighbours [Spigler 2020, fig. 4]."""

from __future__ import annotations

from dataclasses import dataclass

import regimes as rg
from regimes.lab import Array, Axis, Point, TrialResult, study
from regimes.studies.kernels._pixels import pixels

SPHERE = "sphere-"  # followed by its dimension


@dataclass(frozen=True)
class Params:
    """Scanned: cloud, what the points are, and seed. Sizes that a set cannot give are left out."""

    cloud: tuple[str, ...] = ("digits", "sphere-2")
    seed: tuple[int, ...] = (0, 1)
    sizes: tuple[int, ...] = (200, 400, 800)


SPHERES = tuple(f"{SPHERE}{d}" for d in (2, 5, 15, 35))


@study(
    "kernels/dimension",
    version=1,
    sizes={
        "smoke": Params(),
        "cpu": Params(
            (*SPHERES, "mnist", "cifar10"), tuple(range(8)), (1000, 2000, 4000, 8000, 10_000)
        ),
        "paper": Params(
            (*SPHERES, "mnist", "cifar10"),
            tuple(range(4)),
            (1000, 2000, 4000, 8000, 10_000, 20_000, 40_000, 60_000),
        ),
    },
    axes=["cloud", Axis("seed")],
    units={"distance": "1"},
)
class Dimension:
    """How close images come as there are more of them, beside points on spheres.

    The distance to the nearest of n points falls as n to the power -1/d on a sphere of dimension d.
    Digits behave as a sphere of some fifteen dimensions, small photographs as one of some
    thirty-five: far fewer than their pixels, and far more than exponents of learning curves allow.

    The paper: [Spigler 2020, sec. 7, fig. 4].
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """Nearest distances in nested subsets of one draw."""
        if point.cloud.startswith(SPHERE):
            d = int(point.cloud.removeprefix(SPHERE))
            x = rg.data.sphere_points(max(params.sizes), d, point.seed)
        else:
            x, _ = pixels(point.cloud)
        sizes = tuple(n for n in params.sizes if n <= len(x))
        found = rg.measure.nn_distance(x.to(point.device), sizes, seed=point.seed)
        return TrialResult(
            {"duplicates": found.duplicates},
            {"size": Array("size", sizes), "distance": Array("size", found.distances[0])},
        )

    @staticmethod
    def cost(params: Params, point: Point) -> float:
        """Products of coordinates."""
        return {"mnist": 784.0, "cifar10": 3072.0}.get(point.cloud, 36.0)
