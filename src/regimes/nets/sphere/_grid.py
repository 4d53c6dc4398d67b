"""Grids of the sphere and of SO(3) that carry exact quadrature."""

from __future__ import annotations

import functools

import torch
from torch import Tensor

from regimes._rotations import grid_angles, sphere_point


@functools.lru_cache(maxsize=64)
def beta_weights(b: int) -> Tensor:
    """Weights of the latitudes, of sum 1: integrals over `sin(beta) dbeta / 2`.

    `w_k = (1/b) sin(beta_k) sum_(j<b) sin((2j+1) beta_k)/(2j+1)`, exact for polynomials in
    cos(beta) of degree below 2b.

    Example:
        >>> w, (beta, _) = beta_weights(4), grid_angles(4)
        >>> float((7 * w * beta.cos() ** 6).sum().round(decimals=12))
        1.0
    """
    beta, _ = grid_angles(b)
    odd = 2 * torch.arange(b, dtype=torch.float64) + 1
    return beta.sin() / b * (torch.sin(odd * beta[:, None]) / odd).sum(1)


def s2_points(b: int) -> Tensor:
    """The points of the grid on the unit sphere, (2b latitudes, 2b longitudes, 3), float64."""
    beta, alpha = grid_angles(b)
    return sphere_point(alpha[None, :].expand(2 * b, 2 * b), beta[:, None].expand(2 * b, 2 * b))


def weights_like(x: Tensor, latitudes: int) -> Tensor:
    """The weights of a grid with so many latitudes, in the precision and place of x."""
    if latitudes % 2:
        raise ValueError(f"a grid has an even number 2b of latitudes, got {latitudes}")
    return _moved(latitudes // 2, x.dtype, x.device)


@functools.lru_cache(maxsize=64)
def _moved(b: int, dtype: torch.dtype, device: torch.device) -> Tensor:
    return beta_weights(b).to(device=device, dtype=dtype)
