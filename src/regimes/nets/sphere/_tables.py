"""Tables of the transforms: Wigner's d at the latitudes of a grid, cached by precision and device.

Real signals have real coefficients in the basis of `conj(complex_to_real(l))`, whose rows are
`(sin l, ..., sin 1, 1, cos 1, ..., cos l)`. Its factors 1/sqrt(2) and signs (-1)^m are put into the
tables, so that the transforms have nothing left to do but sums and differences.
"""

from __future__ import annotations

import functools

import torch
from torch import Tensor

from regimes._rotations import grid_angles, wigner_d, wigner_d_column
from regimes.nets.sphere._grid import beta_weights


@functools.lru_cache(maxsize=32)
def s2_tables(b: int, L: int, dtype: torch.dtype, device: torch.device) -> tuple[Tensor, Tensor]:
    """Forward (m, l, k) and backward (m, k, l), m = 0..L-1, for a grid of 2b latitudes."""
    beta, _ = grid_angles(b)
    table = torch.zeros(L, L, 2 * b, dtype=torch.float64)
    for l in range(L):
        table[: l + 1, l] = wigner_d_column(l, beta)[:, l:].mT
    m = torch.arange(L)
    scale = _factor(m, 2**0.5)[:, None, None]
    forward = table * scale * beta_weights(b) / (2 * b)
    half = _factor(m, 0.5**0.5)[:, None, None]  # irfft adds the other, conjugate, half
    degree = 2 * torch.arange(L, dtype=torch.float64) + 1
    backward = (table * half * degree[:, None]).mT * (2 * b)
    return _placed(forward, dtype, device), _placed(backward, dtype, device)


@functools.lru_cache(maxsize=32)
def so3_tables(b: int, L: int, dtype: torch.dtype, device: torch.device) -> tuple[Tensor, Tensor]:
    """Forward ((m, n), l, k) and backward ((m, n), k, l), m = -(L-1)..L-1, n = 0..L-1."""
    beta, _ = grid_angles(b)
    M = 2 * L - 1
    table = torch.zeros(M, L, L, 2 * b, dtype=torch.float64)  # m, n, l, k
    for l in range(L):
        d = wigner_d(l, beta)[:, :, l:]
        table[L - 1 - l : L + l, : l + 1, l] = d.permute(1, 2, 0)
    m, n = torch.arange(-(L - 1), L), torch.arange(L)
    left = _factor(m, 0.5**0.5)[:, None]
    both = (left * _factor(n, 2**0.5))[..., None, None]
    forward = table * both * beta_weights(b) / (2 * b) ** 2
    both = (left * _factor(n, 0.5**0.5))[..., None, None]
    degree = 2 * torch.arange(L, dtype=torch.float64) + 1
    backward = (table * both * degree[:, None]).mT * (2 * b) ** 2
    return (
        _placed(forward.flatten(0, 1), dtype, device),
        _placed(backward.flatten(0, 1), dtype, device),
    )


def _factor(m: Tensor, scale: float) -> Tensor:
    """`(-1)^m scale` for m > 0, `scale` for m < 0, and 1 in the middle."""
    sign = 1.0 - 2.0 * ((m > 0) & (m % 2 == 1)).double()
    return torch.where(m == 0, 1.0, scale * sign)


def _placed(table: Tensor, dtype: torch.dtype, device: torch.device) -> Tensor:
    return table.to(device=device, dtype=dtype).contiguous()
