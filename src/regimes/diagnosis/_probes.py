"""The points a diagnosis looks at: a few of those the user gave, drawn once, with their labels."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, final

import numpy as np
import torch
from torch import Tensor
from torch.utils import _pytree as pytree

from regimes._adapter import is_stream
from regimes._check import shown
from regimes._random import generator
from regimes.data import Dataset

Kind = Literal["classes", "signs", "numbers"]

_LABELS = ("labels", "label", "y", "target", "targets")  # of batches that are mappings
_BATCHES = 10_000  # of a loader; one that never ends is not read for ever


@final
@dataclass(frozen=True)
class Probes:
    """Inputs, labels, and what kind of labels they are.

    Attributes:
        x: n inputs, a tensor or a structure of them.
        y: class indices (n,), signs (n,) of +1 and -1, or numbers (n, c).
        kind: which of the three.
    """

    x: Any
    y: Tensor
    kind: Kind

    def __len__(self) -> int:
        return len(self.y)

    def part(self, rows: Tensor) -> Probes:
        """Some of them."""
        return Probes(_rows(self.x, rows), self.y[rows.to(self.y.device)], self.kind)

    def targets(self, outputs: int) -> Tensor:
        """Labels as numbers (n, c): one-hot classes, signs or the numbers themselves."""
        if self.kind == "classes":
            return torch.nn.functional.one_hot(self.y, outputs).double()
        return self.y.double().reshape(len(self.y), -1)

    def labels(self) -> Tensor:
        """As `measure.label_alignment` takes them."""
        return self.y.reshape(-1) if self.kind == "numbers" and self.y.shape[1] == 1 else self.y


def drawn(data: Any, part: str, count: int, seed: int, like: torch.nn.Module) -> Probes:
    """At most `count` points of a data set, a pair or a loader, on the device of the network.

    Of arrays they are drawn at random; a loader is read until there are enough. Labels are
    recognised once the network's outputs are known, by `understood`.

    Raises:
        ValueError: there are none, or inputs and labels do not go together.
    """
    x, y = _pair(data, part, count)
    first = next((leaf for leaf in pytree.tree_leaves(x) if isinstance(leaf, Tensor)), None)
    if first is None:
        raise ValueError(
            f"{part} has no tensor or array of inputs, got {shown(x)}; give a Dataset, a pair "
            "(x, y), or an iterable of batches (x, y)"
        )
    total = len(first)
    lengths = {len(leaf) for leaf in pytree.tree_leaves(x) if isinstance(leaf, Tensor)}
    if lengths != {len(y)}:
        raise ValueError(
            f"{part} has {' and '.join(map(str, sorted(lengths)))} inputs and {len(y)} labels; "
            "they must be as many"
        )
    if total == 0:
        raise ValueError(f"{part} is empty; a diagnosis needs some points, better 200 or more")
    rows = torch.randperm(total, generator=generator(seed, f"probes {part}"))[:count]
    parameter = next(iter(like.parameters()), torch.zeros(()))
    return Probes(_placed(_rows(x, rows), parameter), y[rows].to(parameter.device), "numbers")


def understood(probes: Probes, outputs: int, part: str) -> Probes:
    """Probes whose labels are recognised beside a network of so many outputs.

    Raises:
        ValueError: labels out of range, not finite, or of a shape that does not fit.
    """
    y = probes.y
    if y.is_floating_point() and not bool(torch.isfinite(y).all()):
        raise ValueError(f"labels of {part} are not all finite; drop those points or fill them in")
    flat = y.reshape(len(y), -1)
    values = set(flat[:, 0].tolist()) if flat.shape[1] == 1 else set()
    if outputs == 1 and flat.shape[1] == 1 and values <= {0, 1, -1} and len(values) <= 2:
        signs = torch.where(flat[:, 0] > 0, 1.0, -1.0).double()
        return Probes(probes.x, signs, "signs")
    if not y.is_floating_point() and flat.shape[1] == 1 and outputs > 1:
        low, high = int(flat.min()), int(flat.max())
        if low < 0 or high >= outputs:
            raise ValueError(
                f"labels of {part} go from {low} to {high}, but the network has {outputs} outputs: "
                f"class labels must lie in 0 to {outputs - 1}"
            )
        return Probes(probes.x, flat[:, 0].long(), "classes")
    if flat.shape[1] != outputs:
        raise ValueError(
            f"labels of {part} have shape {tuple(y.shape)} and the network {outputs} outputs; give "
            f"class indices (n,), or numbers (n, {outputs})"
        )
    return Probes(probes.x, flat.double(), "numbers")


def _pair(data: Any, part: str, count: int) -> tuple[Any, Tensor]:
    """Inputs as tensors, and labels."""
    if isinstance(data, Dataset):
        data = (data.x_test, data.y_test) if part == "test" else (data.x_train, data.y_train)
    if isinstance(data, tuple | list) and len(data) == 2 and not _is_batch(data[0]):
        return _tensors(data[0]), _labels(data[1], part)
    if isinstance(data, Mapping):
        return _split(data, part)
    if is_stream(data) or isinstance(data, list | tuple):
        return _read(data, part, count)
    raise ValueError(
        f"{part} must be a Dataset, a pair (x, y) or an iterable of batches, got {shown(data)}"
    )


def _is_batch(value: Any) -> bool:
    """Whether the first of two things is itself a batch of inputs with labels."""
    return isinstance(value, tuple | list) and len(value) == 2 and isinstance(value[0], Tensor)


def _read(batches: Iterable[Any], part: str, count: int) -> tuple[Any, Tensor]:
    """A loader's batches until there are enough points."""
    xs, ys, total = [], [], 0
    for batch in itertools.islice(batches, _BATCHES):
        if isinstance(batch, Mapping):
            x, y = _split(batch, part)
        elif isinstance(batch, tuple | list) and len(batch) >= 2:
            x, y = _tensors(batch[0]), _labels(batch[1], part)
        else:
            raise ValueError(
                f"a batch of {part} must be a pair (x, y) or a mapping with labels, "
                f"got {shown(batch)}"
            )
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
            f"the batches of {part} differ in more than their number of samples: {error}"
        ) from error


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


def _rows(x: Any, rows: Tensor) -> Any:
    return pytree.tree_map(
        lambda leaf: leaf[rows.to(leaf.device)] if isinstance(leaf, Tensor) else leaf, x
    )


def _placed(x: Any, like: Tensor) -> Any:
    """On the network's device, floats in its precision."""

    def place(leaf: Any) -> Any:
        if not isinstance(leaf, Tensor):
            return leaf
        own = leaf.is_floating_point() and like.is_floating_point()
        return leaf.detach().to(like.device, like.dtype if own else leaf.dtype)

    return pytree.tree_map(place, x)
