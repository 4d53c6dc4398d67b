"""How the eigenvalues of a large matrix are spread, with an error for everything read off."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from regimes._check import instance, real, shown
from regimes._html import block, curves, facts
from regimes._random import generator
from regimes.curvature._eigenpairs import Product, Search, eigenpairs
from regimes.curvature._lanczos import quadrature

_OUTLIER = 1e-3  # residual: of an eigenvalue this leaves a millionth


@dataclass(frozen=True)
class Estimate:
    """A number with its standard error over random vectors."""

    value: float
    error: float


@dataclass(frozen=True, repr=False)
class SpectralDensity:
    """The distribution of the N eigenvalues, seen from random vectors [Ubaru 2017].

    A few eigenvalues of largest magnitude are known one by one. Random vectors z beside their
    eigenvectors give nodes and weights with z^T g(H) z = sum_j weights_j g(nodes_j), so that the
    known ones and the mean over z make up (1/N) tr g(H). Vectors are independent: their spread is
    the error, of which two cover nine times in ten where there are eight vectors.

    Attributes:
        nodes: (k, m), ascending.
        weights: (k, m), of each vector they sum to the share of eigenvalues that are not known.
        residuals: (k, m), how far from a node an eigenvalue may be.
        known: (r,), eigenvalues that are counted one by one.
        size: N.
    """

    nodes: Tensor
    weights: Tensor
    residuals: Tensor
    known: Tensor
    size: int

    @property
    def edges(self) -> tuple[float, float]:
        """The lowest and highest eigenvalue seen: bounds from inside."""
        low, high = torch.cat([self.nodes.flatten(), self.known]).aminmax()
        return float(low), float(high)

    def mean(self, g: Callable[[Tensor], Tensor]) -> Estimate:
        """(1/N) tr g(H) = the mean of g over the eigenvalues.

        Raises:
            ValueError: g is no function from a tensor to one of its shape, or not finite there.

        >>> one = torch.ones(2, 1, dtype=torch.float64)
        >>> SpectralDensity(3 * one, one, 0 * one, one[:0, 0], 5).mean(torch.square)
        Estimate(value=9.0, error=0.0)
        """
        if not callable(g):
            raise ValueError(f"g must be a function of eigenvalues, got {shown(g)}")
        found = g(self.nodes)
        if not isinstance(found, Tensor) or found.shape != self.nodes.shape:
            raise ValueError("g must take a tensor of eigenvalues to one of the same shape")
        known = g(self.known)
        if not bool(found.isfinite().all() and known.isfinite().all()):
            low, high = self.edges
            raise ValueError(
                f"g is not finite at all eigenvalues, which go from {low:.4g} to {high:.4g}; give "
                "one that is, such as lambda v: v.clamp_min(1e-6).log()"
            )
        return _over_vectors((self.weights * found).sum(1) + known.sum() / self.size)

    def fraction(self, *, above: float) -> Estimate:
        """The share of eigenvalues above a threshold.

        A node that is not resolved may lie on either side. So half the weight of nodes whose
        residual reaches the threshold is added to the error.
        """
        at = real("above", above)
        found = self.mean(lambda values: (values > at).double())
        unsure = self.weights * ((self.nodes - at).abs() <= self.residuals)
        doubt = float(unsure.sum(1).mean()) / 2
        return Estimate(found.value, (found.error**2 + doubt**2) ** 0.5)

    def count(self, *, above: float) -> Estimate:
        """The number of eigenvalues above a threshold."""
        share = self.fraction(above=above)
        return Estimate(self.size * share.value, self.size * share.error)

    @property
    def width(self) -> float:
        """What m steps resolve: the range over m, but not less than rounding."""
        low, high = self.edges
        scale = max(abs(low), abs(high))
        return max(high - low, 1e-6 * scale, torch.finfo(torch.float64).tiny) / len(self.nodes[0])

    def points(self, count: int = 400) -> Tensor:
        """Evenly spaced places that cover the spectrum, (count,)."""
        low, high = self.edges
        margin = 4 * self.width
        return torch.linspace(low - margin, high + margin, count, dtype=torch.float64)

    def density(
        self, points: Tensor | None = None, *, width: float | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """The density of eigenvalues smoothed by a Gaussian, with its standard error.

        Args:
            points: where, (p,); None: as `points()`.
            width: standard deviation of the Gaussian; None: what the nodes resolve.

        Returns:
            Places, density and error, each (p,); the density has integral one.
        """
        width = self.width if width is None else real("width", width, above=0.0)
        if points is not None:
            instance("points", points, Tensor, "a tensor of places")
        at = (self.points() if points is None else points).double().to(self.nodes.device)
        if at.dim() != 1 or not bool(torch.isfinite(at).all()):
            raise ValueError(f"points must be finite, of shape (p,), got {tuple(at.shape)}")

        def bells(centres: Tensor) -> Tensor:
            apart = (at.view(-1, *[1] * centres.dim()) - centres) / width
            return torch.exp(-apart.square() / 2) / (width * (2 * torch.pi) ** 0.5)

        each = (self.weights * bells(self.nodes)).sum(2)  # (p, k)
        each = each + bells(self.known).sum(1, keepdim=True) / self.size
        return at, each.mean(1), each.std(1) / each.shape[1] ** 0.5

    def __repr__(self) -> str:
        low, high = self.edges
        vectors, steps = self.nodes.shape
        return (
            f"SpectralDensity of {self.size:,} eigenvalues in [{low:.4g}, {high:.4g}]: "
            f"{len(self.known)} known, the others from {vectors} random vectors with {steps} steps "
            "each"
        )

    def _repr_html_(self) -> str:
        """The edges, the mean and the density on a logarithmic scale."""
        _, values, _ = self.density()
        mean = self.mean(lambda nodes: nodes)
        low, high = self.edges
        rows = {
            "eigenvalues": f"{self.size:,}",
            "known one by one": str(len(self.known)),
            "lowest, highest": f"{low:.4g}, {high:.4g}",
            "mean": f"{mean.value:.4g} +- {mean.error:.2g}",
        }
        picture = curves([values.tolist()], "density, logarithmic", log=True)
        return block("SpectralDensity", facts(rows), picture)


def spectral_density(
    product: Product,
    like: Tensor,
    *,
    steps: int,
    vectors: int,
    outliers: int,
    at_once: int,
    seed: int,
) -> SpectralDensity:
    """Stochastic Lanczos quadrature beside the eigenvectors of largest magnitude.

    Large eigenvalues are few and far out, and a random vector sees each with a chance that varies
    widely. Taken out, they need no chance. Only those that converged are.
    """
    size = len(like)
    search = Search("magnitude", _OUTLIER, max(1, 2 * steps), repeats=False, seed=seed)
    outliers = min(outliers, size - 1)
    known, basis = like.new_zeros(0).double(), like.new_zeros(0, size)
    if outliers:
        pairs = eigenpairs(product, like, outliers, search)
        known, basis = pairs.values[pairs.converged], pairs.vectors.mT[pairs.converged]

    def beside(v: Tensor) -> Tensor:
        return v - v @ basis.mT @ basis

    gen = generator(seed, "curvature/density")
    found = []
    for start in range(0, vectors, at_once):
        some = min(at_once, vectors - start)
        # one by one, so that the numbers do not change with how many fit the memory
        drawn = [torch.randn(size, generator=gen, dtype=torch.float64) for _ in range(some)]
        starts = beside(torch.stack([each.to(like) for each in drawn]))
        found.append(quadrature(lambda v: beside(product(v)), starts, min(steps, size)))
    nodes, weights, residuals = (torch.cat(each) for each in zip(*found, strict=True))
    share = (size - len(known)) / size
    return SpectralDensity(nodes, share * weights, residuals, known, size)


def _over_vectors(values: Tensor) -> Estimate:
    return Estimate(float(values.mean()), float(values.std() / len(values) ** 0.5))
