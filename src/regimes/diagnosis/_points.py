"""What users give as data, as inputs and labels: data sets, pairs, mappings, loaders."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils import _pytree as pytree
from torch.utils.data import DataLoader, RandomSampler

from regimes._adapter import is_stream
from regimes._check import shown
from regimes.data import Dataset

_LABELS = ("labels", "label", "y", "target", "targets")  # of batches that are mappings
_BATCHES = 10_000  # of a loader; one that never ends is not read for ever


def points(data: Any, part: str, count: int) -> tuple[Any, Tensor]:
    """Inputs as tensors, and labels; of a loader as many batches as give `count` points.

    Raises:
        ValueError: it is no data, is empty, or its batches differ.
    """
    whole = _whole(data, part)
    return _read(data, part, count) if whole is None else whole


def minibatches(data: Any, size: int, draws: torch.Generator) -> Iterator[tuple[Any, Tensor]]:
    """One pass over the training points: a loader's own batches, or arrays in a drawn order."""
    whole = _whole(data, "train")
    if whole is None:
        for batch in data:
            yield _batch(batch, "train")
        return
    x, y = whole
    for chosen in torch.randperm(len(y), generator=draws).split(size):
        yield rows_of(x, chosen), y[chosen.to(y.device)]


def read_once(data: Any) -> bool:
    """Whether it is an iterator, which is empty after one pass."""
    return is_stream(data) and iter(data) is data


def shuffles(data: Any) -> bool:
    """Whether a loader gives other points first every time."""
    return (
        isinstance(data, DataLoader)
        and isinstance(data.sampler, RandomSampler)
        and data.sampler.generator is None
        and data.generator is None
    )


def rows_of(x: Any, rows: Tensor) -> Any:
    """Some samples of inputs of any structure."""
    return pytree.tree_map(
        lambda leaf: leaf[rows.to(leaf.device)] if isinstance(leaf, Tensor) else leaf, x
    )


def placed(x: Any, like: Tensor) -> Any:
    """On the network's device, floats in its precision."""

    def place(leaf: Any) -> Any:
        if not isinstance(leaf, Tensor):
            return leaf
        own = leaf.is_floating_point() and like.is_floating_point()
        return leaf.detach().to(like.device, like.dtype if own else leaf.dtype)

    return pytree.tree_map(place, x)


def _whole(data: Any, part: str) -> tuple[Any, Tensor] | None:
    """Inputs and labels of what holds all points; None for batches.

    Raises:
        ValueError: neither.
    """
    if isinstance(data, Dataset):
        data = (data.x_test, data.y_test) if part == "test" else (data.x_train, data.y_train)
    if isinstance(data, tuple | list) and len(data) == 2 and not _is_batch(data[0]):
        return _tensors(data[0]), _labels(data[1], part)
    if isinstance(data, Mapping):
        return _split(data, part)
    if is_stream(data) or isinstance(data, list | tuple):
        return None
    raise ValueError(
        f"{part} must be a Dataset, a pair (x, y) or an iterable of batches, got {shown(data)}"
    )


def _is_batch(value: Any) -> bool:
    """Whether the first of two things is itself a batch of inputs with labels."""
    if isinstance(value, Mapping):
        return any(name in value for name in _LABELS)
    return isinstance(value, tuple | list) and len(value) == 2 and isinstance(value[0], Tensor)


def _read(batches: Iterable[Any], part: str, count: int) -> tuple[Any, Tensor]:
    """A loader's batches until there are enough points."""
    xs, ys, total = [], [], 0
    with torch.random.fork_rng(devices=[]):  # a loader's order is drawn; nobody else's draws are
        for batch in itertools.islice(batches, _BATCHES):
            x, y = _batch(batch, part)
            xs.append(x)
            ys.append(y)
            total += len(y)
            if total >= count:
                break
    if not xs:
        raise ValueError(
            f"{part} gave no batch; an iterator that was used before is empty: pass the loader "
            "itself, or a list of batches"
        )
    try:
        leaves, forms = zip(*(pytree.tree_flatten(x) for x in xs), strict=True)
        joined = [torch.cat(column) for column in zip(*leaves, strict=True)]
        return pytree.tree_unflatten(joined, forms[0]), torch.cat(ys)
    except (RuntimeError, ValueError, TypeError) as error:
        raise ValueError(
            f"the batches of {part} differ in more than their number of samples: {error}; texts "
            "must be padded to one length"
        ) from error


def _batch(batch: Any, part: str) -> tuple[Any, Tensor]:
    """Inputs and labels of one batch."""
    if isinstance(batch, Mapping):
        return _split(batch, part)
    if isinstance(batch, tuple | list) and len(batch) >= 2:
        return _tensors(batch[0]), _labels(batch[1], part)
    raise ValueError(
        f"a batch of {part} must be a pair (x, y) or a mapping with labels, got {shown(batch)}"
    )


def _split(batch: Mapping[str, Any], part: str) -> tuple[Any, Tensor]:
    """Inputs by name, and the labels among them."""
    found = [name for name in _LABELS if name in batch]
    if not found:
        raise ValueError(
            f"a batch of {part} with {', '.join(map(str, batch))} has no labels; they are looked "
            f"for under {', '.join(_LABELS)}"
        )
    x = {name: value for name, value in batch.items() if name != found[0]}
    return _tensors(x), _labels(batch[found[0]], part)


def _tensors(x: Any) -> Any:
    """Arrays as tensors, in any structure; a mapping of any kind as a dict."""
    if isinstance(x, Mapping):
        return {str(name): _tensors(value) for name, value in x.items()}
    return pytree.tree_map(
        lambda leaf: torch.from_numpy(leaf.copy()) if isinstance(leaf, np.ndarray) else leaf, x
    )


def _labels(y: Any, part: str) -> Tensor:
    try:
        found = torch.as_tensor(y)
    except (TypeError, ValueError, RuntimeError) as error:
        raise ValueError(f"labels of {part} must be numbers, got {shown(y)}") from error
    if found.ndim == 0:
        raise ValueError(f"labels of {part} must have an entry for each input, got one number")
    return found.detach()
