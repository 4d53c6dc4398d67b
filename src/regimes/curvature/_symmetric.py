"""Symmetric matrices in strips: half of the work, and exactly symmetric results."""

from __future__ import annotations

from torch import Tensor

_STRIP = 256  # rows of which products are made at a time
_SQUARE = 128  # side of what is mirrored at a time


def add_product_(out: Tensor, a: Tensor, b: Tensor, scale: float) -> None:
    """The upper triangle of `out` += scale a^T b, where that product is symmetric.

    Args:
        out: (R, N, N); what is below the diagonal is left in any state.
        a: (R, m, N).
        b: (R, m, N).
        scale: a number.
    """
    for start in range(0, out.shape[-1], _STRIP):
        stop = start + _STRIP
        left, right = a[..., start:stop].mT, b[..., start:]
        out[:, start:stop, start:].baddbmm_(left, right, alpha=scale)


def mirror_(out: Tensor) -> None:
    """Copy what is above the diagonal of (R, N, N) below it."""
    for start in range(0, out.shape[-1], _SQUARE):
        stop = start + _SQUARE
        square = out[:, start:stop, start:stop]
        square.copy_(square.triu() + square.triu(1).mT)
        out[:, stop:, start:stop] = out[:, start:stop, stop:].mT
