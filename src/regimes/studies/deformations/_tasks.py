"""Images as the paper feeds them to networks."""

from __future__ import annotations

import dataclasses
from typing import Any

from regimes.lab import Point
from regimes.studies._images import image_task
from regimes.studies._types import Dataset, Tensor

# mean and deviation of each colour, as the programs of the paper have them
_COLOURS = {
    "cifar10": ((0.4914, 0.4822, 0.4465), (0.2023, 0.1994, 0.2010)),
    "svhn": ((0.4376, 0.4437, 0.4728), (0.1980, 0.2010, 0.1970)),
    "fashion_mnist": ((0.5,), (0.5,)),
}


def task(
    images: str,
    n_train: int,
    n_test: int | None,
    *,
    seed: int = 0,
    device: str = "cpu",
    enlarge: int = 1,
    colours: int | None = None,
) -> Dataset:
    """Images in ten classes: MNIST in [0, 1], others normalised (docs/themes/deformations.md).

    Args:
        images: a set of `studies._images`.
        n_train: training images: the first of a shuffle, so that a larger set holds a smaller one.
        n_test: test images.
        seed: of the shuffle.
        device: where they live.
        enlarge: every pixel becomes a square of this side, for networks that want larger images.
        colours: channels, where grey ones are to be repeated.
    """
    made = image_task(
        images,
        n_train,
        n_test,
        files="split",
        centre=False,
        sphere="none",
        labels="classes",
        seed=seed,
        precision="float32",
        dtype="float32",
        device=device,
        keep=False,
    )

    def change(x: Tensor) -> Tensor:
        if images in _COLOURS:
            mean, deviation = (x.new_tensor(each)[:, None, None] for each in _COLOURS[images])
            x = (x - mean) / deviation
        if enlarge > 1:
            x = x.repeat_interleave(enlarge, 2).repeat_interleave(enlarge, 3)
        return x if colours is None or x.shape[1] == colours else x.expand(-1, colours, -1, -1)

    return dataclasses.replace(made, x_train=change(made.x_train), x_test=change(made.x_test))


def task_at(params: Any, point: Point, n_train: int | None = None, **options: Any) -> Dataset:
    """The images of a trial whose parameters say which, how many and how large."""
    return task(
        params.images,
        params.n_train if n_train is None else n_train,
        params.n_test,
        **{"seed": point.seed, "device": point.device, "enlarge": params.enlarge, **options},
    )
