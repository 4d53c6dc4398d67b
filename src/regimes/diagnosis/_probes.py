"""The points a diagnosis looks at: a few of those the user gave, drawn once, with their labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, final

import torch
from torch import Tensor
from torch.utils import _pytree as pytree

from regimes._check import shown
from regimes._random import generator
from regimes.diagnosis._points import placed, points, rows_of

Kind = Literal["classes", "signs", "numbers"]


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
        return Probes(rows_of(self.x, rows), self.y[rows.to(self.y.device)], self.kind)

    def first(self, count: int) -> Probes:
        """The first of them, in the order they were drawn."""
        return self.part(torch.arange(min(count, len(self))))

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
    x, y = points(data, part, count)
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
    return Probes(placed(rows_of(x, rows), parameter), y[rows].to(parameter.device), "numbers")


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
