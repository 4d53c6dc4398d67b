"""Batches that come one after the other, joined into one: in memory while small, else in a file.

A Gram needs every pair of samples and a product several passes, while a loader may be shuffled,
random or gone after one pass. So it is read once, and what was read is kept.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from typing import IO, Any

import numpy as np
import torch
from torch import Tensor
from torch.utils import _pytree as pytree


def joined(batches: Iterable[Any], limit: float) -> Any:
    """All batches along their first axis, as one.

    Args:
        batches: tensors, or structures of tensors that are alike.
        limit: bytes up to which they are kept in memory; beyond, tensors are mapped from a
            temporary file that goes away with them.

    Raises:
        ValueError: there is none, or they differ in anything but their number of samples.

    >>> joined([torch.ones(2, 3), torch.zeros(1, 3)], limit=1000).shape
    torch.Size([3, 3])
    """
    parts: list[_Column] = []
    spec = None
    for batch in batches:
        leaves, now = pytree.tree_flatten(batch)
        if spec is None:
            spec, parts = now, [_Column(leaf) for leaf in leaves]
        elif now != spec:
            raise ValueError(f"the batches of a loader differ in form: {spec} and then {now}")
        for column, leaf in zip(parts, leaves, strict=True):
            column.add(leaf)
        if sum(column.bytes for column in parts) > limit:
            for column in parts:
                column.move_to_file()
    if spec is None:
        raise ValueError("the loader gave no batch; pass an iterable that is not used up")
    return pytree.tree_unflatten([column.whole() for column in parts], spec)


class _Column:
    """One tensor of every batch, or a value that they share."""

    def __init__(self, first: Any) -> None:
        self._first, self._kept = first, list[Tensor]()
        self._file: IO[bytes] | None = None
        self._samples = self.bytes = 0

    def add(self, leaf: Any) -> None:
        if not isinstance(self._first, Tensor):
            if leaf != self._first:
                raise ValueError(
                    f"the batches of a loader hold different values: {self._first!r}, {leaf!r}"
                )
            return
        first = self._first
        if leaf.dim() == 0:
            raise ValueError("batches must have the samples as their first axis; got a scalar")
        if leaf.shape[1:] != first.shape[1:] or leaf.dtype != first.dtype:
            raise ValueError(
                f"the batches of a loader differ: {tuple(first.shape)} of {first.dtype} and then "
                f"{tuple(leaf.shape)} of {leaf.dtype}; pad all samples to one length"
            )
        leaf = leaf.detach()
        self._samples += len(leaf)
        if self._file is None:
            self._kept.append(leaf)
            self.bytes += leaf.numel() * leaf.element_size()
        else:
            self._write(leaf)

    def move_to_file(self) -> None:
        """Write what is kept, and all that follows, to a file without a name."""
        if self._file is None and self._kept:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as its mapping
            for leaf in self._kept:
                self._write(leaf)
            self._kept, self.bytes = [], 0

    def _write(self, leaf: Tensor) -> None:
        assert self._file is not None
        # as bytes, because numpy does not know every kind of number
        flat = leaf.contiguous().flatten().view(torch.uint8)
        self._file.write(flat.numpy().data)

    def whole(self) -> Any:
        """The batches' tensors along one axis."""
        if self._file is None:
            return torch.cat(self._kept) if self._kept else self._first
        self._file.flush()
        # copy on write: nothing is written, but torch asks for memory that could be
        mapped = np.memmap(self._file, np.uint8, mode="c")
        self._file.close()
        return torch.from_numpy(mapped).view(self._first.dtype).view(-1, *self._first.shape[1:])
