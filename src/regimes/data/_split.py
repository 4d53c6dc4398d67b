"""Training and test sets out of a pool, with balanced classes in every prefix."""

from __future__ import annotations

import torch
from torch import Tensor

from regimes._check import positive_int


def interleave(labels: Tensor) -> Tensor:
    """The order that takes the classes in turn, so that every prefix is balanced.

    The first point of each class in order of the classes, then the second of each, and so on;
    class counts of a prefix differ by one at most until the smallest class runs out
    (docs/themes/regimes.md, "Data"). What is left of the larger classes follows in the same manner.

    >>> interleave(torch.tensor([0, 0, 0, 1, 1]))
    tensor([0, 3, 1, 4, 2])
    """
    turn = torch.empty(len(labels), dtype=torch.int64)
    for label in torch.unique(labels):
        members = torch.nonzero(labels == label).reshape(-1)
        turn[members] = torch.arange(len(members))
    by_class = torch.argsort(labels, stable=True)
    return by_class[torch.argsort(turn[by_class], stable=True)]


def check_sizes(n_train: int | None, n_test: int | None) -> None:
    """Raise a ValueError unless the sizes are None or whole numbers that make sense."""
    if n_train is not None:
        positive_int("n_train", n_train)
    if n_test is not None:
        positive_int("n_test", n_test, least=0)


def pooled_sizes(n_train: int | None, n_test: int | None, size: int, what: str) -> tuple[int, int]:
    """How many of `size` points go to training and test set; None takes what the other leaves."""
    if n_train is not None:
        train, test = n_train, size - n_train if n_test is None else n_test
    elif n_test is not None:
        train, test = size - n_test, n_test
    else:
        raise ValueError(f"a pool has no split of its own: give n_train (or n_test) for {what}")
    if train < 1 or test < 0 or train + test > size:
        raise ValueError(
            f"n_train={n_train} and n_test={n_test} do not fit into the {size} points of {what}"
        )
    if test == 0 and n_test is None:
        raise ValueError(
            f"n_train={n_train} leaves no test points of {what}; say n_test=0 for none"
        )
    return train, test
