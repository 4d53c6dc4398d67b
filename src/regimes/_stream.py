"""Batches that come one after the other, joined into one: in memory while small, else in a file.

A Gram needs every pair of samples and a product several passes, while a loader may be shuffled,
random or gone after one pass. So it is read once, and what was read is kept.
"""

from __future__ import annotations

import mmap
import tempfile
from collections.abc import Iterable, Iterator
from typing import IO, Any

import torch
from torch import Tensor
from torch.utils import _pytree as pytree
from torch.utils.weak import WeakTensorKeyDictionary

_MAPPINGS: Any = WeakTensorKeyDictionary()  # tensor -> the mapping of the file that it lies in
_PIECE = 2**22  # bytes looked at together


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
        mapping = mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_COPY)
        self._file.close()
        flat = torch.frombuffer(mapping, dtype=self._first.dtype)
        tensor = flat.view(-1, *self._first.shape[1:])
        _MAPPINGS[tensor] = mapping
        return tensor


def rows(tensor: Tensor, start: int, stop: int) -> Tensor:
    """Rows start:stop; those of a file are read into memory, and no others stay there."""
    mapping = _MAPPINGS.get(tensor)
    if mapping is None:
        return tensor[start:stop]
    part = tensor[start:stop].clone()
    if hasattr(mmap, "MADV_DONTNEED"):  # not on every system; elsewhere the system sees to it
        mapping.madvise(mmap.MADV_DONTNEED)
    return part


def pieces(tensor: Tensor) -> Iterator[tuple[int, Tensor]]:
    """The tensor, or a file's some rows at a time, with the number of the first."""
    step = len(tensor) if _MAPPINGS.get(tensor) is None else 1 + _PIECE // tensor[0].nbytes
    for start in range(0, len(tensor), step):
        yield start, rows(tensor, start, start + step)
