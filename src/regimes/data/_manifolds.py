"""Points that fill a manifold: sphere, lattice, torus, cloud [Spigler 2020, secs. 4 and 5]."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from regimes._check import choose, positive_int, real
from regimes._random import generator


def sphere_points(n: int, d: int, seed: int = 0) -> Tensor:
    """Points drawn evenly on the sphere S^d of radius 1 in R^(d+1), float64 (n, d+1).

    S^1 is the circle in the plane.

    >>> sphere_points(3, 1).norm(dim=1).round(decimals=6).tolist()
    [1.0, 1.0, 1.0]
    """
    n, d = positive_int("n", n), positive_int("d", d)
    drawn = _normal(n, d + 1, seed, "sphere points")
    return drawn / drawn.norm(dim=1, keepdim=True)


def cloud_points(n: int, d: int, seed: int = 0) -> Tensor:
    """Points drawn from N(0, 1) in R^d, float64 (n, d).

    >>> cloud_points(5, 2).shape
    torch.Size([5, 2])
    """
    return _normal(positive_int("n", n), positive_int("d", d), seed, "cloud points")


def torus_points(n: int, d: int, seed: int = 0) -> Tensor:
    """Points drawn evenly on the flat torus of d circles of radius 1, float64 (n, 2d).

    >>> torus_points(2, 3).shape
    torch.Size([2, 6])
    """
    n, d = positive_int("n", n), positive_int("d", d)
    source = generator(seed, "torus points")
    angle = 2 * math.pi * torch.rand(n, d, generator=source, dtype=torch.float64)
    return torch.stack([angle.cos(), angle.sin()], 2).reshape(n, 2 * d)


def lattice_points(N: int, d: int, L: float = 1.0) -> Tensor:
    """The N^d points of a regular periodic lattice in [0, L)^d, float64 (N^d, d), spacing L/N.

    >>> lattice_points(2, 2).tolist()
    [[0.0, 0.0], [0.0, 0.5], [0.5, 0.0], [0.5, 0.5]]
    """
    N, d, L = positive_int("N", N), positive_int("d", d), real("L", L, above=0.0)
    ticks = torch.arange(N, dtype=torch.float64) * (L / N)
    return torch.stack(torch.meshgrid(*[ticks] * d, indexing="ij"), -1).reshape(-1, d)


MANIFOLDS = {"sphere": sphere_points, "torus": torus_points, "cloud": cloud_points}


def manifold_points(manifold: str, n: int, d: int, seed: int = 0) -> Tensor:
    """`n` points of a manifold of dimension d by name: "sphere", "torus" or "cloud".

    >>> manifold_points("sphere", 4, 2).shape
    torch.Size([4, 3])
    """
    return choose(manifold, MANIFOLDS, "manifold")(n, d, seed)


def _normal(n: int, width: int, seed: int, stream: str) -> Tensor:
    return torch.randn(n, width, generator=generator(seed, stream), dtype=torch.float64)
