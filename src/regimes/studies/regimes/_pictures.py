"""Images as tasks, with fewer pixels than their files have, so that networks on them are cheap."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

from regimes.studies.regimes._setting import SETS

if TYPE_CHECKING:
    from torch import Tensor

    from regimes.data import Dataset

_TEST_FILES = {"mnist": 10_000, "kmnist": 10_000}  # images in them; used where they are enough


@lru_cache(maxsize=8)
def _pool(images: str, n_train: int, n_test: int, shrink: int, seed: int) -> Dataset:
    import torch

    from regimes import data

    if images not in SETS:
        raise ValueError(f"images must be one of {', '.join(SETS)}, got {images!r}")
    source, files = getattr(data, images), {}
    if images != "digits":
        enough = n_train + n_test <= _TEST_FILES.get(images, 0)
        files = {"pool": "test" if enough else "all"}
    made = source(n_train=n_train, n_test=n_test, seed=seed, dtype=torch.float64, **files)
    return made.pipe(_shrunk(shrink), data.center("all"), data.sphere(), data.parity())


def pictures(
    images: str,
    n_train: int,
    n_test: int,
    *,
    shrink: int = 1,
    components: int | None = None,
    seed: int = 0,
    dtype: str = "float64",
    device: str = "cpu",
) -> Dataset:
    """Images of a set as S13 makes them: pooled, centred, on the sphere, classes even and odd.

    Args:
        images: one of SETS.
        n_train: training images, the first of the shuffled pool.
        n_test: test images, the next.
        shrink: pixels are averaged in squares of this side first.
        components: keep so many principal components; None keeps the images.
        seed: of the shuffle.
        dtype: precision.
        device: where the tensors live.

    Raises:
        ValueError: an unknown set, or squares that do not fit into the images.
    """
    import torch

    from regimes import data

    made = _pool(images, n_train, n_test, shrink, seed)
    if components is not None:
        made = made.pipe(data.flatten(), data.pca(components, fit="all"))
    return made.to(getattr(torch, dtype), device)


def _shrunk(side: int) -> Callable[[Dataset], Dataset]:
    """A transform that averages pixels in squares of this side."""
    import torch.nn.functional as F

    def average(x: Tensor) -> Tensor:
        if x.shape[-1] % side or x.shape[-2] % side:
            raise ValueError(
                f"images of {x.shape[-2]} x {x.shape[-1]} pixels have no whole squares of side "
                f"{side}; choose a divisor"
            )
        return x if side == 1 else F.avg_pool2d(x, side)

    def change(made: Dataset) -> Dataset:
        return dataclasses.replace(made, x_train=average(made.x_train), x_test=average(made.x_test))

    return change
