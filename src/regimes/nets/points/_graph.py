"""Which points see each other, and what an edge between them carries."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from regimes._check import positive_int, real
from regimes._e3nn import e3nn


def radius_graph(positions: Tensor, radius: float) -> tuple[Tensor, Tensor]:
    """Ordered pairs of different points of the same cloud that are nearer than a radius.

    Args:
        positions: (clouds, points, 3).
        radius: largest distance, not included.

    Returns:
        Sources and destinations, numbered over all clouds: point k of cloud i is i * points + k.

    Example:
        >>> at = torch.tensor([[[0.0, 0, 0], [1.0, 0, 0], [3.0, 0, 0]]])
        >>> [each.tolist() for each in radius_graph(at, 1.5)]
        [[1, 0], [0, 1]]
    """
    clouds_of(positions)
    real("radius", radius, above=0)
    near = torch.cdist(positions, positions) < radius
    near = near & ~torch.eye(positions.shape[1], dtype=torch.bool, device=near.device)
    cloud, end, start = near.nonzero().unbind(1)
    offset = cloud * positions.shape[1]
    return offset + start, offset + end


def clouds_of(positions: Tensor) -> tuple[int, int]:
    """Numbers of clouds and points, or a ValueError."""
    if positions.ndim != 3 or positions.shape[2] != 3 or not positions.is_floating_point():
        raise ValueError(
            f"positions are real and have shape (clouds, points, 3), got {positions.dtype} of "
            f"shape {tuple(positions.shape)}"
        )
    return positions.shape[0], positions.shape[1]


class Edges(NamedTuple):
    """Pairs of points, with what convolutions take of the vector between them.

    Attributes:
        source: of every edge.
        target: of every edge.
        harmonics: of the direction from target to source, (edges, (lmax+1)^2).
        lengths: how near its length is to each of a few, (edges, basis).
    """

    source: Tensor
    target: Tensor
    harmonics: Tensor
    lengths: Tensor


def edges_of(positions: Tensor, radius: float, lmax: int, basis: int) -> Edges:
    """The graph of a radius, with harmonics and smooth functions of length that end at it."""
    positive_int("basis", basis)
    library = e3nn()
    source, target = radius_graph(positions.detach(), radius)
    flat = positions.flatten(0, 1)
    vectors = flat[source] - flat[target]
    harmonics = library.o3.spherical_harmonics(
        list(range(lmax + 1)), vectors, normalize=True, normalization="component"
    )
    lengths = library.math.soft_one_hot_linspace(
        vectors.norm(dim=1), 0.0, radius, basis, basis="smooth_finite", cutoff=True
    )
    return Edges(source, target, harmonics, lengths * basis**0.5)


def gather_sum(values: Tensor, target: Tensor, points: int) -> Tensor:
    """Sums of what arrives at every point, (points, ...)."""
    return values.new_zeros(points, *values.shape[1:]).index_add(0, target, values)
