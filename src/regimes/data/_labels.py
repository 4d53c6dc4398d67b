"""Transforms of the labels: binary groupings and noise."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import torch
from torch import Tensor

from regimes._check import positive_int, real
from regimes._random import generator
from regimes.data._dataset import Dataset, map_y
from regimes.data._transform import Transform


def binary(mapping: Mapping[int, int]) -> Transform:
    """Group classes into two: label +1 or -1 by a mapping from class to sign.

    Args:
        mapping: for every class of the data set +1 or -1.

    Returns:
        A transform of the labels of the training set, test set and probes. Labels take the
        dtype of x.

    Raises:
        ValueError: if a value is not +1 or -1; on application, if a class is not in the mapping.

    Example:
        >>> from regimes import data
        >>> animals = {2: 1, 3: 1, 4: 1, 5: 1, 6: 1, 7: 1, 0: -1, 1: -1, 8: -1, 9: -1}
        >>> data.digits(n_train=20, n_test=10).pipe(data.binary(animals)).classes
        (-1, 1)
    """
    if not isinstance(mapping, Mapping) or not mapping:
        raise ValueError(f"mapping must be a dictionary from class to +1 or -1, got {mapping!r}")
    bad = {key: sign for key, sign in mapping.items() if sign not in (1, -1)}
    if bad:
        raise ValueError(f"mapping must send every class to +1 or -1, got {bad}")
    return Transform("binary", _group, {"mapping": {int(k): int(s) for k, s in mapping.items()}})


def parity() -> Transform:
    """Label +1 for even classes, -1 for odd ones, as in [Paccolat 2021, fig. 8].

    >>> from regimes import data
    >>> ds = data.digits(n_train=20, n_test=10).pipe(data.parity())
    >>> ds.y_train.sum()
    tensor(0.)
    """
    return Transform("parity", _parity)


def first_half(k: int = 5) -> Transform:
    """Label +1 for classes 0..k-1, -1 for the rest: CIFAR2 of [Ortiz-Jimenez 2021, sec. 4.1].

    >>> from regimes import data
    >>> ds = data.digits(n_train=20, n_test=10).pipe(data.first_half())
    >>> ds.y_train.sum()
    tensor(0.)
    """
    return Transform("first_half", _first_half, {"k": positive_int("k", k)})


def label_noise(ratio: float, seed: int, *, flip: bool = False) -> Transform:
    """Corrupt training labels; test labels and probes stay as they are.

    Each training label is, with probability `ratio`, replaced by a uniform draw over the classes
    [Baratin 2021, sec. 3.2], so with c classes about ratio (c-1)/c of the labels change. The points
    corrupted at a small ratio are among those corrupted at a larger one with the same seed.

    Args:
        ratio: between 0 and 1.
        seed: seed of the draws.
        flip: for +1/-1 labels: flip the sign of exactly round(ratio * n_train) labels instead.

    Returns:
        The transform; its description says how many labels changed.

    Raises:
        ValueError: if ratio is outside [0, 1]; on application, for regression targets, or when
            flip is asked for labels that are not +1/-1.

    Example:
        >>> from regimes import data
        >>> data.stripe(100, 10, d=2).pipe(data.label_noise(0.2, seed=0, flip=True)).description[-1]
        'label_noise(ratio=0.2, seed=0, flip=True): 20 of 100 training labels changed'
    """
    number = real("ratio", ratio)
    if not 0 <= number <= 1:
        raise ValueError(f"ratio must lie between 0 and 1, got {ratio!r}")
    generator(seed, "check")
    return Transform("label_noise", _noise, {"ratio": number, "seed": seed, "flip": bool(flip)})


def _class_labels(dataset: Dataset, what: str) -> tuple[int, ...]:
    if dataset.y_train.is_floating_point():
        raise ValueError(
            f"{what} groups integer class labels, but {dataset.name!r} has {dataset.y_train.dtype} "
            "labels (already binary, or regression targets)"
        )
    return dataset.classes


def _group(dataset: Dataset, mapping: Mapping[int, int]) -> tuple[Dataset, str]:
    _class_labels(dataset, "binary")
    dtype = dataset.x_train.dtype

    def group(y: Tensor) -> Tensor:
        present = torch.unique(y).tolist()
        missing = [label for label in present if label not in mapping]
        if missing:
            raise ValueError(
                f"the mapping says nothing about classes {missing}; add them, or drop them first "
                "with subset(counts=...)"
            )
        signs = torch.zeros(len(y), dtype=dtype, device=y.device)
        for label in present:
            signs[y == label] = mapping[label]
        return signs

    return map_y(dataset, group), ""


def _parity(dataset: Dataset) -> tuple[Dataset, str]:
    _class_labels(dataset, "parity")
    dtype = dataset.x_train.dtype
    return map_y(dataset, lambda y: (1 - 2 * (y % 2)).to(dtype)), ""


def _first_half(dataset: Dataset, k: int) -> tuple[Dataset, str]:
    classes = _class_labels(dataset, "first_half")
    if k > max(classes):
        raise ValueError(f"first_half(k={k}) leaves no class for -1; the classes are {classes}")
    dtype = dataset.x_train.dtype
    return map_y(dataset, lambda y: (1 - 2 * (y >= k).long()).to(dtype)), ""


def _noise(dataset: Dataset, ratio: float, seed: int, flip: bool) -> tuple[Dataset, str]:
    y, n, classes = dataset.y_train, dataset.n_train, dataset.classes
    if not classes:
        raise ValueError(f"label_noise needs class labels, but {dataset.name!r} has real targets")
    if flip and not y.is_floating_point():
        raise ValueError(
            "label_noise(flip=True) flips +1/-1 labels, but the labels are class indices; group "
            "them first (parity(), first_half(), binary()), or use flip=False"
        )
    if flip:
        chosen = torch.randperm(n, generator=generator(seed, "label_noise/flip"))
        noisy = y.clone()
        noisy[chosen[: round(ratio * n)].to(y.device)] *= -1
    else:
        hit = torch.rand(n, generator=generator(seed, "label_noise/where"), dtype=torch.float64)
        drawn = torch.randint(len(classes), (n,), generator=generator(seed, "label_noise/what"))
        redrawn = torch.tensor(classes, dtype=y.dtype)[drawn].to(y.device)
        noisy = torch.where((hit < ratio).to(y.device), redrawn, y)
    note = f"{int((noisy != y).sum())} of {n} training labels changed"
    return dataclasses.replace(dataset, y_train=noisy), note
