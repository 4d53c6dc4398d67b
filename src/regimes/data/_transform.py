"""What a transform is: a named, frozen change from data set to data set."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor

from regimes.data._dataset import Dataset


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Transform:
    """A change of a data set that knows its name and appends it to the description.

    Make one with the functions of this room (`parity()`, `pca(10)`, ...), apply it by calling it
    or, several in a row, with `Dataset.pipe`.

    Attributes:
        name: the name of the function that makes it.
        change: the work, (dataset, **options) -> (changed dataset, note); the note (may be "")
            is what only the data could tell, such as the variance that was kept.
        options: keyword arguments of `change`, shown by `repr`.

    Example:
        >>> from regimes import data
        >>> data.compress(4.0, informative=2)
        compress(factor=4.0, informative=2)
        >>> data.stripe(10, 10, d=3).pipe(data.compress(4.0)).description[-1]
        'compress(factor=4.0, informative=1)'
    """

    name: str
    change: Callable[..., tuple[Dataset, str]]
    options: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "options", MappingProxyType(dict(self.options)))

    def __call__(self, dataset: Dataset) -> Dataset:
        if not isinstance(dataset, Dataset):
            raise ValueError(f"{self!r} takes a Dataset, got {type(dataset).__name__}")
        changed, note = self.change(dataset, **self.options)
        line = f"{self!r}: {note}" if note else repr(self)
        return dataclasses.replace(changed, description=(*dataset.description, line))

    def __repr__(self) -> str:
        shown = ", ".join(f"{key}={_short(value)}" for key, value in self.options.items())
        return f"{self.name}({shown})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Transform, (self.name, self.change, dict(self.options))


def fit_inputs(dataset: Dataset, fit: str) -> Tensor:
    """The inputs that statistics are fitted on: the training set, or training and test set."""
    return torch.cat([dataset.x_train, dataset.x_test]) if fit == "all" else dataset.x_train


FITS = {"train": "train", "all": "all"}
"""Where statistics may come from: the training set, or training and test set together."""


def flat_dim(dataset: Dataset, what: str) -> int:
    """The input dimension d of flat data, or a ValueError that says to flatten first."""
    if len(dataset.in_shape) != 1:
        raise ValueError(
            f"{what} needs flat inputs of shape (n, d), but {dataset.name!r} has points of shape "
            f"{dataset.in_shape}; apply flatten() first"
        )
    return dataset.in_shape[0]


def _short(value: object) -> str:
    if isinstance(value, Tensor):
        return f"<{' x '.join(map(str, value.shape))} tensor>"
    return repr(value)
