"""From coefficients in the real basis to those in the complex one, and back, axis by axis.

Along an axis real coefficients are `(s_l, ..., s_1, c_0, c_1, ..., c_l)`, complex ones `F_-l, ...,
F_l`. The change mixes m with -m alone, so that it is written out and never a product with a matrix:

    F_-m = (c_m + i s_m)/sqrt(2),    F_m = (-1)^m (c_m - i s_m)/sqrt(2)

Columns of signals on SO(3) change with the conjugate of this.
"""

from __future__ import annotations

import functools
import math

import torch
from torch import Tensor

_HALF = math.sqrt(0.5)


def s2_complex(G: Tensor) -> Tensor:
    """Complex coefficients (..., 2L-1) of real ones of a real signal on the sphere."""
    L = (G.shape[-1] + 1) // 2
    sine, middle, cosine = G[..., : L - 1], G[..., L - 1 : L], G[..., L:]
    low = torch.complex(cosine.flip(-1), sine) * _HALF
    return torch.cat([low, middle.to(low.dtype), low.conj().flip(-1) * _signs(G, L)], -1)


def s2_real(F: Tensor, part: str) -> Tensor:
    """Real coefficients (..., 2L-1) of the real or the imaginary part, "real" or "imag", of f."""
    if part == "imag":
        F = F * -1j
    L = (F.shape[-1] + 1) // 2
    low, up = F[..., : L - 1].flip(-1), F[..., L:] * _signs(F.real, L)
    sine, cosine = low.imag - up.imag, low.real + up.real
    return torch.cat([sine.flip(-1) * _HALF, F[..., L - 1 : L].real, cosine * _HALF], -1)


def so3_complex(G: Tensor) -> Tensor:
    """Complex coefficients (..., 2L-1, 2L-1) of real ones of a real signal on SO(3)."""
    L = (G.shape[-1] + 1) // 2
    Z = s2_complex(G).conj()  # columns: the conjugate change
    sine, middle, cosine = Z[..., : L - 1, :], Z[..., L - 1 : L, :], Z[..., L:, :]
    low = (cosine.flip(-2) + 1j * sine) * _HALF
    # a real signal has F_m,n = (-1)^(m+n) conj(F_-m,-n)
    signs = _signs(G, L)
    both = torch.cat([signs.flip(0), signs.new_ones(1), signs]) * signs[:, None]
    return torch.cat([low, middle, low.conj().flip(-2, -1) * both], -2)


def so3_real(F: Tensor, part: str) -> Tensor:
    """Real coefficients (..., 2L-1, 2L-1) of the real or the imaginary part of f."""
    if part == "imag":
        F = F * -1j
    L = (F.shape[-1] + 1) // 2
    low = F[..., : L - 1, :].flip(-2)
    up = F[..., L:, :] * _signs(F.real, L)[:, None]
    sine = (low - up).flip(-2) * (-1j * _HALF)
    rows = torch.cat([sine, F[..., L - 1 : L, :], (low + up) * _HALF], -2)
    return s2_real(rows.conj(), "real")


def _signs(like: Tensor, L: int) -> Tensor:
    """`(-1)^m`, m = 1..L-1."""
    return _cached(L, like.dtype, like.device)


@functools.lru_cache(maxsize=64)
def _cached(L: int, dtype: torch.dtype, device: torch.device) -> Tensor:
    return (1 - 2 * (torch.arange(1, L) % 2)).to(device=device, dtype=dtype)
