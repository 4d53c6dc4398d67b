"""Maps of the sphere to itself: the classical convolution, and fields that turn with the frame."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from regimes._check import positive_int
from regimes._random import generator
from regimes._rotations import grid_angles, wigner_d
from regimes.nets.sphere._grid import beta_weights
from regimes.nets.sphere._transform import s2_fft, s2_ifft


def dh_convolution(f: Tensor, psi: Tensor) -> Tensor:
    """The classical convolution of the sphere, `f^l_m psi^l_0`, whose output is on the sphere.

    It averages the filter over turns about the pole, so that it only sees its zonal mean
    [Cohen 2018, eq. 18]. Here for contrast with `S2Correlation`.

    Args:
        f: signals (..., 2b, 2b).
        psi: filters that broadcast against f.

    Returns:
        Signals (..., 2b, 2b), real where f and psi are.
    """
    b = f.shape[-1] // 2
    F = s2_fft(f) * s2_fft(psi)[..., :, b - 1 : b]
    return s2_ifft(F, b, real=not (f.is_complex() or psi.is_complex()))


def spin_fft(f: Tensor, spin: int, b_out: int | None = None) -> Tensor:
    """Coefficients of a field of fibre rotation `exp(-i spin gamma)`, a column of those of SO(3).

    `f^l_m = int f conj(D^l_m,spin)`, with gamma = 0 on the grid [Cohen 2018, appendix D].

    Args:
        f: fields (..., 2b, 2b), real or complex.
        spin: how often the fibre turns; 0 is a function, 1 a tangent vector.
        b_out: orders l < b_out are computed; None: all b.

    Returns:
        Complex coefficients (..., L, 2L-1), zero for l < |spin|.
    """
    b = f.shape[-1] // 2
    L = b if b_out is None else positive_int("b_out", b_out)
    waves = torch.fft.ifft(f.to(_complex(f)))  # (1/2b) sum_j f exp(+i m alpha)
    columns = torch.arange(-(L - 1), L) % (2 * b)
    table = _spin_table(b, L, spin, f.device)[0].to(waves.dtype)
    return torch.einsum("lmk,...km->...lm", table, waves[..., columns])


def spin_ifft(F: Tensor, spin: int, b: int) -> Tensor:
    """The complex field (..., 2b, 2b) of coefficients (..., L, 2L-1): the inverse of `spin_fft`."""
    L = F.shape[-2]
    table = _spin_table(b, L, spin, F.device)[1].to(F.dtype)
    waves = F.new_zeros(*F.shape[:-2], 2 * b, 2 * b)
    columns = torch.arange(-(L - 1), L) % (2 * b)
    waves[..., columns] = torch.einsum("lmk,...lm->...km", table, F)
    return torch.fft.fft(waves)


class SpinSphericalCorrelation(nn.Module):
    """The general equivariant linear map between fields of given spins on the sphere.

    From spin n1 to n2 it is one complex number for each order `l >= max(|n1|, |n2|)`
    [Cohen 2019, section 6.1]: bandlimit b leaves `b - max(|n1|, |n2|)`. Fields are complex.

    Attributes:
        weight: complex, (number of n_out, number of n_in, b_out); entries of missing orders are
            not used.

    Example:
        >>> layer = SpinSphericalCorrelation((0,), (0, 1), 4)
        >>> layer.free
        7
        >>> layer(torch.zeros(2, 1, 8, 8, dtype=torch.complex64)).shape
        torch.Size([2, 2, 8, 8])
    """

    present: Tensor

    def __init__(
        self,
        spins_in: Sequence[int],
        spins_out: Sequence[int],
        b: int,
        *,
        seed: int = 0,
        dtype: torch.dtype = torch.complex64,
    ):
        super().__init__()
        self.spins_in, self.spins_out = tuple(spins_in), tuple(spins_out)
        self.b = positive_int("b", b)
        shape = (len(self.spins_out), len(self.spins_in), b)
        draws = generator(seed, "spin")
        drawn = torch.randn(*shape, generator=draws, dtype=torch.complex128)
        self.weight = nn.Parameter((drawn / (len(self.spins_in) * 1.0) ** 0.5).to(dtype))
        least = torch.tensor([[max(abs(n), abs(k)) for n in spins_in] for k in spins_out])
        self.register_buffer("present", torch.arange(b) >= least[..., None], persistent=False)

    @property
    def free(self) -> int:
        """Number of complex numbers that define the map."""
        return int(self.present.sum())

    def forward(self, f: Tensor) -> Tensor:
        """Fields (n, number of spins_in, 2b, 2b) to (n, number of spins_out, 2b, 2b)."""
        if f.shape[1:] != (len(self.spins_in), 2 * self.b, 2 * self.b):
            raise ValueError(
                f"fields must have shape (n, {len(self.spins_in)}, {2 * self.b}, {2 * self.b}), "
                f"got {tuple(f.shape)}"
            )
        F = torch.stack([spin_fft(f[:, i], n) for i, n in enumerate(self.spins_in)], 1)
        H = torch.einsum("oil,zilm->zolm", self.weight * self.present, F)
        return torch.stack([spin_ifft(H[:, o], n, self.b) for o, n in enumerate(self.spins_out)], 1)


def _complex(f: Tensor) -> torch.dtype:
    return torch.complex128 if f.dtype in (torch.float64, torch.complex128) else torch.complex64


def _spin_table(b: int, L: int, spin: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """`w_k d^l_m,spin(beta_k)` and `(2l+1) d^l_m,spin(beta_k)`, (L, 2L-1, 2b), float64."""
    beta, _ = grid_angles(b)
    table = torch.zeros(L, 2 * L - 1, 2 * b, dtype=torch.float64)
    for l in range(abs(spin), L):
        table[l, L - 1 - l : L + l] = wigner_d(l, beta)[:, :, l + spin].mT
    degree = 2 * torch.arange(L, dtype=torch.float64)[:, None, None] + 1
    return (table * beta_weights(b)).to(device), (table * degree).to(device)
