"""Correlations of signals on the sphere and on SO(3) with filters that are learned."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from regimes._check import positive_int
from regimes._random import generator
from regimes._rotations import complex_to_real, wigner_d_column, wigner_matrix
from regimes.nets.sphere._points import checked_points, s2_near_identity, so3_near_identity
from regimes.nets.sphere._real import s2_forward, so3_backward, so3_forward


class S2Correlation(nn.Module):
    """Correlation of signals on the sphere, whose output lives on SO(3).

    `[psi * f](R) = int sum_k psi_k(R^-1 x) f_k(x) dx` [Cohen 2018, eq. 4], computed as
    `H^l_mn = sum_k f^l_k,m conj(psi^l_k,n)`. A filter is a sum of points with a weight each, whose
    transform is a direct sum, not an FFT. `b_out < b_in` cuts the spectrum, the only way of
    making signals smaller.

    Weights are drawn from U(-1, 1) and multiplied by `1/sqrt(p c_in b_out^4/b_in^2)` in the
    forward pass, as in the paper's programs: Adam sees parameters of order 1.

    Attributes:
        weight: (c_out, c_in, p), the values at the p points.
        bias: (c_out,).

    Example:
        >>> layer = S2Correlation(1, 4, 8, 5)
        >>> layer
        S2Correlation(1 -> 4 channels, b 8 -> 5, 24 points)
        >>> layer(torch.zeros(2, 1, 16, 16)).shape
        torch.Size([2, 4, 10, 10, 10])
    """

    def __init__(
        self,
        c_in: int,
        c_out: int,
        b_in: int,
        b_out: int,
        points: Tensor | None = None,
        *,
        seed: int = 0,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str | None = None,
    ):
        super().__init__()
        chosen = checked_points(s2_near_identity() if points is None else points, 2)
        self.c_in, self.c_out, self.b_in, self.b_out = _sizes(c_in, c_out, b_in, b_out)
        self.scale = (len(chosen) * c_in * b_out**4 / b_in**2) ** -0.5
        self.weight, self.bias = _drawn(c_out, c_in, len(chosen), seed, dtype, device)
        table = _sphere_table(chosen, b_out)  # (p, l, n)
        self.register_buffer("table", table.to(self.weight).flatten(1), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        """Signals (Z, c_in, 2 b_in, 2 b_in) to (Z, c_out, 2 b_out, 2 b_out, 2 b_out)."""
        _check_input(x, self.c_in, self.b_in, 2)
        L, M = self.b_out, 2 * self.b_out - 1
        F = s2_forward(x, L)  # L, Z, M, C
        psi = (self.weight * self.scale).matmul(self.table).view(self.c_out, self.c_in, L, M)
        psi = psi.permute(2, 1, 0, 3).reshape(L, self.c_in, self.c_out * M)
        H = torch.bmm(F.reshape(L, -1, self.c_in), psi)
        out = so3_backward(H.view(L, len(x), M, self.c_out, M), self.b_out)
        return out + self.bias[:, None, None, None]

    def __repr__(self) -> str:
        return _shown(self)


class SO3Correlation(nn.Module):
    """Correlation of signals on SO(3): `H^l = sum_k f^l_k (psi^l_k)^dagger` [Cohen 2018, eq. 6].

    As `S2Correlation`, with the scale `1/sqrt(p c_in b_out^3/b_in^3)`.

    Example:
        >>> SO3Correlation(4, 8, 5, 3)
        SO3Correlation(4 -> 8 channels, b 5 -> 3, 72 points)
    """

    def __init__(
        self,
        c_in: int,
        c_out: int,
        b_in: int,
        b_out: int,
        points: Tensor | None = None,
        *,
        seed: int = 0,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str | None = None,
    ):
        super().__init__()
        chosen = checked_points(so3_near_identity() if points is None else points, 3)
        self.c_in, self.c_out, self.b_in, self.b_out = _sizes(c_in, c_out, b_in, b_out)
        self.scale = (len(chosen) * c_in * b_out**3 / b_in**3) ** -0.5
        self.weight, self.bias = _drawn(c_out, c_in, len(chosen), seed, dtype, device)
        table = _filter_table(chosen, b_out).mT  # (p, l, n, k), transposed for psi^dagger
        self.register_buffer("table", table.to(self.weight).flatten(1), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        """Signals (Z, c_in, 2 b_in, ...) to (Z, c_out, 2 b_out, ...), each with three axes."""
        _check_input(x, self.c_in, self.b_in, 3)
        L, M = self.b_out, 2 * self.b_out - 1
        F = so3_forward(x, L)  # L, Z, M, C, M
        psi = (self.weight * self.scale).matmul(self.table).view(self.c_out, self.c_in, L, M, M)
        psi = psi.permute(2, 1, 3, 0, 4).reshape(L, self.c_in * M, self.c_out * M)
        H = torch.bmm(F.reshape(L, -1, self.c_in * M), psi)
        out = so3_backward(H.view(L, len(x), M, self.c_out, M), self.b_out)
        return out + self.bias[:, None, None, None]

    def __repr__(self) -> str:
        return _shown(self)


def _sizes(c_in: int, c_out: int, b_in: int, b_out: int) -> tuple[int, int, int, int]:
    given = {"c_in": c_in, "c_out": c_out, "b_in": b_in, "b_out": b_out}
    for name, value in given.items():
        positive_int(name, value)
    if b_out > b_in:
        raise ValueError(
            f"b_out={b_out} is larger than b_in={b_in}: a correlation has no orders that its "
            "input lacks"
        )
    return c_in, c_out, b_in, b_out


def _drawn(
    c_out: int, c_in: int, p: int, seed: int, dtype: torch.dtype, device: torch.device | str | None
) -> tuple[nn.Parameter, nn.Parameter]:
    draws = torch.rand(
        c_out, c_in, p, generator=generator(seed, "correlation"), dtype=torch.float64
    )
    weight = (2 * draws - 1).to(device=device, dtype=dtype)
    return nn.Parameter(weight), nn.Parameter(torch.zeros(c_out, device=device, dtype=dtype))


def _sphere_table(points: Tensor, L: int) -> Tensor:
    """`Y^l` in the real basis at the points of a filter, padded: (p, L, M), float64."""
    m = torch.arange(-(L - 1), L)
    table = torch.zeros(len(points), L, 2 * L - 1, dtype=torch.float64)
    for l in range(L):
        inside = slice(L - 1 - l, L + l)
        Y = torch.exp(-1j * m[inside] * points[:, :1]) * wigner_d_column(l, points[:, 1])
        table[:, l, inside] = (Y @ complex_to_real(l).mH).real  # conj(V), transposed
    return table


def _filter_table(points: Tensor, L: int) -> Tensor:
    """`D^l` in the real basis at the points of a filter, padded: (p, L, M, M), float64."""
    M = 2 * L - 1
    table = torch.zeros(len(points), L, M, M, dtype=torch.float64)
    for l in range(L):
        V = complex_to_real(l).conj()
        inside = slice(L - 1 - l, L + l)
        D = wigner_matrix(l, *points.unbind(1))
        table[:, l, inside, inside] = (V @ D @ V.mH).real
    return table


def _check_input(x: Tensor, channels: int, b: int, axes: int) -> None:
    if x.shape[1:] != (channels, *[2 * b] * axes):
        expected = ", ".join(str(2 * b) for _ in range(axes))
        raise ValueError(
            f"the input must have shape (n, {channels}, {expected}): {channels} channels on the "
            f"grid of bandwidth {b}; got {tuple(x.shape)}"
        )


def _shown(layer: S2Correlation | SO3Correlation) -> str:
    return (
        f"{type(layer).__name__}({layer.c_in} -> {layer.c_out} channels, b {layer.b_in} -> "
        f"{layer.b_out}, {layer.weight.shape[2]} points)"
    )
