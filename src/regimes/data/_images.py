"""The image sets as data sets: MNIST and its replacements, CIFAR-10, the 8x8 digits."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor

from regimes._check import choose
from regimes._random import generator
from regimes.data._dataset import Dataset, Points, float_dtype
from regimes.data._files import read_images
from regimes.data._split import check_sizes, interleave, pooled_sizes

_POOLS = {"all": ("train", "test"), "train": ("train",), "test": ("test",)}


def digits(
    n_train: int | None = 1000,
    n_test: int | None = None,
    seed: int = 0,
    *,
    shuffle: bool = True,
    dtype: torch.dtype = torch.float32,
) -> Dataset:
    """The 1797 handwritten digits of 8 x 8 pixels that come with scikit-learn.

    There is one file only: it is shuffled, the classes are interleaved so that every prefix is
    balanced, the first `n_train` are for training and the next `n_test` for testing.

    Args:
        n_train: training images; None: all that n_test leaves.
        n_test: test images; None: all that n_train leaves.
        seed: seed of the shuffle.
        shuffle: False keeps the order of the file within each class.
        dtype: precision.

    Returns:
        The data set, x of shape (n, 1, 8, 8) in [0, 1] (the file's 0..16 divided by 16), ten
        classes.

    Raises:
        ValueError: if the sizes do not fit into 1797.

    Example:
        >>> digits()
        Dataset 'digits': 1000 train, 797 test, x of shape (1, 8, 8), float32, seed 0
          y train  0: 100, 1: 100, 2: 100, 3: 100, 4: 100, 5: 100, 6: 100, 7: 100, 8: 100, 9: 100
          y test   0: 78, 1: 82, 2: 77, 3: 83, 4: 81, 5: 82, 6: 81, 7: 79, 8: 74, 9: 80
          made by  1. 1797 images of digits, shuffled, classes in turn, the first 1000 for training
    """
    check_sizes(n_train, n_test)
    return _pooled("digits", digit_points(), n_train, n_test, seed, shuffle, dtype)


def mnist(
    n_train: int | None = None,
    n_test: int | None = None,
    seed: int = 0,
    *,
    root: str | Path | None = None,
    pool: str | None = None,
    shuffle: bool | None = None,
    dtype: torch.dtype = torch.float32,
) -> Dataset:
    """MNIST: 60,000 and 10,000 handwritten digits, x of shape (n, 1, 28, 28) in [0, 1].

    By default the canonical files in file order. A split of which only a part is wanted is a
    seeded random part: the first n of a permutation, so that a larger part contains a smaller
    one. With `pool`, the files are joined, shuffled, their classes interleaved so that every
    prefix is balanced, the first `n_train` images are for training, the next `n_test` for testing
    (docs/themes/regimes.md, "Data").

    Args:
        n_train: training images; None: the whole training split (with `pool`: what n_test leaves).
        n_test: test images; None: the whole test split (with `pool`: what n_train leaves).
        seed: seed of the choice or shuffle.
        root: folder of the files, see `read_images`; None: REGIMES_DATA, else download.
        pool: "all", "train" or "test": draw both sets from these files. "test" is the way to use
            a set of which only the t10k files are there.
        shuffle: None shuffles where a part or a pool is drawn and keeps whole splits in file
            order; True shuffles always, False never.
        dtype: precision.

    Returns:
        The data set, ten classes.

    Raises:
        FileNotFoundError: if the files are neither there nor to be had.
        ValueError: if the sizes do not fit, or a file is damaged.

    Example:
        >>> mnist(n_train=0)
        Traceback (most recent call last):
        ...
        ValueError: n_train must be an integer >= 1, got 0
    """
    return _image_set("mnist", n_train, n_test, seed, root, pool, shuffle, dtype)


def fashion_mnist(
    n_train: int | None = None,
    n_test: int | None = None,
    seed: int = 0,
    *,
    root: str | Path | None = None,
    pool: str | None = None,
    shuffle: bool | None = None,
    dtype: torch.dtype = torch.float32,
) -> Dataset:
    """Fashion-MNIST: clothes, x of shape (n, 1, 28, 28) in [0, 1]; arguments as for `mnist`.

    >>> fashion_mnist(pool="both")
    Traceback (most recent call last):
    ...
    ValueError: unknown pool 'both'; use one of: test, train, all
    """
    return _image_set("fashion_mnist", n_train, n_test, seed, root, pool, shuffle, dtype)


def kmnist(
    n_train: int | None = None,
    n_test: int | None = None,
    seed: int = 0,
    *,
    root: str | Path | None = None,
    pool: str | None = None,
    shuffle: bool | None = None,
    dtype: torch.dtype = torch.float32,
) -> Dataset:
    """Kuzushiji-MNIST: cursive characters, x of shape (n, 1, 28, 28); arguments as for `mnist`.

    >>> kmnist(n_test=-1)
    Traceback (most recent call last):
    ...
    ValueError: n_test must be an integer >= 0, got -1
    """
    return _image_set("kmnist", n_train, n_test, seed, root, pool, shuffle, dtype)


def emnist(
    n_train: int | None = None,
    n_test: int | None = None,
    seed: int = 0,
    *,
    root: str | Path | None = None,
    pool: str | None = None,
    shuffle: bool | None = None,
    dtype: torch.dtype = torch.float32,
) -> Dataset:
    """EMNIST letters: x of shape (n, 1, 28, 28), upright, 26 classes; arguments as for `mnist`.

    Read from its own files (`emnist-letters-train-images-idx3-ubyte.gz` and so on), which hold the
    letters lying on their side and count them from 1; they are not downloaded.

    >>> emnist(n_train=0)
    Traceback (most recent call last):
    ...
    ValueError: n_train must be an integer >= 1, got 0
    """
    return _image_set("emnist", n_train, n_test, seed, root, pool, shuffle, dtype)


def cifar10(
    n_train: int | None = None,
    n_test: int | None = None,
    seed: int = 0,
    *,
    root: str | Path | None = None,
    pool: str | None = None,
    shuffle: bool | None = None,
    dtype: torch.dtype = torch.float32,
) -> Dataset:
    """CIFAR-10: x of shape (n, 3, 32, 32) in [0, 1]; arguments as for `mnist`.

    The binary version (`data_batch_1.bin` to `data_batch_5.bin`, `test_batch.bin`) is read; the
    training split is whatever batches are there. The python version is a pickle and is refused.

    >>> cifar10(dtype=torch.int64)
    Traceback (most recent call last):
    ...
    ValueError: dtype must be torch.float32 or torch.float64, got torch.int64
    """
    return _image_set("cifar10", n_train, n_test, seed, root, pool, shuffle, dtype)


def digit_points() -> Points:
    """All digits as uint8 pixels 0..16, (1797, 1, 8, 8), and int64 labels, in file order."""
    from sklearn.datasets import load_digits

    bunch = load_digits()
    x = torch.from_numpy(bunch.images).to(torch.uint8).unsqueeze(1)
    return Points(x, torch.from_numpy(bunch.target).to(torch.int64))


def to_unit(pixels: Tensor, name: str, dtype: torch.dtype) -> Tensor:
    """Pixels as floats in [0, 1]."""
    return pixels.to(dtype) / (16 if name == "digits" else 255)


def _image_set(
    name: str,
    n_train: int | None,
    n_test: int | None,
    seed: int,
    root: str | Path | None,
    pool: str | None,
    shuffle: bool | None,
    dtype: torch.dtype,
) -> Dataset:
    check_sizes(n_train, n_test)
    float_dtype(dtype)
    generator(seed, name)  # a bad seed is an error even where nothing is drawn
    if pool is not None:
        splits = choose(pool, _POOLS, "pool")
        parts = [read_images(name, split, root) for split in splits]
        points = Points(torch.cat([p.x for p in parts]), torch.cat([p.y for p in parts]))
        what = name if pool == "all" else f"the {pool} files of {name}"
        return _pooled(name, points, n_train, n_test, seed, shuffle is not False, dtype, what)
    train, said_train, drawn_train = _part(name, "train", n_train, seed, root, shuffle)
    # A test set that is not wanted need not be there, but its images have a shape all the same.
    if n_test == 0:
        test, said_test, drawn_test = Points(train.x[:0], train.y[:0]), "no test images", False
    else:
        test, said_test, drawn_test = _part(name, "test", n_test, seed, root, shuffle)
    return Dataset(
        to_unit(train.x, name, dtype),
        train.y,
        to_unit(test.x, name, dtype),
        test.y,
        name=name,
        description=(f"{name}: {said_train}, {said_test}",),
        seed=seed if drawn_train or drawn_test else None,
    )


def _part(
    name: str, split: str, n: int | None, seed: int, root: str | Path | None, shuffle: bool | None
) -> tuple[Points, str, bool]:
    """The wanted part of one split, in words what it is, and whether it was drawn."""
    points = read_images(name, split, root)
    size = len(points.x)
    if n is not None and n > size:
        raise ValueError(
            f"n_{split}={n} is larger than the {size} images in the {split} files of {name}"
        )
    n = size if n is None else n
    if shuffle is None:
        shuffle = n < size
    if shuffle:
        order = torch.randperm(size, generator=generator(seed, f"{name}/{split}"))[:n]
        said = f"{n} of {size} {split} images at random"
        return Points(points.x[order], points.y[order]), said, True
    said = f"the {size} {split} images" if n == size else f"the first {n} of {size} {split} images"
    return Points(points.x[:n], points.y[:n]), f"{said} in file order", False


def _pooled(
    name: str,
    points: Points,
    n_train: int | None,
    n_test: int | None,
    seed: int,
    shuffle: bool,
    dtype: torch.dtype,
    what: str | None = None,
) -> Dataset:
    float_dtype(dtype)
    what = what or name
    size = len(points.x)
    n_train, n_test = pooled_sizes(n_train, n_test, size, what)
    order = torch.arange(size)
    if shuffle:
        order = torch.randperm(size, generator=generator(seed, f"{name}/pool"))
    order = order[interleave(points.y[order])]
    train, test = order[:n_train], order[n_train : n_train + n_test]
    how = "shuffled, classes in turn" if shuffle else "classes in turn"
    return Dataset(
        to_unit(points.x[train], name, dtype),
        points.y[train],
        to_unit(points.x[test], name, dtype),
        points.y[test],
        name=name,
        description=(f"{size} images of {what}, {how}, the first {n_train} for training",),
        seed=seed,
    )
