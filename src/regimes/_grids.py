"""Rotations of space, and of what lies on the voxels of a cube."""

from __future__ import annotations

import itertools
import math

import numpy as np
import torch
from torch import Tensor

from regimes._check import shown

_EXACT = 1e-9  # entries of a matrix that are as near as this to 0, 1 or -1 are meant to be it


def haar_rotations(n: int, source: torch.Generator) -> Tensor:
    """Rotation matrices (n, 3, 3), uniform over all of them: unit quaternions of normal draws.

    >>> R = haar_rotations(5, torch.Generator().manual_seed(0))
    >>> bool(torch.allclose(R @ R.mT, torch.eye(3, dtype=R.dtype).expand(5, 3, 3)))
    True
    """
    q = torch.randn(n, 4, generator=source, dtype=torch.float64)
    w, x, y, z = (q / q.norm(dim=1, keepdim=True)).unbind(1)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return torch.stack([torch.stack(row, 1) for row in rows], 1)


def cube_symmetries(*, mirrors: bool = False) -> Tensor:
    """The 24 rotations of a cube, or all 48 of its symmetries, the identity first.

    >>> len(cube_symmetries()), len(cube_symmetries(mirrors=True))
    (24, 48)
    """
    found = []
    for order in itertools.permutations(range(3)):
        for signs in itertools.product((1.0, -1.0), repeat=3):
            matrix = torch.zeros(3, 3, dtype=torch.float64)
            matrix[list(order), range(3)] = torch.tensor(signs, dtype=torch.float64)
            if mirrors or torch.linalg.det(matrix) > 0:
                found.append(matrix)
    return torch.stack(found)


def orthogonal(matrix: object) -> Tensor:
    """An orthogonal 3x3 matrix in float64, or a ValueError."""
    given = torch.as_tensor(matrix, dtype=torch.float64).cpu()
    square = given.shape == (3, 3)
    if not square or float((given @ given.mT - torch.eye(3, dtype=given.dtype)).abs().max()) > 1e-6:
        raise ValueError(
            f"a rotation or mirror must be an orthogonal matrix of 3x3, got {shown(matrix)}"
        )
    return given


def move_grid(
    values: Tensor, matrix: Tensor, shift: Tensor | None = None, *, spline: int = 3
) -> Tensor:
    """Values on voxels carried along: `moved(x) = values(R^-1 (x - t))` about the centre.

    Positions are the indices of the last three axes, counted from the middle of the grid. The
    symmetries of a cube, with shifts by whole voxels, only permute values; other rotations read
    between voxels with splines. What comes from outside the grid is zero.

    Args:
        values: (..., n, n, n), or other sizes where R does not exchange them.
        matrix: orthogonal R, (3, 3).
        shift: t in voxels; None is no shift.
        spline: order of the splines, from 0 (nearest) and 1 (linear) to 5.

    Returns:
        The moved values, shaped like the given ones; gradients pass permutations only.

    Example:
        >>> line = torch.zeros(3, 3, 3); line[2, 1, 1] = 1.0
        >>> quarter = torch.tensor([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])
        >>> float(move_grid(line, quarter)[1, 2, 1])
        1.0
    """
    R, sides = orthogonal(matrix), tuple(values.shape[-3:])
    t = torch.zeros(3, dtype=torch.float64) if shift is None else shift.double().cpu()
    nearest = R.round()
    exact = float((R - nearest).abs().max()) < _EXACT
    whole = bool((t == t.round()).all())
    from_axis = [int(i) for i in nearest.abs().argmax(1)]  # output axis i comes from this one
    if exact and whole and all(sides[a] == sides[i] for i, a in enumerate(from_axis)):
        lead = values.ndim - 3
        moved = values.permute(*range(lead), *(lead + a for a in from_axis))
        flipped = [lead + i for i, a in enumerate(from_axis) if nearest[i, a] < 0]
        return _shifted(moved.flip(flipped), [int(each) for each in t])
    from scipy.ndimage import affine_transform

    middle = (np.array(sides) - 1) / 2
    back = R.T.numpy()
    offset = middle - back @ (middle + t.numpy())
    flat = values.detach().cpu().double().reshape(-1, *sides).numpy()
    rotated = [affine_transform(each, back, offset, order=spline) for each in flat]
    return torch.from_numpy(np.stack(rotated)).to(values).reshape(values.shape)


def _shifted(values: Tensor, steps: list[int]) -> Tensor:
    """Values moved by whole voxels, zeros behind them."""
    for axis, step in zip((-3, -2, -1), steps, strict=True):
        if step:
            size = values.shape[axis]
            kept = values.narrow(axis, max(0, -step), max(0, size - abs(step)))
            gap = list(values.shape)
            gap[axis] = min(size, abs(step))
            zeros = values.new_zeros(gap)
            values = torch.cat([zeros, kept] if step > 0 else [kept, zeros], axis)
    return values


def spread_rotations(n: int) -> list[Tensor]:
    """`n` fixed rotations in general position, the same ones always.

    >>> len(spread_rotations(3))
    3
    """
    golden = (1 + math.sqrt(5)) / 2
    found = []
    for k in range(1, n + 1):
        axis = torch.tensor([1.0, golden * k, math.sqrt(2) / k], dtype=torch.float64)
        x, y, z = (axis / axis.norm()).tolist()
        cross = torch.tensor([[0, -z, y], [z, 0, -x], [-y, x, 0]], dtype=torch.float64)
        found.append(torch.linalg.matrix_exp(cross * (1 + 0.7 * k)))
    return found
