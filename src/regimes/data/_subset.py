"""Smaller data sets, balanced over the classes or by counts."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import torch
from torch import Tensor

from regimes._check import positive_int
from regimes._random import generator
from regimes.data._dataset import Dataset
from regimes.data._transform import Transform


def subset(
    n_train: int | None = None,
    n_test: int | None = None,
    *,
    balanced: bool = True,
    counts: Mapping[int, int] | None = None,
    seed: int | None = None,
) -> Transform:
    """Keep some of the training and test points, in their present order; probes stay.

    Args:
        n_train: training points to keep, None keeps all.
        n_test: test points to keep, None keeps all.
        balanced: take equal numbers of every class (they differ by one at most when the classes
            do not divide n); False takes points whatever their label.
        counts: instead of n_train: how many training points of each class, {class: n}. Classes
            that are not listed disappear, from the test set too.
        seed: None keeps the first points that fit, in the present order; a number draws them at
            random.

    Returns:
        The transform.

    Raises:
        ValueError: for sizes that are not positive, or if both n_train and counts are given; on
            application, if the data set has too few points.

    Example:
        >>> from regimes import data
        >>> ds = data.digits(n_train=500, n_test=100).pipe(data.subset(counts={3: 40, 8: 4}))
        >>> ds.n_train, ds.n_test, ds.classes
        (44, 20, (3, 8))
    """
    if n_train is None and n_test is None and counts is None:
        raise ValueError("subset needs n_train, n_test or counts")
    if n_train is not None and counts is not None:
        raise ValueError("subset takes n_train or counts for the training set, not both")
    wanted = None
    if counts is not None:
        if not isinstance(counts, Mapping) or not counts:
            raise ValueError(f"counts must be a dictionary {{class: n}}, got {counts!r}")
        wanted = {int(label): positive_int(f"counts[{label!r}]", n) for label, n in counts.items()}
    options = {
        "n_train": None if n_train is None else positive_int("n_train", n_train),
        "n_test": None if n_test is None else positive_int("n_test", n_test, least=0),
        "balanced": bool(balanced),
        "counts": wanted,
        "seed": seed,
    }
    if seed is not None:
        generator(seed, "check")
    given = {key: value for key, value in options.items() if value is not None}
    return Transform("subset", _subset, given)


def _subset(
    dataset: Dataset,
    balanced: bool,
    n_train: int | None = None,
    n_test: int | None = None,
    counts: Mapping[int, int] | None = None,
    seed: int | None = None,
) -> tuple[Dataset, str]:
    classes = dataset.classes
    if (balanced or counts is not None) and not classes:
        raise ValueError(
            f"{dataset.name!r} has real targets, not classes; use subset(..., balanced=False)"
        )
    if counts is not None:
        unknown = [label for label in counts if label not in classes]
        if unknown:
            raise ValueError(f"counts names classes {unknown}; {dataset.name!r} has {classes}")
        classes = tuple(label for label in classes if label in counts)

    def keep(what: str, y: Tensor, n: int | None, quotas: Mapping[int, int] | None) -> Tensor:
        order = torch.arange(len(y))
        if seed is not None:
            order = torch.randperm(len(y), generator=generator(seed, f"subset/{what}"))
        labels = y.cpu()[order]
        if counts is not None:
            listed = torch.isin(labels, torch.tensor(classes, dtype=labels.dtype))
            order, labels = order[listed], labels[listed]
        if n is not None and n > len(order):
            raise ValueError(
                f"n_{what}={n} is larger than the {len(order)} {what} points of {dataset.name!r}"
            )
        if quotas is None and balanced and n is not None:
            # the first n mod c classes take one point more
            quotas = {
                label: n // len(classes) + (place < n % len(classes))
                for place, label in enumerate(classes)
            }
        if quotas is None:
            return order[:n].sort().values
        picked = []
        for label, quota in quotas.items():
            members = order[labels == label]
            if len(members) < quota:
                raise ValueError(
                    f"the {what} set of {dataset.name!r} has {len(members)} points of class "
                    f"{label}, {quota} were asked for; ask for fewer, or use balanced=False"
                )
            picked.append(members[:quota])
        return torch.cat(picked).sort().values

    train = keep("train", dataset.y_train, n_train, counts).to(dataset.y_train.device)
    test = keep("test", dataset.y_test, n_test, None).to(dataset.y_test.device)
    if dataset.n_test and n_test is None and len(test) == 0:
        raise ValueError(
            f"the test set of {dataset.name!r} has no points of classes {classes}; say n_test=0"
        )
    smaller = dataclasses.replace(
        dataset,
        x_train=dataset.x_train[train],
        y_train=dataset.y_train[train],
        x_test=dataset.x_test[test],
        y_test=dataset.y_test[test],
    )
    return smaller, ""
