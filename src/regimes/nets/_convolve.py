"""Convolutions as matrix products, where that is faster than the library's own.

Networks trained side by side meet a convolution as one with a group for every member, and
depthwise ones as one with a group for every channel of every member. Libraries are slow at both. A
1 x 1 convolution is a product over channels; a larger filter of few channels is one over the
entries of a patch; a depthwise one on a small image is, for each channel, a product with the matrix
(pixels in, pixels out) whose entries repeat the filter.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache

import torch
import torch.nn.functional as F
from torch import Tensor, nn

PATCH = 32  # entries of a patch: patches overlap, so that all of them hold the image many times
# pixels of an image: the filter's matrix has pixels out x pixels in entries per channel
SMALL = 256

_side_by_side = ContextVar("_side_by_side", default=False)


@contextmanager
def side_by_side() -> Iterator[None]:
    """Here networks run side by side, and their convolutions are products where they can be."""
    token = _side_by_side.set(True)
    try:
        yield
    finally:
        _side_by_side.reset(token)


def as_product(conv: nn.Conv2d, x: Tensor, weight: Tensor) -> Tensor | None:
    """The convolution of images (n, c, H, W) without bias.

    None if `conv` is of another kind or not within `side_by_side`. The result's channels lie
    outermost in memory, as the next product wants them.
    """
    if not _side_by_side.get():
        return None
    if conv.padding_mode != "zeros" or isinstance(conv.padding, str) or conv.dilation != (1, 1):
        return None
    if conv.groups == 1 and conv.kernel_size == conv.stride == (1, 1) and conv.padding == (0, 0):
        return _pointwise(x, weight)
    if conv.groups == 1 and weight[0].numel() <= PATCH:
        return _patches(x, weight, conv.stride, conv.padding)
    depthwise = conv.groups == conv.in_channels == conv.out_channels
    if depthwise and x.shape[-2] * x.shape[-1] <= SMALL:
        return _depthwise(x, weight, conv.stride, conv.padding)
    return None


def _pointwise(x: Tensor, weight: Tensor) -> Tensor:
    n, c, *image = x.shape
    channels = x.transpose(0, 1).reshape(c, -1)
    return (weight.flatten(1) @ channels).view(-1, n, *image).transpose(0, 1)


def _patches(x: Tensor, weight: Tensor, stride: _Pair, padding: _Pair) -> Tensor:
    sides = zip(x.shape[-2:], weight.shape[-2:], stride, padding, strict=True)
    image = [(i + 2 * p - k) // s + 1 for i, k, s, p in sides]
    patches = F.unfold(x, weight.shape[-2:], padding=padding, stride=stride)  # (n, entries, pixels)
    channels = patches.transpose(0, 1).reshape(patches.shape[1], -1)
    return (weight.flatten(1) @ channels).view(-1, len(x), *image).transpose(0, 1)


def _depthwise(x: Tensor, weight: Tensor, stride: _Pair, padding: _Pair) -> Tensor:
    n, c, height, width = x.shape
    kernel = (weight.shape[-2], weight.shape[-1])
    places, image = _places((height, width), kernel, stride, padding, x.dtype, x.device)
    matrices = (weight.flatten(1) @ places).view(c, height * width, -1)
    made = torch.bmm(x.flatten(2).transpose(0, 1), matrices)
    return made.view(c, n, *image).transpose(0, 1)


_Pair = tuple[int, ...]


@lru_cache(maxsize=64)
def _places(
    image: _Pair,
    kernel: _Pair,
    stride: _Pair,
    padding: _Pair,
    dtype: torch.dtype,
    device: torch.device,
) -> tuple[Tensor, _Pair]:
    """Where each weight of a filter stands: 0/1 (kernel area, pixels in * pixels out); pixels out.

    >>> places, out = _places((1, 2), (1, 1), (1, 1), (0, 0), torch.float32, torch.device("cpu"))
    >>> places.tolist(), out
    ([[1.0, 0.0, 0.0, 1.0]], (1, 2))
    """
    rows, columns = (
        _line(i, k, s, p) for i, k, s, p in zip(image, kernel, stride, padding, strict=True)
    )
    placed = torch.einsum("khp,lwq->klhwpq", rows, columns).flatten(4).flatten(2, 3).flatten(0, 1)
    out = (rows.shape[-1], columns.shape[-1])
    return placed.flatten(1).to(device, dtype), out


def _line(size: int, kernel: int, stride: int, padding: int) -> Tensor:
    """The same along one side: (kernel, in, out), 1 where in = stride * out + k - padding."""
    out = (size + 2 * padding - kernel) // stride + 1
    k, i, o = torch.meshgrid(
        torch.arange(kernel), torch.arange(size), torch.arange(out), indexing="ij"
    )
    return (i == stride * o + k - padding).double()
