"""What the networks of this theme learn: random labels, and the parity of digits.

Every draw has points of its own, so that errors over draws count data and networks alike
(docs/themes/landscape.md, "Data").
"""

from __future__ import annotations

import dataclasses
from functools import lru_cache

import regimes as rg
from regimes._check import positive_int
from regimes.studies._images import image_task
from regimes.studies._types import Dataset

LABELS = ("random", "parity")
COMPONENTS = 10
POOL = 4096  # random points that are drawn at least
IMAGES = {"digits": (1000, None), "mnist": (10_000, 60_000)}  # the whole pool of each set


def random_task(
    n_train: int, d: int, draw: int = 0, *, dtype: str = "float64", device: str = "cpu"
) -> Dataset:
    """Gaussian points on the sphere of radius sqrt(d), labels fair coins; no test points.

    They are the first of a longer draw, so that smaller sets are the beginnings of larger ones.

    >>> random_task(30, 14).in_shape
    (14,)
    """
    import torch

    pool = max(POOL, 1 << (positive_int("n_train", n_train) - 1).bit_length())
    made = rg.data.random_labels(pool, 0, d, seed=draw, dtype=torch.float64)
    made = dataclasses.replace(made, x_train=made.x_train[:n_train], y_train=made.y_train[:n_train])
    return made.pipe(rg.data.sphere()).to(getattr(torch, dtype), device)


def parity_task(
    images: str,
    n_train: int,
    n_test: int,
    draw: int = 0,
    *,
    components: int = COMPONENTS,
    dtype: str = "float64",
    device: str = "cpu",
) -> Dataset:
    """Even and odd digits by their first components, whitened, on the sphere of radius sqrt(d).

    The components are those of the whole pool, training and test file together. The training
    points are the first of the pool shuffled by `draw`, the test points its last, so larger
    training sets hold smaller ones and test points do not depend on P.

    >>> task = parity_task("digits", 100, 50, draw=3)
    >>> task.in_shape, task.n_train, task.n_test
    ((10,), 100, 50)
    """
    import torch

    from regimes._random import generator

    if images not in IMAGES:
        raise ValueError(f"images must be one of {', '.join(IMAGES)}, got {images!r}")
    pool = _pool(images, components)
    x, y = (
        torch.cat([getattr(pool, f"{name}_train"), getattr(pool, f"{name}_test")]) for name in "xy"
    )
    if n_train + n_test > len(x):
        raise ValueError(
            f"{images} holds {len(x)} images; n_train={n_train} and n_test={n_test} are more"
        )
    order = torch.randperm(len(x), generator=generator(draw, "landscape/parity"))
    train, test = order[:n_train], order[len(x) - n_test :]
    made = dataclasses.replace(
        pool, x_train=x[train], y_train=y[train], x_test=x[test], y_test=y[test], seed=draw
    )
    return made.to(getattr(torch, dtype), device)


@lru_cache(maxsize=4)
def _pool(images: str, components: int) -> Dataset:
    return image_task(
        images,
        *IMAGES[images],
        files="all",
        centre=False,  # components have no mean
        components=components,
        scale="whiten",
        sphere="components",
        precision="float32",
        keep=False,  # the components are kept here
    )


def tasks(
    labels: str,
    draws: tuple[int, ...],
    n_train: int,
    *,
    d: int = COMPONENTS,
    images: str = "mnist",
    n_test: int = 0,
    dtype: str = "float64",
    device: str = "cpu",
) -> list[Dataset]:
    """One data set per draw: "random" labels, or the "parity" of images."""
    place = {"dtype": dtype, "device": device}
    if labels == "random":
        return [random_task(n_train, d, draw, **place) for draw in draws]
    if labels != "parity":
        raise ValueError(f"labels must be one of {', '.join(LABELS)}, got {labels!r}")
    return [parity_task(images, n_train, n_test, draw, components=d, **place) for draw in draws]
