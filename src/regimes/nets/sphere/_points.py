"""Where filters are supported: points of the sphere and of SO(3), as ZYZ angles."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from regimes._check import positive_int, real, shown
from regimes._rotations import grid_angles, rotation_matrix

_APART = 1e-6  # of two points, in the entries of their rotation matrices


def s2_near_identity(max_beta: float = math.pi / 8, n_alpha: int = 8, n_beta: int = 3) -> Tensor:
    """Rings around the north pole, at `beta = max_beta i/n_beta`, i = 1..n_beta.

    Args:
        max_beta: angle of the widest ring from the pole; a filter narrower than the resolution
            `pi/b` sees little, so that small bandwidths want pi/4.
        n_alpha: points on a ring.
        n_beta: rings.

    Returns:
        Angles (alpha, beta) of shape (n_alpha n_beta, 2), float64.

    Example:
        >>> s2_near_identity().shape
        torch.Size([24, 2])
    """
    return torch.cartesian_prod(_circle("n_alpha", n_alpha), _rings(max_beta, n_beta))


def so3_near_identity(
    max_beta: float = math.pi / 8, n_alpha: int = 6, n_beta: int = 2, n_gamma: int = 6
) -> Tensor:
    """Rotations near the identity, and turned about themselves by n_gamma angles.

    The third angle is `gamma_k - alpha` with `gamma_k = 2 pi k/n_gamma`, so that rings move
    without turning. The grid of the paper's programs lets gamma run from -2 pi to 2 pi with both
    ends, whereby points coincide and few orientations are left; here all points are distinct.

    Returns:
        Angles (alpha, beta, gamma) of shape (n_alpha n_beta n_gamma, 3), float64.

    Example:
        >>> so3_near_identity().shape
        torch.Size([72, 3])
    """
    alpha, beta, turn = torch.cartesian_prod(
        _circle("n_alpha", n_alpha), _rings(max_beta, n_beta), _circle("n_gamma", n_gamma)
    ).unbind(1)
    return torch.stack([alpha, beta, turn - alpha], 1)


def s2_equatorial(n_alpha: int) -> Tensor:
    """A ring on the equator, n_alpha points [Cohen 2018, section 5.3]."""
    alpha = _circle("n_alpha", n_alpha)
    return torch.stack([alpha, torch.full_like(alpha, math.pi / 2)], 1)


def so3_equatorial(n_alpha: int) -> Tensor:
    """The ring beta = pi/2, gamma = 0 of SO(3), n_alpha points [Cohen 2018, section 5.3]."""
    alpha = _circle("n_alpha", n_alpha)
    return torch.stack([alpha, torch.full_like(alpha, math.pi / 2), torch.zeros_like(alpha)], 1)


def s2_everywhere(b: int) -> Tensor:
    """All points of the grid of bandwidth b: 4 b^2 of them."""
    beta, alpha = grid_angles(b)
    return torch.cartesian_prod(alpha, beta)


def so3_everywhere(b: int) -> Tensor:
    """All points of the grid of bandwidth b: 8 b^3 of them."""
    beta, alpha = grid_angles(b)
    return torch.cartesian_prod(alpha, beta, alpha)


def so3_identity() -> Tensor:
    """The identity alone: a correlation that only mixes channels, for skip connections."""
    return torch.zeros(1, 3, dtype=torch.float64)


def checked_points(points: Tensor, angles: int) -> Tensor:
    """The points as float64, or a ValueError if they are no angles or two of them coincide."""
    if not isinstance(points, Tensor) or points.ndim != 2 or points.shape[1] != angles:
        raise ValueError(
            f"points must be angles of shape (p, {angles}), as s2_near_identity or "
            f"so3_near_identity return them, got {shown(points)}"
        )
    points = points.to(torch.float64)
    if len(points) == 0:
        raise ValueError("points is empty; a filter needs at least one point")
    gamma = points[:, 2] if angles == 3 else torch.zeros(len(points)).double()
    places = rotation_matrix(points[:, 0], points[:, 1], gamma)
    if angles == 2:
        places = places[:, :, 2:]
    flat = places.flatten(1)
    distance = torch.cdist(flat, flat) + 4 * torch.eye(len(flat), dtype=torch.float64)
    if bool((distance < _APART).any()):
        i, j = (int(each) for each in (distance < _APART).nonzero()[0])
        raise ValueError(
            f"points {i} and {j} of the filter are the same; leave one out, since their weights "
            "would only ever be added"
        )
    return points


def _circle(name: str, n: int) -> Tensor:
    return 2 * math.pi * torch.arange(positive_int(name, n), dtype=torch.float64) / n


def _rings(max_beta: float, n_beta: int) -> Tensor:
    widest = real("max_beta", max_beta, above=0.0, below=math.pi)
    steps = torch.arange(1, positive_int("n_beta", n_beta) + 1, dtype=torch.float64)
    return widest * steps / n_beta
