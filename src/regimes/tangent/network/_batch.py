"""Inputs of a network as one batch: a tensor, a tuple of them (positional) or a dict (by name)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.utils import _pytree as pytree

from regimes import _stream

Batch = Any  # Tensor | tuple | list | dict of tensors, nested as the network wants them


def tensors(batch: Batch) -> list[Tensor]:
    """All tensors of the batch."""
    return [leaf for leaf in pytree.tree_leaves(batch) if isinstance(leaf, Tensor)]


def size(batch: Batch) -> int:
    """Number of samples, after checking that every tensor agrees on it.

    Raises:
        ValueError: no tensor, an empty batch, or different lengths.
    """
    found = tensors(batch)
    if not found:
        raise ValueError(
            f"inputs hold no tensor (got {type(batch).__name__}); pass a tensor, a tuple of "
            "tensors for several positional inputs, or a dict for inputs by name"
        )
    if any(t.dim() == 0 for t in found):
        raise ValueError("inputs must have the samples as their first axis; got a scalar tensor")
    lengths = {t.shape[0] for t in found}
    if len(lengths) > 1:
        raise ValueError(f"inputs disagree on the number of samples: {sorted(lengths)}")
    (n,) = lengths
    if n == 0:
        raise ValueError("inputs are an empty batch; pass at least one sample")
    return n


def check_finite(batch: Batch) -> None:
    """Refuse NaN and infinities, naming the first sample that has one."""
    for t in tensors(batch):
        for start, part in _stream.pieces(t) if t.is_floating_point() else ():
            # a sum is not finite if any entry is not; only then is it worth looking closer
            if math.isfinite(float(part.sum())):
                continue
            bad = (~torch.isfinite(part)).reshape(part.shape[0], -1).any(1).nonzero()
            if len(bad):
                raise ValueError(
                    f"inputs contain NaN or infinity, first in sample {start + int(bad[0])}"
                )


def rows(batch: Batch, start: int, stop: int) -> Batch:
    """Samples start:stop."""
    return apply(batch, lambda t: _stream.rows(t, start, stop))


def probe(batch: Batch, n: int) -> Batch:
    """The first n samples, the batch repeated where it has fewer."""
    have = size(batch)
    return apply(batch, lambda t: t[torch.arange(n, device=t.device) % have])


def convert(batch: Batch, dtype: torch.dtype) -> Batch:
    """Floating-point tensors in another precision."""
    return apply(batch, lambda t: t.to(dtype) if t.is_floating_point() else t)


def channels_last(batch: Batch) -> Batch:
    """Images (n, channels, height, width) with the channels of a pixel side by side in memory."""
    form = torch.channels_last
    return apply(batch, lambda t: t.contiguous(memory_format=form) if t.dim() == 4 else t)


def arguments(batch: Batch) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """What the network is called with: a tensor, a tuple's parts by position, a dict's by name."""
    if isinstance(batch, dict):
        return (), batch
    return (tuple(batch) if isinstance(batch, (tuple, list)) else (batch,)), {}


def apply(batch: Batch, function: Callable[[Tensor], Tensor]) -> Batch:
    return pytree.tree_map(lambda leaf: function(leaf) if isinstance(leaf, Tensor) else leaf, batch)
