"""Spectrum of the kernel of a network that ignores the uninformative directions."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from regimes._check import positive_int
from regimes.measure._shallow_kernel import shallow_kernel, theta1, theta2

# Largest quadrature grid whose operator is diagonalised densely.
_LARGEST_GRID = 6000


@dataclass(frozen=True)
class SplitSpectrum:
    """Eigenvalues of the kernel operator on Gaussian data, as a whole and by its two parts."""

    full: Tensor  # (N,), of Theta on the whole grid, decreasing
    first: Tensor  # (n,), of Theta_1(x_par, z_par), decreasing
    second: Tensor  # (n,), of Theta_2(x_par, z_par), decreasing
    copies: int  # d_perp, the multiplicity of each of the second

    @property
    def predicted(self) -> Tensor:
        """First, copies of the second, and zeros: what `full` must be, (N,), decreasing."""
        parts = torch.cat([self.first, self.second.repeat(self.copies)])
        zeros = parts.new_zeros(len(self.full) - len(parts))
        return torch.cat([parts, zeros]).sort(descending=True).values

    @property
    def error(self) -> float:
        """Largest difference between `full` and `predicted`, relative to the top eigenvalue."""
        return float((self.full - self.predicted).abs().max() / self.full[0])


def split_spectrum(
    beta: Tensor,
    w: Tensor,
    b: Tensor,
    *,
    d: int,
    nodes: int = 20,
    perpendicular_nodes: int = 3,
) -> SplitSpectrum:
    """Check of the eigenfunctions of [Paccolat 2021, app. D] (COMP-35).

    For Gaussian data the operator of a network with w_perp = 0 has the eigenfunctions phi(x_par) of
    Theta_1, and phi(x_par) (u.x_perp) of Theta_2, each eigenvalue d_perp times; functions of x_perp
    orthogonal to constants and linear ones lie in its null space. All averages are taken by
    Gauss-Hermite quadrature; two or more nodes per perpendicular direction integrate exactly what
    the split needs, so `full` and `predicted` differ by rounding whatever `nodes` is.

    Args:
        beta: output weights (h,).
        w: weights of the informative coordinates (h, d_par); those of the others are 0.
        b: biases (h,).
        d: input dimension, above d_par.
        nodes: quadrature nodes per informative coordinate.
        perpendicular_nodes: quadrature nodes per other coordinate, at least 2.

    >>> draw = torch.randn(30, 3, generator=torch.Generator().manual_seed(0)).double()
    >>> split_spectrum(draw[:, 0], draw[:, 1:2], draw[:, 2], d=3).error < 1e-12
    True
    """
    if w.ndim != 2:
        raise ValueError(f"w must have shape (h, d_par), got {tuple(w.shape)}")
    d_par, size = w.shape[1], positive_int("d", d, least=w.shape[1] + 1)
    per_side = positive_int("perpendicular_nodes", perpendicular_nodes, least=2)
    counts = [positive_int("nodes", nodes)] * d_par + [per_side] * (size - d_par)
    total = int(torch.tensor(counts).prod())
    if total > _LARGEST_GRID:
        raise ValueError(
            f"the grid has {total} points, more than {_LARGEST_GRID}: take fewer nodes, or d below "
            f"{size}"
        )
    beta, w, b = beta.double(), w.double(), b.double()
    x, weights = gauss_hermite(counts, w)
    x_par, weights_par = gauss_hermite(counts[:d_par], w)
    whole = torch.cat([w, w.new_zeros(len(w), size - d_par)], dim=1)
    return SplitSpectrum(
        _operator_spectrum(shallow_kernel(beta, whole, b, x), weights),
        _operator_spectrum(theta1(beta, w, b, x_par, d=size), weights_par),
        _operator_spectrum(theta2(beta, w, b, x_par, d=size), weights_par),
        size - d_par,
    )


def gauss_hermite(counts: list[int], like: Tensor) -> tuple[Tensor, Tensor]:
    """Points (N, len(counts)) and weights (N,) that average over independent N(0, 1) coordinates.

    >>> x, weights = gauss_hermite([3, 2], torch.zeros(1).double())
    >>> x.shape, round(float(weights @ x[:, 0] ** 4), 12)
    (torch.Size([6, 2]), 3.0)
    """
    from numpy.polynomial.hermite_e import hermegauss

    axes = [hermegauss(count) for count in counts]
    points = torch.cartesian_prod(*(torch.as_tensor(nodes) for nodes, _ in axes))
    shares = torch.cartesian_prod(*(torch.as_tensor(mass / mass.sum()) for _, mass in axes))
    shape = (-1, len(counts))
    return points.reshape(shape).to(like), shares.reshape(shape).prod(dim=1).to(like)


def _operator_spectrum(kernel: Tensor, weights: Tensor) -> Tensor:
    root = weights.sqrt()
    return torch.linalg.eigvalsh(root[:, None] * kernel * root).flip(0)
