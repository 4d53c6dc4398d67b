"""Task, network and trainer after [Geiger 2019] and [Geiger 2020b] at the sizes of this study."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import regimes as rg
from regimes.studies._images import image_task
from regimes.studies._types import Checkpoint, Dataset, Ensemble, FullyConnected, Run
from regimes.studies.regimes import _setting

LABELS = ("parity", "random")
TRAINERS = ("fast", "constant")
COMPONENTS = 10  # d
DEPTH = 2  # L
RATE = 1e-3
CHECK_EVERY = 100  # steps between looks at the margins; a run ends at the first that finds all
POOLS = {"digits": (1000, None), "mnist": (10_000, 60_000)}  # all images, to train and to test


def weights_of(width: int) -> int:
    """N = d h + (L - 1) h^2 + h: weights only, as on every axis of the papers."""
    return COMPONENTS * width + (DEPTH - 1) * width**2 + width


def task(
    labels: str,
    images: str,
    n_train: int,
    n_test: int,
    *,
    dtype: str = "float64",
    device: str = "cpu",
) -> Dataset:
    """Digits with their parity, or Gaussian points of as many components, labels at random.

    Digits are their ten first components over all images, whitened, on the sphere of radius
    sqrt(d).
    """
    import torch

    if labels != "parity":
        made = rg.data.random_labels(n_train, n_test, COMPONENTS, dtype=torch.float64)
        return made.pipe(rg.data.sphere()).to(getattr(torch, dtype), device)
    if images not in POOLS:
        raise ValueError(f"images must be one of {', '.join(POOLS)}, got {images!r}")
    return image_task(
        images,
        n_train,
        n_test,
        together=POOLS[images],
        files="all",
        centre=False,  # components have no mean
        components=COMPONENTS,
        scale="whiten",
        sphere="components",
        precision="float32",  # of the recorded runs
        dtype=dtype,
        device=device,
    )


def network(
    d: int, width: int, seed: int, *, activation: str = "relu", **options: Any
) -> FullyConnected:
    """The network of [Geiger 2019, eqs. 6 to 8]: two hidden layers, biases, standard form."""
    own: dict[str, Any] = {"parametrization": "standard", "bias": True, "init": "orthogonal"}
    return _setting.network(d, width, DEPTH, seed, activation=activation, **own, **options)


def networks(width: int, seeds: Sequence[int], **place: str) -> Ensemble:
    """One network per seed, in this precision and on this device."""
    return rg.nets.stack(lambda seed: network(COMPONENTS, width, seed, **place), seeds)


def train(
    start: Ensemble,
    data: Dataset,
    *,
    steps: int,
    margin: float,
    lowered: bool,
    checkpoint: Checkpoint | None = None,
) -> Run:
    """Adam on the square hinge until N_Delta = 0.

    The rate is held for half of the steps, then lowered, or constant.
    """
    return rg.flow.descend(
        start,
        data,
        rate=RATE,
        optimiser="adam",
        schedule=rg.flow.hold_then_lower(steps) if lowered else None,
        loss=rg.flow.quadratic_hinge(margin),
        subtract_init=False,
        divide_by="1",
        until="fitted",
        events=("fitted",),
        max_steps=steps,
        check_every=CHECK_EVERY,
        checkpoint=checkpoint,
    )
