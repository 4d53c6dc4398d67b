"""Transforms of real signals into real coefficients and back, in the layout of the layers.

An FFT over the longitudes and one batched product over the latitudes [Cohen 2018, section 4.1].
With `R(m, n) = sum_ac x exp(-i(m alpha + n gamma))` the coefficients in the real basis are sums
and differences of the real and imaginary parts of `sum_k w_k d^l_mn(beta_k) R(m, n)` and
`R(-m, n)`, n >= 0: a real signal costs half of a complex one.

Coefficients have the order l first and are padded to M = 2L - 1 components: (L, Z, M, C) on the
sphere, (L, Z, M, C, M) on SO(3), for Z samples of C channels. So the sums over channels and
components of all layers are one batched matrix product over l.
"""

from __future__ import annotations

import torch
from torch import Tensor

from regimes.nets.sphere._tables import s2_tables, so3_tables


def s2_forward(x: Tensor, L: int) -> Tensor:
    """Coefficients (L, Z, M, C) of signals (Z, C, 2b, 2b)."""
    Z, C, K, _ = x.shape
    forward, _ = s2_tables(K // 2, L, x.dtype, x.device)
    waves = torch.fft.rfft(x)[..., :L].permute(3, 2, 0, 1).contiguous()  # m, K, Z, C
    waves = torch.view_as_real(waves).reshape(L, K, Z * C * 2)
    sums = torch.bmm(forward, waves).view(L, L, Z, C, 2)  # m, l, Z, C, 2
    real, imag = sums[..., 0], sums[..., 1]
    return torch.cat([imag[1:].flip(0), real]).permute(1, 2, 0, 3)


def s2_backward(F: Tensor, b: int) -> Tensor:
    """Signals (Z, C, 2b, 2b) of coefficients (L, Z, M, C)."""
    L, Z, _, C = F.shape
    _, backward = s2_tables(b, L, F.dtype, F.device)
    F = F.permute(2, 0, 1, 3)  # M, L, Z, C
    cosine, sine = F[L - 1 :], torch.cat([torch.zeros_like(F[:1]), F[: L - 1].flip(0)])
    both = torch.stack([cosine, sine], -1).view(L, L, Z * C * 2)
    waves = torch.view_as_complex(torch.bmm(backward, both).view(L, 2 * b, Z, C, 2))
    return torch.fft.irfft(waves.permute(2, 3, 1, 0).contiguous(), n=2 * b)


def so3_forward(x: Tensor, L: int) -> Tensor:
    """Coefficients (L, Z, M, C, M) of signals (Z, C, 2b, 2b, 2b)."""
    Z, C, K, _, _ = x.shape
    forward, _ = so3_tables(K // 2, L, x.dtype, x.device)
    waves = torch.fft.rfft(x)[..., :L]
    waves = torch.fft.fft(waves, dim=-2)
    waves = torch.cat([waves[..., K - L + 1 :, :], waves[..., :L, :]], -2)  # m = -(L-1)..L-1
    waves = torch.view_as_real(waves.permute(3, 4, 2, 0, 1).contiguous())
    waves = waves.reshape(-1, K, Z * C * 2)
    sums = torch.bmm(forward, waves).view(2 * L - 1, L, L, Z, C, 2)
    real, imag = sums[..., 0], sums[..., 1]  # m, n, l, Z, C
    up, down = slice(L, None), slice(0, L - 1)
    real_down, imag_down = real[down].flip(0), imag[down].flip(0)
    even = torch.cat(
        [(imag[up] - imag_down).flip(0), real[L - 1 : L], real[up] + real_down]
    )  # columns cos n
    odd = torch.cat(
        [(real[up] - real_down).flip(0), -imag[L - 1 : L], -(imag[up] + imag_down)]
    )  # columns sin n
    return torch.cat([odd[:, 1:].flip(1), even], 1).permute(2, 3, 0, 4, 1)


def so3_backward(F: Tensor, b: int) -> Tensor:
    """Signals (Z, C, 2b, 2b, 2b) of coefficients (L, Z, M, C, M)."""
    L, Z, M, C, _ = F.shape
    _, backward = so3_tables(b, L, F.dtype, F.device)
    F = F.permute(2, 4, 0, 1, 3)  # rows, columns, L, Z, C
    cosine = F[:, L - 1 :]
    sine = torch.cat([torch.zeros_like(F[:, :1]), F[:, : L - 1].flip(1)], 1)
    up, down = slice(L, None), slice(0, L - 1)
    cos_down, sin_down = cosine[down].flip(0), sine[down].flip(0)
    real = torch.cat([(cosine[up] - sin_down).flip(0), cosine[L - 1 : L], cosine[up] + sin_down])
    imag = torch.cat([-(sine[up] + cos_down).flip(0), -sine[L - 1 : L], cos_down - sine[up]])
    both = torch.stack([real, imag], -1).reshape(M * L, L, Z * C * 2)
    waves = torch.view_as_complex(torch.bmm(backward, both).view(M, L, 2 * b, Z, C, 2))
    waves = waves.permute(3, 4, 2, 0, 1)  # Z, C, K, m, n
    gap = waves.new_zeros(Z, C, 2 * b, 2 * b - M, L)
    waves = torch.cat([waves[..., L - 1 :, :], gap, waves[..., : L - 1, :]], -2)
    return torch.fft.irfft(torch.fft.ifft(waves, dim=-2), n=2 * b)
