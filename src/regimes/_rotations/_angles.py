"""Rotation matrices: drawn uniformly, made of ZYZ angles, and read back as angles."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from regimes._check import positive_int, shown
from regimes._random import generator


def random_rotations(n: int, seed: int = 0) -> Tensor:
    """Rotations drawn uniformly (by Haar's measure) from SO(3): normalised Gaussian quaternions.

    Args:
        n: how many.
        seed: seed of the draw; a longer draw begins with a shorter one.

    Returns:
        Matrices of shape (n, 3, 3), float64.

    Example:
        >>> R = random_rotations(4, seed=1)
        >>> bool(torch.allclose(R @ R.mT, torch.eye(3, dtype=R.dtype)))
        True
    """
    return haar_rotations(positive_int("n", n), generator(seed, "rotations"))


def haar_rotations(n: int, draws: torch.Generator) -> Tensor:
    """The same from a generator that goes on afterwards: matrices of shape (n, 3, 3), float64."""
    q = torch.empty(n, 4, dtype=torch.float64)
    for row in q:  # one by one: a longer draw begins with a shorter one
        row.copy_(torch.randn(4, generator=draws, dtype=torch.float64))
    w, x, y, z = (q / q.norm(dim=1, keepdim=True)).unbind(1)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    return torch.stack([torch.stack(row, -1) for row in rows], -2)


def rotation_matrix(a: Tensor | float, b: Tensor | float, c: Tensor | float) -> Tensor:
    """`Z(a) Y(b) Z(c)` of angles of any shape, as matrices of shape (..., 3, 3).

    >>> import math
    >>> turn = rotation_matrix(0.0, math.pi / 2, 0.0)
    >>> (turn @ torch.tensor([0.0, 0, 1]).double()).round().tolist()
    [1.0, 0.0, 0.0]
    """
    alpha, beta, gamma = torch.broadcast_tensors(_double(a), _double(b), _double(c))
    return _about_z(alpha) @ _about_y(beta) @ _about_z(gamma)


def zyz_angles(R: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The angles `a, c` in [0, 2 pi) and `b` in [0, pi] of rotation matrices (..., 3, 3).

    At the poles, where only `a + c` or `a - c` is determined, `c` is 0.
    """
    R = _double(R)
    if R.shape[-2:] != (3, 3):
        raise ValueError(f"rotations must have shape (..., 3, 3), got {tuple(R.shape)}")
    sine = torch.hypot(R[..., 0, 2], R[..., 1, 2])
    b = torch.atan2(sine, R[..., 2, 2])
    pole = sine < 1e-14
    a = torch.where(
        pole, torch.atan2(-R[..., 0, 1], R[..., 1, 1]), torch.atan2(R[..., 1, 2], R[..., 0, 2])
    )
    # what is left is Z(c): near the poles, where a is rough, c makes up for it
    left = (_about_z(a) @ _about_y(b)).mT @ R
    c = torch.where(pole, torch.zeros_like(a), torch.atan2(left[..., 1, 0], left[..., 0, 0]))
    return a % (2 * torch.pi), b, c % (2 * torch.pi)


def sphere_point(a: Tensor | float, b: Tensor | float) -> Tensor:
    """The point `Z(a) Y(b) n` of the unit sphere, n being the north pole: shape (..., 3)."""
    alpha, beta = torch.broadcast_tensors(_double(a), _double(b))
    return torch.stack([alpha.cos() * beta.sin(), alpha.sin() * beta.sin(), beta.cos()], -1)


def grid_angles(b: int) -> tuple[Tensor, Tensor]:
    """Angles of the grid of bandwidth b: `beta_k = pi(2k+1)/4b` and `alpha_j = 2 pi j/2b`.

    The half-shifted form of Driscoll and Healy's grid, without points on the poles; the third
    angle of SO(3), gamma, is like alpha.

    Returns:
        beta and alpha, each of shape (2b,), float64.
    """
    steps = torch.arange(2 * positive_int("b", b), dtype=torch.float64)
    return math.pi * (2 * steps + 1) / (4 * b), math.pi * steps / b


def _double(value: Tensor | float) -> Tensor:
    tensor = torch.as_tensor(value, dtype=torch.float64)
    if not bool(tensor.isfinite().all()):
        raise ValueError(f"angles and rotations must be finite, got {shown(value)}")
    return tensor


def _about_z(angle: Tensor) -> Tensor:
    zero, one = torch.zeros_like(angle), torch.ones_like(angle)
    rows = [[angle.cos(), -angle.sin(), zero], [angle.sin(), angle.cos(), zero], [zero, zero, one]]
    return torch.stack([torch.stack(row, -1) for row in rows], -2)


def _about_y(angle: Tensor) -> Tensor:
    zero, one = torch.zeros_like(angle), torch.ones_like(angle)
    rows = [[angle.cos(), zero, angle.sin()], [zero, one, zero], [-angle.sin(), zero, angle.cos()]]
    return torch.stack([torch.stack(row, -1) for row in rows], -2)
