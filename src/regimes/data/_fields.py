"""Gaussian random fields, the targets that a teacher kernel makes [Spigler 2020, sec. 4]."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from regimes._check import positive_int, real, shown
from regimes._random import generator


def gaussian_field(
    points: Tensor, kernel: Callable[[Tensor, Tensor], Tensor], count: int = 1, *, seed: int = 0
) -> Tensor:
    """Draws of `Z ~ N(0, K(points, points))`, float64 (count, n) [Spigler 2020, eq. 5].

    Training and test points are drawn together, or they belong to different fields. By Cholesky,
    and where the Gram is singular to rounding by its eigenpairs, the negative ones cut.

    Args:
        points: (n, ...).
        kernel: from points (n, ...) and (m, ...) to values (n, m).
        count: independent fields.
        seed: of the draws.

    >>> same = torch.zeros(2, 1)
    >>> field = gaussian_field(same, lambda x, z: torch.ones(len(x), len(z)))[0]
    >>> bool((field[0] - field[1]).abs() < 1e-6)  # one value at one place
    True
    """
    if not isinstance(points, Tensor) or points.ndim < 1 or not len(points):
        raise ValueError(f"points must be a tensor (n, ...), got {shown(points)}")
    K = kernel(points, points).detach().double()
    n = len(points)
    if K.shape != (n, n) or not bool(K.isfinite().all()):
        raise ValueError(f"the kernel must give finite values of shape ({n}, {n}), got {shown(K)}")
    draws = torch.randn(
        n, positive_int("count", count), generator=generator(seed, "field"), dtype=torch.float64
    ).to(K.device)
    lower, failed = torch.linalg.cholesky_ex(K)
    if not int(failed):
        return (lower @ draws).T
    values, vectors = torch.linalg.eigh((K + K.T) / 2)
    if float(values[-1]) <= 0:
        raise ValueError("the kernel has no positive eigenvalue on these points")
    return (vectors @ (values.clamp(min=0).sqrt()[:, None] * (vectors.T @ draws))).T


@dataclass(frozen=True, eq=False)
class FourierField:
    """`Z(x) = sqrt(2/m) sum_j cos(w_j.x + b_j)` of m random waves: a function of any point."""

    waves: Tensor  # (count, m, D)
    phases: Tensor  # (count, m)

    def __call__(self, x: Tensor) -> Tensor:
        """Values (count, n) at points (n, D)."""
        if x.ndim != 2 or x.shape[1] != self.waves.shape[2]:
            raise ValueError(
                f"points must have shape (n, {self.waves.shape[2]}), got {tuple(x.shape)}"
            )
        angle = x.to(self.waves) @ self.waves.transpose(1, 2) + self.phases[:, None]
        return angle.cos_().sum(2) * (2 / self.waves.shape[1]) ** 0.5


def fourier_field(
    dim: int,
    sigma: float,
    nu: float = math.inf,
    *,
    features: int = 4096,
    count: int = 1,
    seed: int = 0,
) -> FourierField:
    """Fields with a Gaussian or Matern kernel by random waves, without a matrix.

    Frequencies are drawn from the kernel's spectrum: N(0, 1/sigma^2) for Gauss, and that over
    `sqrt(chi^2_{2 nu}/(2 nu))` for Matern. The covariance over draws is the kernel; a single
    field is Gaussian only as the features grow.

    Args:
        dim: coordinates of the points.
        sigma: length of the kernel.
        nu: smoothness; infinite for Gauss, 1/2 for Laplace.
        features: waves in each field.
        count: independent fields.
        seed: of the draws.

    >>> field = fourier_field(3, 1.0, count=2)
    >>> field(torch.zeros(5, 3)).shape
    torch.Size([2, 5])
    """
    dim, features = positive_int("dim", dim), positive_int("features", features)
    count, sigma = positive_int("count", count), real("sigma", sigma, above=0.0)
    source = generator(seed, "fourier field")
    waves = torch.randn(count, features, dim, generator=source, dtype=torch.float64) / sigma
    phases = 2 * math.pi * torch.rand(count, features, generator=source, dtype=torch.float64)
    if not (isinstance(nu, float) and math.isinf(nu)):
        nu = real("nu", nu, above=0.0)
        from numpy.random import default_rng

        start = int(torch.randint(2**62, (), generator=source))
        chi = torch.from_numpy(default_rng(start).chisquare(2 * nu, (count, features, 1)))
        waves = waves / (chi / (2 * nu)).sqrt()
    return FourierField(waves, phases)


def periodic_field(
    N: int,
    d: int,
    spectrum: Callable[[Tensor], Tensor],
    count: int = 1,
    *,
    L: float = 1.0,
    seed: int = 0,
) -> Tensor:
    """Periodic fields on the lattice of `lattice_points`, float64 (count, N^d).

    `Z(x) = sum_w sqrt(kappa(w)) xi_w e^(i w x)` over the frequencies `w = 2 pi k/L` that the
    lattice tells apart, so that the covariance is `sum_w kappa(w) e^(i w x)`. Draw on a
    fine lattice and take every s-th point for training.

    Args:
        N: points along each direction.
        d: directions.
        spectrum: kappa, from |w| to variances, of any shape.
        count: independent fields.
        L: length of the box.
        seed: of the draws.

    >>> flat = periodic_field(4, 1, lambda w: (w == 0).double())
    >>> bool((flat - flat[0, 0]).abs().max() < 1e-12)
    True
    """
    N, d, L = positive_int("N", N), positive_int("d", d), real("L", L, above=0.0)
    k = torch.fft.fftfreq(N, 1 / N, dtype=torch.float64) * (2 * math.pi / L)
    grid = torch.stack(torch.meshgrid(*[k] * d, indexing="ij"), -1)
    kappa = spectrum(grid.norm(dim=-1)).double()
    if kappa.shape != grid.shape[:-1] or not bool(((kappa >= 0) & kappa.isfinite()).all()):
        raise ValueError(
            f"spectrum must give finite variances >= 0, one for each frequency, got {shown(kappa)}"
        )
    shape = (positive_int("count", count), *[N] * d)
    white = torch.randn(shape, generator=generator(seed, "periodic field"), dtype=torch.float64)
    axes = tuple(range(1, d + 1))
    # white noise has N^d in each of its modes
    colour = kappa.sqrt() * N ** (d / 2)
    field = torch.fft.ifftn(torch.fft.fftn(white, dim=axes) * colour, dim=axes).real
    return field.reshape(len(field), -1)
