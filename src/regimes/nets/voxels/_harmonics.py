"""Real spherical harmonics, the rotations that act on them, and their products.

Order of components, polar axis (y) and signs are e3nn's, which the tests compare with: l = 1 is
(x, y, z). Everything is float64 on the CPU and small, so it needs no library.
"""

from __future__ import annotations

import functools
import math

import numpy as np
import torch
from torch import Tensor

from regimes._grids import orthogonal
from regimes._rotations import random_rotations, real_wigner


def spherical_harmonics(order: int, points: Tensor) -> Tensor:
    """Y^l at the directions of points, normalised to |Y| = 1.

    Y_m = sqrt((2 - delta_m0) (l-|m|)!/(l+|m|)!) P_l^|m|(y) {cos, sin}(m atan2(x, z)), without the
    sign (-1)^m.

    Args:
        order: l.
        points: (..., 3); their length does not matter. At the origin Y is 0 for l > 0.

    Returns:
        (..., 2l+1), m from -l to l.

    Example:
        >>> spherical_harmonics(1, torch.tensor([3.0, 0.0, 4.0])).tolist()
        [0.6, 0.0, 0.8]
    """
    points = points.double()
    length = points.norm(dim=-1, keepdim=True)
    x, y, z = (points / length.where(length > 0, 1)).unbind(-1)
    rows = [torch.zeros_like(y)] * (2 * order + 1)
    around = torch.complex(z, x)  # sin(beta) exp(i alpha)
    turned = torch.ones_like(around)
    for m in range(order + 1):
        scale = math.sqrt((2 if m else 1) * math.factorial(order - m) / math.factorial(order + m))
        height = scale * _legendre(order, m, y)
        rows[order + m] = height * turned.real
        if m:
            rows[order - m] = height * turned.imag
        turned = turned * around
    found = torch.stack(rows, -1)
    return found if order == 0 else found * (length > 0)


def _legendre(order: int, m: int, y: Tensor) -> Tensor:
    """P_l^m(y) / (1 - y^2)^(m/2), without the sign (-1)^m."""
    before = torch.zeros_like(y)
    now = torch.full_like(y, float(math.prod(range(1, 2 * m, 2))))
    for n in range(m + 1, order + 1):
        before, now = now, ((2 * n - 1) * y * now - (n + m - 1) * before) / (n - m)
    return now


def wigner(order: int, rotation: Tensor) -> Tensor:
    """D^l(R) with Y^l(R x) = D^l(R) Y^l(x), orthogonal, (2l+1, 2l+1) in float64.

    A mirror acts as it does on the harmonics: the inversion is (-1)^l.

    >>> quarter = torch.tensor([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])
    >>> bool(torch.allclose(wigner(1, quarter), quarter.double()))
    True
    """
    R = orthogonal(rotation)
    proper = torch.linalg.det(R).sign()
    return proper**order * real_wigner(order, proper * R)


@functools.cache
def three_j(j: int, l: int, J: int) -> Tensor:
    """The one invariant tensor of D^j x D^l x D^J, (2j+1, 2l+1, 2J+1), of norm 1.

    Its slices turn Y^J into a kernel: `Q_J Y^J` of [Weiler 2018, eqs. 14 to 17]. The sign makes
    the first entry that is not zero positive.

    The space of D^j x D^l that transforms like D^J is the eigenspace of the Casimir operator with
    eigenvalue J(J+1); its basis is turned into that of Y^J by the only matrix that intertwines.

    Raises:
        ValueError: if J is not from |j-l| to j+l.

    Example:
        >>> three_j(0, 2, 2).shape
        torch.Size([1, 5, 5])
    """
    if not abs(j - l) <= J <= j + l:
        raise ValueError(f"orders {j} and {l} contain J from {abs(j - l)} to {j + l}, not {J}")
    one, two = np.eye(2 * j + 1), np.eye(2 * l + 1)
    casimir = np.zeros(((2 * j + 1) * (2 * l + 1),) * 2)
    for a, b in zip(_generators(j), _generators(l), strict=True):
        both = np.kron(a, two) + np.kron(one, b)
        casimir -= both @ both
    values, vectors = np.linalg.eigh(casimir)
    space = vectors[:, np.abs(values - J * (J + 1)) < 0.5]
    rows, same = [], np.eye(2 * J + 1)
    for R in random_rotations(3):
        there = space.T @ np.kron(wigner(j, R).numpy(), wigner(l, R).numpy()) @ space
        rows.append(np.kron(there, same) - np.kron(same, wigner(J, R).numpy().T))
    # there A = A D^J: A is the null vector, an orthogonal matrix up to its length
    turn = np.linalg.svd(np.concatenate(rows))[2][-1].reshape(2 * J + 1, 2 * J + 1)
    found = space @ turn
    first = found.ravel()[np.flatnonzero(np.abs(found) > 1e-6)[0]]
    found = found / (np.linalg.norm(found) * np.sign(first))
    return torch.from_numpy(found.reshape(2 * j + 1, 2 * l + 1, 2 * J + 1))


@functools.cache
def _generators(order: int) -> tuple[np.ndarray, ...]:
    """Derivatives of D^l by the angle of turns about x, y and z."""
    about_y = np.zeros((2 * order + 1, 2 * order + 1))
    for m in range(1, order + 1):  # sin(m alpha) and cos(m alpha) turn by m times the angle
        about_y[order - m, order + m], about_y[order + m, order - m] = m, -m
    found = []
    for axis in ("zxy", "xyz", "yzx"):  # the frame in which its second axis is the polar one
        R = torch.zeros(3, 3, dtype=torch.float64)
        for column, letter in enumerate(axis):
            R["xyz".index(letter), column] = 1.0
        turn = wigner(order, R).numpy()
        found.append(turn @ about_y @ turn.T)
    return tuple(found)
