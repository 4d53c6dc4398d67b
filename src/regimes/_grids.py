"""Symmetries of a cube, and rotations of what lies on its voxels."""

from __future__ import annotations

import itertools

import numpy as np
import torch
from torch import Tensor

from regimes._check import shown

_EXACT = 1e-9  # entries of a matrix that are as near as this to 0, 1 or -1 are meant to be it


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
