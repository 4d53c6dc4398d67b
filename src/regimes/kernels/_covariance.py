"""Covariance functions of the distance: Laplace, Gaussian and Matern [Spigler 2020, eq. 25].

Each is `K(r)` with `K(0) = 1` and a length sigma, computed in float64. As a kernel it is called
with points: `kernel(x)` or `kernel(x, z)`, and is taken wherever a function of two points is.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field

import torch
from torch import Tensor

from regimes._check import real, shown
from regimes._distances import fill_distances, working_bytes
from regimes._memory import parse_bytes, readable

LARGEST_NU = 100.0  # beyond, the Bessel function leaves the range of floats


class Covariance(ABC):
    """A kernel `K(|x - x'|)` with K(0) = 1."""

    sigma: float
    nu: float  # smoothness of the Matern family: 1/2 for Laplace, infinite for Gauss

    def __call__(
        self, x: Tensor, z: Tensor | None = None, *, memory: str | int | None = None
    ) -> Tensor:
        """Values (n, m) in float64 where x is, exactly 1 between equal points.

        Args:
            x: points (n, ...), flattened.
            z: points (m, ...); None for x itself, of which each pair is computed once.
            memory: bound on what is allocated, the result and tiles of work, such as "2GiB"; None
                takes a share of what is free.

        >>> Laplace(2.0)(torch.tensor([[0.0], [2.0]])).round(decimals=4)
        tensor([[1.0000, 0.3679],
                [0.3679, 1.0000]], dtype=torch.float64)
        """
        a = as_points("x", x)
        b = None if z is None else as_points("z", z)
        if b is not None and b.shape[1] != a.shape[1]:
            raise ValueError(
                f"x has {a.shape[1]} coordinates and z has {b.shape[1]}; they must agree"
            )
        n, m = len(a), len(a if b is None else b)
        budget = parse_bytes(memory, a.device)
        needed = 8 * n * m + working_bytes(a, b)
        if needed > budget:
            raise ValueError(
                f"a kernel of {n} x {m} values takes {readable(needed)} with the room to compute "
                f"it, above the budget of {readable(budget)}; use fewer points, or raise memory"
            )
        return fill_distances(a.new_empty(n, m), a, b, self.of_distance)

    @abstractmethod
    def of_distance(self, r: Tensor) -> Tensor:
        """`K(r)`, elementwise; r may be overwritten."""

    def alpha(self, d: int) -> float:
        """Exponent of the Fourier transform, `w^-alpha` in d dimensions: `d + 2 nu`.

        [Spigler 2020, eq. 25].
        """
        return d + 2 * self.nu

    @property
    def smoothness(self) -> float:
        """Largest m for which K has m continuous derivatives: the largest integer below `2 nu`."""
        return math.inf if math.isinf(self.nu) else math.ceil(2 * self.nu) - 1

    def log_spectral_density(self, w: Tensor, d: int) -> Tensor:
        """Logarithm of the Fourier transform `S(w) = int K(|x|) e^(-iwx) d^dx`.

        Matern: `2^d pi^(d/2) Gamma(nu+d/2) (2 nu/sigma^2)^nu / Gamma(nu) (2 nu/sigma^2 +
        w^2)^-(nu+d/2)`; Gauss: `(2 pi)^(d/2) sigma^d exp(-sigma^2 w^2/2)`.

        Args:
            w: frequencies |w|, of any shape.
            d: dimension of the space.
        """
        w = torch.as_tensor(w, dtype=torch.float64)
        if math.isinf(self.nu):
            front = d / 2 * math.log(2 * math.pi) + d * math.log(self.sigma)
            return front - (self.sigma * w).square() / 2
        nu, knee = self.nu, 2 * self.nu / self.sigma**2
        front = d * math.log(2) + d / 2 * math.log(math.pi) + nu * math.log(knee)
        front += math.lgamma(nu + d / 2) - math.lgamma(nu)
        return front - (nu + d / 2) * (knee + w.square()).log()

    def spectral_density(self, w: Tensor, d: int) -> Tensor:
        """The Fourier transform `S(w)`; see `log_spectral_density`.

        That of `exp(-r)` on a line is `2/(1 + w^2)`.

        >>> Laplace(1.0).spectral_density(torch.tensor([0.0, 1.0]), 1).round(decimals=9).tolist()
        [2.0, 1.0]
        """
        return self.log_spectral_density(w, d).exp()


@dataclass(frozen=True)
class Laplace(Covariance):
    """`exp(-r/sigma)`, `alpha = d + 1`.

    >>> Laplace(2.0).alpha(3), Laplace(2.0).smoothness
    (4.0, 0)
    """

    sigma: float
    nu: float = field(default=0.5, init=False, repr=False)

    def __post_init__(self) -> None:
        _check_length(self.sigma)

    def of_distance(self, r: Tensor) -> Tensor:
        """`exp(-r/sigma)`."""
        return r.div_(-self.sigma).exp_()


@dataclass(frozen=True)
class Gaussian(Covariance):
    """`exp(-r^2/(2 sigma^2))`, whose Fourier transform falls faster than any power.

    >>> Gaussian(1.0).alpha(3), Gaussian(1.0).smoothness
    (inf, inf)
    """

    sigma: float
    nu: float = field(default=math.inf, init=False, repr=False)

    def __post_init__(self) -> None:
        _check_length(self.sigma)

    def of_distance(self, r: Tensor) -> Tensor:
        """`exp(-r^2/(2 sigma^2))`."""
        return r.square_().div_(-2 * self.sigma**2).exp_()


@dataclass(frozen=True)
class Matern(Covariance):
    """`2^(1-nu)/Gamma(nu) z^nu K_nu(z)`, `z = sqrt(2 nu) r/sigma` [Spigler 2020, eq. 25].

    nu = 1/2 is Laplace, and nu to infinity Gauss. nu = 1/2, 3/2, 5/2 have closed forms, others
    the Bessel function, on the CPU.

    >>> Matern(1.0, 1.5)(torch.tensor([[0.0], [1.0]]))[0].round(decimals=4)
    tensor([1.0000, 0.4834], dtype=torch.float64)
    """

    sigma: float
    nu: float

    def __post_init__(self) -> None:
        _check_length(self.sigma)
        nu = real("nu", self.nu, above=0.0)
        if nu > LARGEST_NU:
            raise ValueError(
                f"nu must be at most {LARGEST_NU:g}, got {shown(self.nu)}; Gaussian is the limit"
            )

    def of_distance(self, r: Tensor) -> Tensor:
        """The Matern function."""
        z = r.mul_(math.sqrt(2 * self.nu) / self.sigma)
        if self.nu == 0.5:
            return z.neg_().exp_()
        if self.nu == 1.5:
            return (1 + z).mul_(z.neg_().exp_())
        if self.nu == 2.5:
            return (1 + z + z.square() / 3).mul_(z.neg_().exp_())
        return _bessel(z, self.nu)


def _bessel(z: Tensor, nu: float) -> Tensor:
    from scipy.special import kve

    flat = z.cpu().numpy()
    scaled = torch.from_numpy(kve(nu, flat)).to(z)
    small = ~scaled.isfinite()  # too near 0 for the Bessel function: the series, and 1 at 0
    safe = torch.where(small, 1.0, z)
    front = (1 - nu) * math.log(2) - math.lgamma(nu)
    values = (front + nu * safe.log() + scaled.log() - safe).exp()
    series = torch.ones_like(z)
    if nu > 2:
        square = z.square()
        series += -square / (4 * (nu - 1)) + square.square() / (32 * (nu - 1) * (nu - 2))
    return torch.where(small, series, values)


def as_points(name: str, x: Tensor) -> Tensor:
    """Points as float64 vectors (n, D)."""
    if not isinstance(x, Tensor) or x.ndim < 1 or not len(x):
        raise ValueError(f"{name} must be a tensor of points (n, ...), got {shown(x)}")
    flat = x.detach().double().reshape(len(x), -1)
    if not bool(flat.isfinite().all()):
        raise ValueError(f"{name} holds NaN or infinite coordinates; drop those points first")
    return flat


def _check_length(sigma: float) -> None:
    real("sigma, the length of the kernel,", sigma, above=0.0)
