"""Images as the paper takes them: raw pixels from 0 to 255, labels +1 and -1."""

from __future__ import annotations

from functools import lru_cache

from regimes._check import choose
from regimes.studies._types import Tensor

# task -> (set of images, classes that are labelled +1)
TASKS = {
    "digits": ("digits", (0, 2, 4, 6, 8)),
    "mnist": ("mnist", (0, 2, 4, 6, 8)),
    "cifar10": ("cifar10", (0, 1, 2, 3, 4)),
    # airplane, automobile, bird, ship, truck against the rest
    "cifar10-other": ("cifar10", (0, 1, 2, 8, 9)),
}
TITLES = {
    "digits": "digits of 8 x 8 pixels, even or odd",
    "mnist": "MNIST, even or odd",
    "cifar10": "CIFAR-10, first five classes or last five",
    "cifar10-other": "CIFAR-10, planes, cars, birds, ships and trucks or the rest",
}


def pixels(task: str) -> tuple[Tensor, Tensor]:
    """All images of a task as vectors (n, D), float32, and labels (n,).

    >>> x, y = pixels("digits")
    >>> tuple(x.shape), float(x.max()), sorted(set(y.tolist()))
    ((1797, 64), 255.0, [-1.0, 1.0])
    """
    import torch

    name, positive = choose(task, TASKS, "task")
    images, classes = _read(name)
    labels = torch.isin(classes, torch.tensor(positive)).float() * 2 - 1
    return images, labels


@lru_cache(maxsize=1)
def _read(name: str) -> tuple[Tensor, Tensor]:
    """Training and test file together."""
    import torch

    from regimes import data

    if name == "digits":
        ds = data.digits(n_train=None, n_test=0)
        return (ds.x_train * 255).flatten(1), ds.y_train
    parts = [data.read_images(name, split) for split in ("train", "test")]
    x = torch.cat([part.x for part in parts]).flatten(1).float()
    return x, torch.cat([part.y for part in parts])
