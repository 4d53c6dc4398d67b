"""Mixtures of easy and difficult examples [Baratin 2021, sec. 3.4]."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor

from regimes._check import choose, positive_int
from regimes._random import generator
from regimes.data._dataset import Dataset, Points, float_dtype
from regimes.data._files import read_images
from regimes.data._images import digit_points, to_unit

_KINDS = {
    "random": "images with uniform random labels",
    "kmnist": "KMNIST images with their own class index",
    "shuffled": "images with pixels in one fixed random order and their own labels",
}
_EASY = dict.fromkeys(("mnist", "fashion_mnist", "kmnist", "cifar10", "digits"))


def easy_difficult(
    kind: str,
    *,
    easy: str = "mnist",
    n_easy: int = 10_000,
    n_difficult: int = 1000,
    n_test: int = 1000,
    n_probe: int = 100,
    difficult_split: str = "test",
    root: str | Path | None = None,
    seed: int = 0,
    dtype: torch.dtype = torch.float32,
) -> Dataset:
    """A training set of easy images with true labels, then difficult ones.

    Kinds of difficult images: "random", further images of the easy set with labels drawn
    uniformly over the classes (the true one with probability 1/10); "kmnist", KMNIST images with
    their own class index; "shuffled", further images of the easy set whose pixels are put into
    one fixed random order, with their own labels (ALI-22).

    Args:
        kind: "random", "kmnist" or "shuffled".
        easy: "mnist", "fashion_mnist", "kmnist", "cifar10" or "digits".
        n_easy: easy training images: x_train[:n_easy].
        n_difficult: difficult training images: x_train[n_easy:].
        n_test: test images, of the easy set with true labels.
        n_probe: size of `probes["easy"]` and `probes["difficult"]`, the first so many training
            images of either part (they were drawn at random).
        difficult_split: KMNIST file for kind "kmnist"; the test file has 10,000 images and is the
            smaller download.
        root: folder of the files, see `read_images`.
        seed: seed of all draws.
        dtype: precision.

    Returns:
        The data set, x in [0, 1], class labels.

    Raises:
        FileNotFoundError: if the files are neither there nor to be had.
        ValueError: for unknown kinds or sets, sizes that do not fit, or images of two shapes.

    Example:
        >>> easy_difficult("random", easy="digits", n_easy=1000, n_difficult=100, n_test=500)
        Dataset 'digits+random': 1100 train, 500 test, x of shape (1, 8, 8), float32, seed 0
          y train  ...
          y test   ...
          probes   easy: 100, difficult: 100
          made by  1. 1000 images of digits, then 100 images with uniform random labels
    """
    what = choose(kind, _KINDS, "kind")
    choose(easy, _EASY, "easy image set")
    float_dtype(dtype)
    n_easy, n_difficult = positive_int("n_easy", n_easy), positive_int("n_difficult", n_difficult)
    n_test, n_probe = positive_int("n_test", n_test, least=0), positive_int("n_probe", n_probe)
    if n_probe > min(n_easy, n_difficult):
        raise ValueError(
            f"n_probe={n_probe} training images of each part do not fit into n_easy={n_easy} and "
            f"n_difficult={n_difficult}"
        )
    own = 0 if kind == "kmnist" else n_difficult
    pool, tests = _easy_pool(easy, n_easy + own, n_test, root, seed)
    simple = Points(pool.x[:n_easy], pool.y[:n_easy])
    if kind == "kmnist":
        hard = _draw(read_images("kmnist", difficult_split, root), n_difficult, "kmnist", seed)
        if hard.x.shape[1:] != simple.x.shape[1:]:
            raise ValueError(
                f"KMNIST images have shape {tuple(hard.x.shape[1:])}, those of {easy} "
                f"{tuple(simple.x.shape[1:])}; choose an easy set of the same shape"
            )
    else:
        hard = Points(pool.x[n_easy:], pool.y[n_easy:])
        if kind == "random":
            source = generator(seed, "easy_difficult/labels")
            hard = Points(hard.x, torch.randint(10, (n_difficult,), generator=source))
        else:
            hard = Points(_shuffle_pixels(hard.x, seed), hard.y)

    hard_name = "kmnist" if kind == "kmnist" else easy
    train = Points(
        torch.cat([to_unit(simple.x, easy, dtype), to_unit(hard.x, hard_name, dtype)]),
        torch.cat([simple.y, hard.y]),
    )
    probes = {
        "easy": Points(train.x[:n_probe], train.y[:n_probe]),
        "difficult": Points(train.x[n_easy : n_easy + n_probe], train.y[n_easy : n_easy + n_probe]),
    }
    return Dataset(
        *train,
        to_unit(tests.x, easy, dtype),
        tests.y,
        name=f"{easy}+{kind}",
        description=(f"{n_easy} images of {easy}, then {n_difficult} {what}",),
        seed=seed,
        probes=probes,
    )


def _easy_pool(
    easy: str, n_train: int, n_test: int, root: str | Path | None, seed: int
) -> tuple[Points, Points]:
    """n_train training and n_test test images of the easy set, drawn at random."""
    if easy == "digits":  # one file for both
        drawn = _draw(digit_points(), n_train + n_test, easy, seed)
        return Points(drawn.x[:n_train], drawn.y[:n_train]), Points(
            drawn.x[n_train:], drawn.y[n_train:]
        )
    train = _draw(read_images(easy, "train", root), n_train, f"{easy}/train", seed)
    if n_test == 0:
        return train, Points(train.x[:0], train.y[:0])
    return train, _draw(read_images(easy, "test", root), n_test, f"{easy}/test", seed)


def _draw(points: Points, n: int, what: str, seed: int) -> Points:
    if n > len(points.x):
        raise ValueError(
            f"{n} images of {what} are needed, its files hold {len(points.x)}; lower n_easy, "
            "n_difficult or n_test"
        )
    order = torch.randperm(len(points.x), generator=generator(seed, f"easy_difficult/{what}"))[:n]
    return Points(points.x[order], points.y[order])


def _shuffle_pixels(x: Tensor, seed: int) -> Tensor:
    """All images with their pixels in one and the same random order."""
    flat = x.flatten(2)
    source = generator(seed, "easy_difficult/pixels")
    return flat[:, :, torch.randperm(flat.shape[2], generator=source)].reshape(x.shape)
