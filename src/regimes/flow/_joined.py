"""The tensors of one member as one vector: what is done to all of them is then one call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import final

import torch
from torch import Tensor
from torch._utils import _flatten_dense_tensors

FEW = 2**20  # entries that are copied into one vector, because calls take longer than the copy


@final
class Joined(Mapping[str, Tensor]):
    """Tensors (1, ...) by name, all of them views of one vector.

    Attributes:
        vector: all entries, (1, P), in the order of the names.
    """

    def __init__(self, vector: Tensor, shapes: Mapping[str, torch.Size], sizes: list[int]) -> None:
        self.vector, self._shapes, self._sizes = vector, shapes, sizes

    def like(self, vector: Tensor) -> Joined:
        """Another vector, split in the same way."""
        return Joined(vector, self._shapes, self._sizes)

    def empty(self) -> Joined:
        """The same tensors, to be written."""
        return self.like(torch.empty_like(self.vector))

    def gathered(self, tensors: Iterable[Tensor]) -> Joined:
        """A copy of such tensors, given in the order of the names."""
        # one call for all of them, which torch packs its own gradients with
        return self.like(_flatten_dense_tensors(tuple(tensors)).unsqueeze(0))

    @cached_property
    def _views(self) -> dict[str, Tensor]:
        parts = self.vector.split(self._sizes, 1)  # made when first asked for: many never are
        return {
            name: part.view(shape)
            for (name, shape), part in zip(self._shapes.items(), parts, strict=True)
        }

    def __getitem__(self, name: str) -> Tensor:
        """The tensor of this name."""
        return self._views[name]

    def __iter__(self) -> Iterator[str]:
        """Over the names."""
        return iter(self._shapes)

    def __len__(self) -> int:
        """How many tensors there are."""
        return len(self._shapes)


def members_of(tensors: Mapping[str, Tensor]) -> int:
    """The length of their leading axis."""
    return 1 if isinstance(tensors, Joined) else len(next(iter(tensors.values())))


def joined(tensors: Mapping[str, Tensor]) -> Mapping[str, Tensor]:
    """The same tensors as a `Joined`, where they are of one member, alike and few; or as they are.

    >>> one = joined({"weight": torch.ones(1, 2, 3), "bias": torch.zeros(1, 2)})
    >>> one["weight"].shape, one.vector
    (torch.Size([1, 2, 3]), tensor([[1., 1., 1., 1., 1., 1., 0., 0.]]))
    """
    values = list(tensors.values())
    alike = len({(value.dtype, value.device) for value in values}) == 1
    alone = alike and all(len(value) == 1 for value in values)
    sizes = [value.numel() for value in values]
    if isinstance(tensors, Joined) or not alone or sum(sizes) > FEW:
        return tensors
    shapes = {name: value.shape for name, value in tensors.items()}
    return Joined(torch.empty(0), shapes, sizes).gathered(values)
