"""The Gram of a convolution from the products of single pixels (`_overlap.py` has the formula).

A written-out gradient has as many numbers as the weight, a pair of samples here only as many
products as pairs of pixels and of positions: few where a layer has many channels on a small map.
Factors in bfloat16 are multiplied in float16, scaled sample by sample, which keeps more digits of
the products and moves half the bytes of float32.
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from functools import cache
from typing import Protocol, cast

import torch
from torch import Tensor

from regimes.tangent.contraction._factors import Outer
from regimes.tangent.contraction._overlap import Overlap, as_half
from regimes.tangent.contraction._right import Right

MOST_SPOTS = 64  # positions that a program of the kernel has room for
_TILE = 1024  # samples a side: products of this size run at the full rate
_RUN = 16  # column samples are filled up to a multiple, so that memory is read in whole runs


class Overlapping(Right, Protocol):
    """Right factors that are patches of pixels."""

    @property
    def overlap(self) -> Overlap:
        """Which pixels the positions share."""

    @property
    def pixels(self) -> Tensor:
        """(n, channels, *space)."""


@dataclass(frozen=True)
class _Side:
    """The rows or the columns of a tile, ready to be multiplied.

    Attributes:
        x: pixels (phases, cells n, channels), samples side by side.
        g: output gradients (m, T n, p), likewise.
        scale: what the products of each sample are still to be multiplied by, (n,).
    """

    x: Tensor
    g: Tensor
    scale: Tensor


def add_pixels_(out: Tensor, a: Outer, b: Outer, same: bool, workspace: int) -> None:
    """Add the Gram of a convolution's weight to `out`, (m n, m n'), of patches of one frame.

    One output takes half of the samples' pairs, several take half of the outputs' pairs.
    """
    m, n = a.left.shape[:2]
    k = b.left.shape[1]
    overlap = cast(Overlapping, a.right).overlap
    grid = out.view(m, n, m, k)
    step = _step(overlap, m, a.left, workspace)
    for start in range(0, n, step):
        rows = slice(start, min(start + step, n))
        one = _side(a.rows(rows.start, rows.stop), 1)
        for first in range(start if same and m == 1 else 0, k, step):
            columns = slice(first, min(first + step, k))
            other = _side(b.rows(columns.start, columns.stop), _RUN)
            _add_tile(grid[:, rows, :, columns], one, other, overlap, same)


def _step(overlap: Overlap, m: int, left: Tensor, workspace: int) -> int:
    """Samples a side of a tile, such that the products of their pairs take half the workspace."""
    entries = overlap.phases * overlap.cells**2 + m * overlap.spots**2
    bytes_of_pair = entries * max(2, left.element_size())
    if not left.is_cuda:
        bytes_of_pair *= 4  # plain operations hold more of it, in float32 at least
    fit = int((workspace / (2 * bytes_of_pair)) ** 0.5)
    return max(1, fit if fit < 2 * _RUN else min(fit - fit % _RUN, _TILE))


def _side(factor: Outer, run: int) -> _Side:
    right = cast(Overlapping, factor.right)
    x = right.overlap.by_phase(right.pixels)  # (phases, cells, n, channels)
    g = factor.left.permute(0, 3, 1, 2)  # (m, T, n, p)
    x, g = _filled(x, run), _filled(g, run)
    scale = x.new_ones(x.shape[2])
    if x.dtype == torch.bfloat16:
        half, x_scale = as_half(x.flatten(0, 1))
        x = half.view(x.shape)
        half, g_scale = as_half(g.flatten(0, 1))
        g, scale = half.view(g.shape), x_scale * g_scale
    return _Side(x.flatten(1, 2), g.flatten(1, 2), scale)


def _filled(rows: Tensor, run: int) -> Tensor:
    """(..., n, width) with zeros as further samples, up to a multiple of `run`."""
    missing = -rows.shape[2] % run
    return torch.nn.functional.pad(rows, (0, 0, 0, missing)) if missing else rows


def _add_tile(out: Tensor, rows: _Side, columns: _Side, overlap: Overlap, same: bool) -> None:
    """Add to `out`, (m, n, m, k), a view."""
    x = rows.x.new_empty(overlap.phases, rows.x.shape[1], columns.x.shape[1])
    for phase in overlap.met:
        _multiply(x[phase], rows.x[phase], columns.x[phase])
    for index, into in enumerate(out):
        first = index if same else 0  # the outputs before have met this one
        others = columns.g[first:].flatten(0, 1)
        g = rows.g.new_empty(rows.g.shape[1], len(others))
        _multiply(g, rows.g[index], others)
        _contract(into[:, first:], overlap, x, g, rows.scale, columns.scale)


def _multiply(out: Tensor, a: Tensor, b: Tensor) -> None:
    """Write a @ b.T, its sums in float32 or better."""
    if out.is_cuda or out.dtype != torch.float16:
        torch.mm(a, b.T, out=out)
    else:
        out.copy_(a.float() @ b.float().T)


def _contract(
    out: Tensor, overlap: Overlap, x: Tensor, g: Tensor, rows: Tensor, columns: Tensor
) -> None:
    """Add to `out`, (n, outputs, k), the products of pixels and of output gradients contracted."""
    if fused(out.device):
        from regimes.tangent.contraction._pixel_kernel import add_contracted_

        add_contracted_(out, overlap, x, g, rows, columns)
        return
    n, outputs, k = out.shape
    spots, count = overlap.spots, len(columns)
    x, g = (t.float() if t.dtype == torch.float16 else t for t in (x, g))
    found = overlap.contracted(
        x.view(overlap.phases, overlap.cells, n, overlap.cells, count),
        g.view(spots, n, outputs, spots, count),
    )
    out += (found * rows.view(-1, 1, 1) * columns)[..., :k]


@cache
def fused(device: torch.device) -> bool:
    """Whether the one pass over the products is there: on a GPU where Triton compiles and is right.

    It is tried on a small case: Triton may be there without a compiler or for other hardware.
    """
    if device.type != "cuda" or importlib.util.find_spec("triton") is None:
        return False
    from regimes.tangent.contraction._pixel_kernel import works

    return works(device)
