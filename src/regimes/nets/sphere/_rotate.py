"""Rotating spectra and signals, and the size of a signal below its bandlimit."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from regimes._rotations import rotation_matrix, wigner_matrix, zyz_angles
from regimes.nets.sphere._transform import s2_fft, s2_ifft, so3_fft, so3_ifft

_FAR = 1e-3  # more than rounding in float32


def rotate(F: Tensor, a: Tensor | float, b: Tensor | float, c: Tensor | float) -> Tensor:
    """Coefficients of the signal rotated by R(a, b, c): `F^l -> conj(D^l(R)) F^l`.

    The rotated signal is `f(R^-1 x)` [Cohen 2018, eqs. 1 and 5].

    Args:
        F: complex coefficients, (..., L, 2L-1) on the sphere or (..., L, 2L-1, 2L-1) on SO(3).
        a: first ZYZ angle, a number.
        b: second angle.
        c: third angle.

    Returns:
        Coefficients of the same shape.
    """
    if F.ndim < 2:
        raise ValueError(f"F must have shape (..., L, 2L-1), got {tuple(F.shape)}")
    on_sphere = F.ndim < 3 or F.shape[-2] != F.shape[-1] or F.shape[-3] * 2 - 1 != F.shape[-1]
    L = F.shape[-2] if on_sphere else F.shape[-3]
    M = 2 * L - 1
    if F.shape[-1] != M:
        raise ValueError(f"F must have shape (..., L, 2L-1), got {tuple(F.shape)}")
    D = torch.zeros(L, M, M, dtype=torch.complex128)
    for l in range(L):
        inside = slice(L - 1 - l, L + l)
        D[l, inside, inside] = wigner_matrix(l, a, b, c).conj()
    D = D.to(F)
    return (D @ F[..., None])[..., 0] if on_sphere else D @ F


def rotate_s2(f: Tensor, R: Tensor) -> Tensor:
    """The signal `f(R^-1 x)` on the grid of f, (..., 2b, 2b); exact below the bandlimit.

    Orders from b on, which a pointwise function such as ReLU creates, are lost.

    Raises:
        ValueError: R is no rotation matrix.
    """
    b = f.shape[-1] // 2
    return s2_ifft(rotate(s2_fft(f), *_angles(R)), b, real=not f.is_complex())


def rotate_so3(f: Tensor, R: Tensor) -> Tensor:
    """The signal `f(R^-1 Q)` on the grid of f, (..., 2b, 2b, 2b); exact below the bandlimit.

    Raises:
        ValueError: R is no rotation matrix.
    """
    b = f.shape[-1] // 2
    return so3_ifft(rotate(so3_fft(f), *_angles(R)), b, real=not f.is_complex())


def _angles(R: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Euler angles of what must be rotations: for another matrix they would mean nothing."""
    angles = zyz_angles(R)
    far = float((rotation_matrix(*angles) - R.detach().to(angles[0])).abs().max())
    if not far < _FAR:
        raise ValueError(
            f"R must be a rotation matrix, but the rotation by its angles differs from it by "
            f"{far:.2g}; sphere.random_rotations(n) draws some"
        )
    return angles


def spectral_size(orders: int | None = None) -> Callable[[Tensor], float]:
    """A size for `measure.equivariance_error`: only what lies in the orders 0 < l < `orders`.

    The square root of `sum_l (2l+1) |f^l|^2` of signals on SO(3). It ignores what a grid cannot
    rotate exactly, and so tells the layers' own error from that of turning their output.
    """

    def size(f: Tensor) -> float:
        F = so3_fft(f, orders)
        degree = 2 * torch.arange(F.shape[-3], device=F.device, dtype=f.dtype) + 1
        degree[0] = 0
        return float((degree[:, None, None] * F.abs().square()).sum().sqrt())

    return size
