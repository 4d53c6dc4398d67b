"""How tensors lie in memory, written down so that copies of them lie alike.

A sum takes its terms in an order that depends on strides and alignment, so that a state which comes
back with other ones would go on with other last bits.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import torch
from torch import Tensor

_ALIGNED = 16  # entries: a multiple of every vector register's length

# Name, kind of device, offset from an aligned place, strides: plain JSON values.
Layout = tuple[str, str, int, list[int]]


def pack(tensors: Mapping[str, Tensor]) -> tuple[dict[str, Tensor], list[Layout]]:
    """Contiguous copies on the CPU, and how the originals lie, in their order."""
    layouts = [
        (name, tensor.device.type, int(tensor.storage_offset()) % _ALIGNED, list(tensor.stride()))
        for name, tensor in tensors.items()
    ]
    return {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}, layouts


def unpack(
    packed: Mapping[str, Tensor], layouts: Iterable[Any], device: torch.device
) -> dict[str, Tensor]:
    """The originals again, in their order; those that were not on the CPU go to `device`.

    >>> columns = torch.arange(6.0).view(2, 3).T
    >>> again = unpack(*pack({"x": columns}), torch.device("cpu"))["x"]
    >>> again.stride(), bool((again == columns).all())
    ((1, 3), True)
    """
    made = {}
    for name, kind, offset, strides in layouts:
        where = torch.device("cpu") if kind == "cpu" else device
        made[name] = _laid(packed[name], offset, strides, where)
    return made


def _laid(value: Tensor, offset: int, strides: list[int], device: torch.device) -> Tensor:
    """A copy with these strides at this offset; a stride of 0 repeats one entry."""
    once = value[tuple(slice(1) if stride == 0 else slice(None) for stride in strides)]
    last = sum((n - 1) * stride for n, stride in zip(once.shape, strides, strict=True))
    storage = torch.empty(offset + max(last, 0) + 1, dtype=value.dtype, device=device)
    made = storage.as_strided(once.shape, strides, offset)
    return made.copy_(once).expand(value.shape)
