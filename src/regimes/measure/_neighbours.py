"""Nearest-neighbour distances in blocks, so that n x n distances never all exist at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

_ENTRIES = 1 << 23  # numbers in one block of distances


def point_distances(points: Tensor) -> Callable[[int, int], Tensor]:
    """`(start, stop) -> distances` of those points to all; equal points are exactly 0 apart."""

    def rows(start: int, stop: int) -> Tensor:
        # The squared-norm expansion would leave 1e-8 between equal points.
        mode = "donot_use_mm_for_euclid_dist"
        return torch.cdist(points[start:stop], points, compute_mode=mode)

    return rows


def gram_distances(K: Tensor, eps: float) -> Callable[[int, int], Tensor]:
    """The same from a Gram: `sqrt(K_ii + K_jj - 2 K_ij)`, rounding of size eps cut."""
    diagonal = K.diagonal()

    def rows(start: int, stop: int) -> Tensor:
        scale = diagonal[start:stop, None] + diagonal
        square = scale - 2 * K[start:stop]
        return torch.where(square > 16 * eps * scale.abs(), square, 0.0).clamp(min=0).sqrt()

    return rows


def blocks(n: int, distances: Callable[[int, int], Tensor]) -> Iterator[tuple[int, Tensor]]:
    """(first row, block of distances) over all n rows."""
    height = max(1, _ENTRIES // n)
    for start in range(0, n, height):
        yield start, distances(start, min(start + height, n))
