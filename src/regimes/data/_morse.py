"""Small clusters of atoms with pair forces: energies and forces known exactly."""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

from regimes._check import positive_int, real
from regimes._random import generator
from regimes.data._dataset import float_dtype

_STIFFNESS = 1.5


class Clusters(NamedTuple):
    """Positions (n, atoms, 3), energies (n,), forces (n, atoms, 3)."""

    positions: Tensor
    energies: Tensor
    forces: Tensor


def morse_energy(positions: Tensor) -> Tensor:
    """The sum over pairs of `(1 - exp(-1.5 (d - 1)))^2 - 1`, for clouds (..., atoms, 3)."""
    i, j = torch.triu_indices(positions.shape[-2], positions.shape[-2], 1)
    distance = (positions[..., i, :] - positions[..., j, :]).norm(dim=-1)
    return ((1 - torch.exp(-_STIFFNESS * (distance - 1))) ** 2 - 1).sum(-1)


def morse_clusters(
    n: int = 50,
    seed: int = 0,
    *,
    noise: float = 0.12,
    stream: str = "train",
    dtype: torch.dtype = torch.float32,
) -> Clusters:
    """Five atoms near the corners of a triangular bipyramid of edge 1, shaken.

    Args:
        n: clusters.
        seed: of the shaking.
        noise: standard deviation of every coordinate.
        stream: name of the draw; "train" and "test" are independent.
        dtype: precision.

    Returns:
        Positions, energies, and forces by automatic differentiation in float64.

    Example:
        >>> morse_clusters(3).forces.shape
        torch.Size([3, 5, 3])
    """
    count, shake = positive_int("n", n), real("noise", noise)
    float_dtype(dtype)
    turn = 2 * math.pi / 3 * torch.arange(3, dtype=torch.float64)
    ring = torch.stack([turn.cos(), turn.sin(), torch.zeros(3).double()], 1) / math.sqrt(3)
    height = math.sqrt(2 / 3)
    tips = torch.tensor([[0, 0, height], [0, 0, -height]], dtype=torch.float64)
    source = generator(seed, f"morse/{stream}")
    draws = torch.randn(count, 5, 3, generator=source, dtype=torch.float64)
    positions = torch.cat([ring, tips]) + shake * draws
    at = positions.clone().requires_grad_()
    with torch.enable_grad():
        energies = morse_energy(at)
        (slope,) = torch.autograd.grad(energies.sum(), at)
    return Clusters(positions.to(dtype), energies.detach().to(dtype), -slope.to(dtype))
