"""What the studies of this theme train: networks on digits of ten components.

Their default: MNIST on its first ten principal components, labels odd and even,
softplus_5, float64. The scale of a network is `sqrt(h) alpha`.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import regimes as rg
from regimes.lab import Axis, Point
from regimes.studies._images import image_task
from regimes.studies._types import Dataset, Ensemble, FullyConnected

COMPONENTS = 10
POOL = (5000, 5000)  # images to train and to test that `task` takes the first of
POOLS: dict[str, tuple[int, int | None]] = {"digits": (1000, None)}
WHOLE = (10_000, 50_000)
MEMBERS = (Axis("scale", stacked=True), Axis("seed", stacked=True))  # trained side by side


def task(
    images: str,
    n_train: int,
    n_test: int | None = None,
    *,
    components: int | None = COMPONENTS,
    seed: int = 0,
    dtype: str = "float64",
    device: str = "cpu",
) -> Dataset:
    """The first points of a pool: larger training sets hold smaller ones, test points stay.

    The pool has 10,000 images of a set (of MNIST those of the test files), half to train and half
    to test; of the built-in digits 1000 and 797; with "-whole", as in "mnist-whole", 10,000 to
    train and 50,000 to test of all files. `components` None keeps the pixels.
    """
    name = images.removesuffix("-whole")
    pool = POOLS.get(images, POOL if name == images else WHOLE)
    return image_task(
        name,
        n_train,
        n_test,
        together=pool,
        components=components,
        seed=seed,
        dtype=dtype,
        device=device,
    )


def task_at(point: Point, images: str, n_train: int, n_test: int, **options: Any) -> Dataset:
    """`task` in the precision and on the device of a trial."""
    return task(images, n_train, n_test, dtype=point.dtype, device=point.device, **options)


def points_at(
    point: Point, images: str, n_train: int, n_test: int, *, components: int | None
) -> Dataset:
    """`task_at`, or more points of the same kind than its pool has, of all files.

    Those are 70,000 of MNIST and its relatives, 60,000 of CIFAR-10.
    """
    if images == "digits" or max(n_train, n_test) <= min(POOL):
        return task_at(point, images, n_train, n_test, components=components)
    return image_task(
        images,
        n_train,
        n_test,
        files="all",
        components=components,
        dtype=point.dtype,
        device=point.device,
        keep=False,
    )


def network(
    d: int,
    width: int,
    depth: int,
    seed: int,
    *,
    dtype: str = "float64",
    device: str = "cpu",
    activation: str = "softplus_5",
    **options: Any,
) -> FullyConnected:
    """The fully connected network in the NTK parametrisation, without biases."""
    import torch

    return rg.nets.FullyConnected(
        d,
        width,
        depth,
        activation=activation,
        seed=seed,
        dtype=getattr(torch, dtype),
        device=device,
        **options,
    )


def members(
    d: int, width: int, depth: int, scales: Sequence[float], seeds: Sequence[int], **options: Any
) -> tuple[Ensemble, list[float]]:
    """Networks for every (scale, seed), scales outermost, and their alpha = scale/sqrt(h).

    The networks of a seed are the same at every scale: comparisons are paired.
    """
    once = rg.nets.stack(lambda seed: network(d, width, depth, seed, **options), seeds)
    start = once.select(list(range(len(seeds))) * len(scales))
    return start, [scale / width**0.5 for scale in scales for _ in seeds]


def members_at(
    point: Point,
    data: Dataset,
    width: int,
    depth: int,
    scales: Sequence[float],
    seeds: Sequence[int],
    **options: Any,
) -> tuple[Ensemble, list[float]]:
    """`members` for this data, in the precision and on the device of a trial."""
    place = {"dtype": point.dtype, "device": point.device}
    return members(prod(data.in_shape), width, depth, scales, seeds, **place, **options)


def networks_at(point: Point, params: Any) -> tuple[Dataset, Ensemble, list[float]]:
    """The data of a trial, and a network per seed at its depth, width and scale with its alpha."""
    data = task_at(
        point, params.images, params.n_train, params.n_test, components=params.components
    )
    start, alpha = members_at(point, data, point.width, point.depth, [point.scale], point.seed)
    return data, start, alpha


def members_of(
    point: Point, data: Dataset, width: int, depth: int = 2, **options: Any
) -> tuple[Ensemble, list[float]]:
    """`members_at` all scales and seeds of a trial that stacks both."""
    return members_at(point, data, width, depth, point.scale, point.seed, **options)


def weights_per_member(start: Ensemble) -> int:
    """N: the number of parameters of one network."""
    return sum(stacked[0].numel() for stacked in start.parameters.values())
