"""Generalised Fourier transforms of signals on the sphere and on SO(3), complex coefficients."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from regimes._check import positive_int, shown
from regimes.nets.sphere._basis import s2_complex, s2_real, so3_complex, so3_real
from regimes.nets.sphere._real import s2_backward, s2_forward, so3_backward, so3_forward


def s2_fft(f: Tensor, b_out: int | None = None) -> Tensor:
    """`f^l_m = int f conj(Y^l_m)` of signals on the sphere, with `Y^l_m = D^l_m0`.

    Exact for signals with no orders from b on [Cohen 2018, eq. 8], over the measure of total 1.

    Args:
        f: real or complex, (..., 2b latitudes, 2b longitudes).
        b_out: orders l < b_out are computed; None: all b.

    Returns:
        Complex coefficients (..., L, 2L-1): order l, then m = -(L-1)..L-1, zero where |m| > l.

    Example:
        >>> from regimes.nets.sphere import s2_ifft
        >>> F = torch.zeros(3, 5, dtype=torch.complex128)
        >>> F[2, 3] = 1j  # l = 2, m = 1
        >>> bool(torch.allclose(s2_fft(s2_ifft(F, 4), 3), F))
        True
    """
    L = _orders(f, 2, b_out)

    def transform(x: Tensor) -> Tensor:
        G = s2_forward(x.reshape(1, -1, *x.shape[-2:]), L)[:, 0]
        return s2_complex(G.permute(2, 0, 1))

    return _both_parts(transform, f).reshape(*f.shape[:-2], L, 2 * L - 1)


def s2_ifft(F: Tensor, b: int, *, real: bool = False) -> Tensor:
    """`f = sum_l (2l+1) sum_m f^l_m Y^l_m` on the grid of bandwidth b: the inverse of `s2_fft`.

    Args:
        F: coefficients (..., L, 2L-1) with L <= b.
        b: bandwidth of the grid.
        real: return the real part of the signal alone, for coefficients of a real one.

    Returns:
        Signals (..., 2b, 2b).
    """
    L = _coefficient_orders(F, 1, b)
    F_flat = F.reshape(-1, L, 2 * L - 1)

    def transform(part: str) -> Tensor:
        return s2_backward(s2_real(F_flat, part).permute(1, 2, 0)[:, None], b)[0]

    return _joined_parts(transform, real).reshape(*F.shape[:-2], 2 * b, 2 * b)


def so3_fft(f: Tensor, b_out: int | None = None) -> Tensor:
    """`f^l_mn = int f conj(D^l_mn)` of signals on SO(3) [Cohen 2018, eq. 8].

    Args:
        f: real or complex, (..., 2b beta, 2b alpha, 2b gamma).
        b_out: orders l < b_out are computed; None: all b.

    Returns:
        Complex coefficients (..., L, 2L-1, 2L-1), zero where |m| > l or |n| > l.

    Example:
        >>> from regimes.nets.sphere import so3_ifft
        >>> F = torch.zeros(3, 5, 5, dtype=torch.complex128)
        >>> F[1, 1, 3] = 2  # l = 1, m = -1, n = 1
        >>> bool(torch.allclose(so3_fft(so3_ifft(F, 3)), F))
        True
    """
    L = _orders(f, 3, b_out)

    def transform(x: Tensor) -> Tensor:
        G = so3_forward(x.reshape(1, -1, *x.shape[-3:]), L)[:, 0]
        return so3_complex(G.permute(2, 0, 1, 3))

    return _both_parts(transform, f).reshape(*f.shape[:-3], L, 2 * L - 1, 2 * L - 1)


def so3_ifft(F: Tensor, b: int, *, real: bool = False) -> Tensor:
    """`f = sum_l (2l+1) sum_mn f^l_mn D^l_mn` [Cohen 2018, eq. 9]: the inverse of `so3_fft`.

    Args:
        F: coefficients (..., L, 2L-1, 2L-1) with L <= b.
        b: bandwidth of the grid.
        real: return the real part of the signal alone, for coefficients of a real one.

    Returns:
        Signals (..., 2b, 2b, 2b).
    """
    L = _coefficient_orders(F, 2, b)
    F_flat = F.reshape(-1, L, 2 * L - 1, 2 * L - 1)

    def transform(part: str) -> Tensor:
        return so3_backward(so3_real(F_flat, part).permute(1, 2, 0, 3)[:, None], b)[0]

    return _joined_parts(transform, real).reshape(*F.shape[:-3], 2 * b, 2 * b, 2 * b)


def _both_parts(transform: Callable[[Tensor], Tensor], f: Tensor) -> Tensor:
    """A transform of real signals, done to the real and the imaginary part."""
    return transform(f.real) + 1j * transform(f.imag) if f.is_complex() else transform(f)


def _joined_parts(transform: Callable[[str], Tensor], real: bool) -> Tensor:
    return transform("real") if real else torch.complex(transform("real"), transform("imag"))


def _orders(f: Tensor, axes: int, b_out: int | None) -> int:
    if not isinstance(f, Tensor):
        raise ValueError(f"signals must be a tensor, got {shown(f)}")
    sides = f.shape[-axes:]
    if len(sides) < axes or len(set(sides)) > 1 or sides[0] % 2 or sides[0] == 0:
        raise ValueError(
            f"signals must have {axes} last axes of the same even length 2b, got shape "
            f"{tuple(f.shape)}"
        )
    if f.dtype not in (torch.float32, torch.float64, torch.complex64, torch.complex128):
        raise ValueError(f"signals must be float32, float64 or complex, got {f.dtype}")
    b = sides[0] // 2
    if b_out is None:
        return b
    if positive_int("b_out", b_out) > b:
        raise ValueError(f"a grid of bandwidth {b} holds orders below {b}, got b_out={b_out}")
    return b_out


def _coefficient_orders(F: Tensor, axes: int, b: int) -> int:
    sides = F.shape[-axes:]
    L = F.shape[-axes - 1] if F.ndim > axes else 0
    if not F.is_complex() or set(sides) != {2 * L - 1}:
        raise ValueError(
            f"coefficients must be complex of shape (..., L{', 2L-1' * axes}), got {F.dtype} of "
            f"shape {tuple(F.shape)}"
        )
    if positive_int("b", b) < L:
        raise ValueError(f"{L} orders need a grid of bandwidth {L} or more, got b={b}")
    return L
