"""Wigner's matrices, stable at high order, in the complex and in e3nn's real basis."""

from __future__ import annotations

import functools
import math

import numpy as np
import torch
from torch import Tensor

from regimes._check import positive_int
from regimes._rotations._angles import zyz_angles

# e3nn's polar axis is y: its coordinates (x, y, z) are (y, z, x) of the frame with polar axis z
_TO_E3NN = torch.tensor([[0.0, 1, 0], [0, 0, 1], [1, 0, 0]], dtype=torch.float64)


def wigner_d(l: int, beta: Tensor | float) -> Tensor:
    """`d^l(beta) = exp(-i beta J_y)`, rows and columns m = -l..l, real.

    From the eigenvectors U of the tridiagonal `J_x`, turned by `exp(-i pi/2 J_z)` into those of
    `J_y`, whose eigenvalues are -l..l exactly: no recursion, so nothing grows with l. Unitary
    to 1e-14 at l = 127.

    Args:
        l: the order.
        beta: angles of any shape.

    Returns:
        Matrices of shape (*beta.shape, 2l+1, 2l+1), float64.

    Example:
        >>> d = wigner_d(1, 0.3)
        >>> bool(torch.isclose(d[1, 1], torch.tensor(0.3).double().cos()))
        True
    """
    beta = torch.as_tensor(beta, dtype=torch.float64)
    U, turned_cos, turned_sin = _eigenvectors(positive_int("l", l, least=0))
    angle = beta[..., None] * torch.arange(-l, l + 1, dtype=torch.float64)
    cosine = (U * angle.cos()[..., None, :]) @ U.mT
    sine = (U * angle.sin()[..., None, :]) @ U.mT
    return turned_cos * cosine + turned_sin * sine


def wigner_d_column(l: int, beta: Tensor) -> Tensor:
    """The middle column `d^l_m0(beta)`, without the others: shape (*beta.shape, 2l+1)."""
    U, turned_cos, turned_sin = _eigenvectors(l)
    angle = beta[..., None] * torch.arange(-l, l + 1, dtype=torch.float64)
    cosine, sine = (angle.cos() * U[l]) @ U.mT, (angle.sin() * U[l]) @ U.mT
    return turned_cos[:, l] * cosine + turned_sin[:, l] * sine


def wigner_matrix(l: int, a: Tensor | float, b: Tensor | float, c: Tensor | float) -> Tensor:
    """`D^l_mn(a, b, c) = exp(-i m a) d^l_mn(b) exp(-i n c)`, complex128, (..., 2l+1, 2l+1).

    A representation: `D(R) D(R') = D(R R')`. Under the normalised Haar measure
    `<D^l_mn, D^l'_m'n'> = delta / (2l+1)` [Cohen 2018, eq. 19].
    """
    a, b, c = (torch.as_tensor(each, dtype=torch.float64) for each in (a, b, c))
    m = torch.arange(-l, l + 1, dtype=torch.float64)
    left = torch.exp(-1j * m * a[..., None])[..., :, None]
    right = torch.exp(-1j * m * c[..., None])[..., None, :]
    return left * wigner_d(l, b) * right


@functools.lru_cache(maxsize=256)
def complex_to_real(l: int) -> Tensor:
    """The unitary Q from the complex basis (polar axis z) to e3nn's real one (polar axis y).

    `Q D^l(R) Q^dagger = real_wigner(l, P R P^T)`, where P takes (x, y, z) to (y, z, x), since e3nn
    calls y what is z here. Rows are e3nn's components, columns m = -l..l.

    Example:
        >>> Q = complex_to_real(2)
        >>> bool(torch.allclose(Q @ Q.mH, torch.eye(5, dtype=Q.dtype)))
        True
    """
    Q = np.zeros((2 * l + 1, 2 * l + 1), dtype=complex)
    Q[l, l] = 1
    for m in range(1, l + 1):
        half, sign = math.sqrt(0.5), (-1) ** m
        Q[l + m, l - m], Q[l + m, l + m] = half, sign * half
        Q[l - m, l - m], Q[l - m, l + m] = -1j * half, 1j * sign * half
    return torch.from_numpy(Q)


def real_wigner(l: int, R: Tensor) -> Tensor:
    """The irreducible representation of order l in e3nn's real basis; `real_wigner(1, R)` is R.

    Args:
        l: the order.
        R: rotations of shape (..., 3, 3).

    Returns:
        Orthogonal matrices of shape (..., 2l+1, 2l+1), float64.

    Example:
        >>> from regimes._rotations import random_rotations
        >>> R = random_rotations(2)
        >>> bool(torch.allclose(real_wigner(1, R), R))
        True
    """
    R = torch.as_tensor(R, dtype=torch.float64)
    D = wigner_matrix(l, *zyz_angles(_TO_E3NN.mT @ R @ _TO_E3NN))
    Q = complex_to_real(l)
    return (Q @ D @ Q.mH).real


@functools.lru_cache(maxsize=512)
def _eigenvectors(l: int) -> tuple[Tensor, Tensor, Tensor]:
    """Eigenvectors of `J_x`, and the signs with which cosines and sines enter `d`.

    With `i^(n-m) (C - i S)`, C and S the sums over eigenvectors: even n - m keep C, odd ones S.
    """
    from scipy.linalg import eigh_tridiagonal

    m = np.arange(-l, l + 1)
    off = 0.5 * np.sqrt(l * (l + 1) - m[:-1] * (m[:-1] + 1))
    U = eigh_tridiagonal(np.zeros(2 * l + 1), off)[1] if l else np.ones((1, 1))
    difference = m[None, :] - m[:, None]
    even = np.where(difference % 2 == 0, np.where(difference % 4 == 0, 1.0, -1.0), 0.0)
    odd = np.where(difference % 2 == 1, np.where(difference % 4 == 1, 1.0, -1.0), 0.0)
    return torch.from_numpy(U), torch.from_numpy(even), torch.from_numpy(odd)
