"""Images as tasks: one way to read, prepare and label them, for the studies of all themes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import lru_cache

from regimes._check import choose, positive_int
from regimes.studies._types import Dataset, Tensor

SETS = ("digits", "mnist", "fashion_mnist", "kmnist", "emnist", "cifar10")
_TEST_FILES = {"mnist": 10_000, "kmnist": 10_000}  # images in them; read where they are enough
_FILES = {name: name for name in ("least", "all", "train", "test", "split")}
_SPHERES = {name: name for name in ("images", "components", "none")}
_LABELS = {name: name for name in ("parity", "first_half", "classes")}


def image_task(
    images: str,
    n_train: int,
    n_test: int | None = None,
    *,
    together: tuple[int, int | None] | None = None,
    files: str = "least",
    shrink: int = 1,
    centre: bool = True,
    components: int | None = None,
    scale: str | None = "mean",
    sphere: str = "images",
    labels: str = "parity",
    flat: bool = False,
    seed: int = 0,
    precision: str = "float64",
    dtype: str = "float64",
    device: str = "cpu",
    keep: bool = True,
) -> Dataset:
    """Images of a set, ready to be learned.

    Without options they are made as docs/themes/regimes.md, "Data", has it: files pooled and
    shuffled, the mean image of training and test set subtracted, every image scaled to `sum_i x_i^2
    = d`, classes even and odd. With `components` the images are then replaced by their first
    principal components, those of training and test set together.

    Args:
        images: one of SETS; "digits" are the 1797 built-in ones of 8 x 8 pixels.
        n_train: training images, the first of the shuffled ones.
        n_test: test images, the next; None: all that are left.
        together: prepare so many images to train and to test, of which the first are taken. Larger
            training sets then hold smaller ones, test images stay, and means and components do not
            depend on the sizes asked for. None prepares those asked for.
        files: "all", "train" or "test" pools these files; "least" the test files where they hold
            enough images (MNIST and KMNIST), else all; "split" takes training images from the
            training file and test images from the test file. The built-in digits have one file.
        shrink: pixels are averaged in squares of this side first, for cheap networks.
        centre: subtract the mean image.
        components: so many principal components; None keeps the pixels.
        scale: of the components: "mean" divides all by one number, so that their mean variance is
            1; "whiten" gives each the variance 1; None leaves them.
        sphere: what is scaled to the sphere of radius sqrt(d): "images", before components are
            taken; "components", after that; "none".
        labels: "parity" of the class (+1 even, -1 odd), "first_half" of the classes against the
            second, or "classes" as they are.
        flat: points as vectors; components always are.
        seed: of the shuffle.
        precision: of the pixels while they are prepared; components are kept in float64.
        dtype: of the task.
        device: where its tensors live.
        keep: remember the prepared images for the next call with the same options; say False where
            they are many and asked for once.

    Raises:
        ValueError: an unknown set or option, more images than the files hold, squares that do not
            fit into the images.

    >>> image_task("digits", 100, 50, components=10).in_shape
    (10,)
    >>> image_task("digits", 100, 50, shrink=2, together=(1000, None)).in_shape
    (1, 4, 4)
    """
    import torch

    from regimes import data

    if images not in SETS:
        raise ValueError(f"images must be one of {', '.join(SETS)}, got {images!r}")
    choose(files, _FILES, "files")
    choose(sphere, _SPHERES, "sphere")
    choose(labels, _LABELS, "labels")
    make = _prepared if keep else _prepared.__wrapped__
    made: Dataset = make(
        images,
        *(together or (n_train, n_test)),
        files,
        shrink,
        centre,
        components,
        scale,
        sphere,
        labels,
        seed,
        precision,
    )
    if together is not None:
        made = made.pipe(data.subset(n_train, n_test, balanced=False))
    if flat and len(made.in_shape) > 1:
        made = made.pipe(data.flatten())
    return made.to(getattr(torch, dtype), device)


@lru_cache(maxsize=8)
def _prepared(
    images: str,
    n_train: int,
    n_test: int | None,
    files: str,
    shrink: int,
    centre: bool,
    components: int | None,
    scale: str | None,
    sphere: str,
    labels: str,
    seed: int,
    precision: str,
) -> Dataset:
    import torch

    from regimes import data

    options = {} if images == "digits" else {"pool": _pool(images, n_train, n_test, files)}
    made: Dataset = getattr(data, images)(
        n_train=n_train, n_test=n_test, seed=seed, dtype=getattr(torch, precision), **options
    )
    if positive_int("shrink", shrink) != 1:
        made = _shrunk(shrink)(made)
    if centre:
        made = made.pipe(data.center("all"))
    if sphere == "images":
        made = made.pipe(data.sphere())
    if components is not None:
        made = made.pipe(data.pca(components, fit="all", scale=scale)).to(torch.float64)
    if sphere == "components":
        made = made.pipe(data.sphere())
    return made if labels == "classes" else made.pipe(getattr(data, labels)())


def _pool(images: str, n_train: int, n_test: int | None, files: str) -> str | None:
    if files == "split":
        return None
    if files != "least":
        return files
    enough = n_test is not None and n_train + n_test <= _TEST_FILES.get(images, 0)
    return "test" if enough else "all"


def _shrunk(side: int) -> Callable[[Dataset], Dataset]:
    """A transform that averages pixels in squares of this side."""
    import torch.nn.functional as F

    def average(x: Tensor) -> Tensor:
        if x.shape[-1] % side or x.shape[-2] % side:
            raise ValueError(
                f"images of {x.shape[-2]} x {x.shape[-1]} pixels have no whole squares of side "
                f"{side}; choose a divisor"
            )
        return F.avg_pool2d(x, side)

    def change(made: Dataset) -> Dataset:
        return dataclasses.replace(made, x_train=average(made.x_train), x_test=average(made.x_test))

    return change
