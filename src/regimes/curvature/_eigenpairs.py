"""Eigenpairs at an end of the spectrum, by products alone, with the doubt they carry."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

import torch
from torch import Tensor

from regimes._check import choose
from regimes._random import generator
from regimes._spectrum_text import spectrum_html, told

Product = Callable[[Tensor], Tensor]  # rows (k, N) -> (k, N)
End = Literal["algebraic", "magnitude", "smallest"]

_WRITTEN_OUT = 256  # rows of a matrix that is cheaper to diagonalise than to ask for products
_RANKS: dict[str, Callable[[Tensor], Tensor]] = {
    "algebraic": lambda values: values.argsort(descending=True),
    "magnitude": lambda values: values.abs().argsort(descending=True),
    "smallest": lambda values: values.argsort(),
}


@dataclass(frozen=True, repr=False)
class Eigenpairs:
    """Eigenpairs of a symmetric matrix that was never formed.

    Attributes:
        values: (r,), in the order asked for: decreasing, by decreasing magnitude, or increasing.
        vectors: (N, r), unit columns.
        residuals: (r,), ||H v - lambda v|| / ||H||, the norm being the largest |lambda| seen. Some
            eigenvalue of H lies as near to lambda as residual times norm.
        converged: (r,), residual below the tolerance.
        products: how often the matrix was applied.
    """

    values: Tensor
    vectors: Tensor
    residuals: Tensor
    converged: Tensor
    products: int

    def __repr__(self) -> str:
        return f"Eigenpairs: {told(self.values, self.residuals, self.converged)}"

    def _repr_html_(self) -> str:
        """Every value with its residual, and how they fall."""
        return spectrum_html("Eigenpairs", self.values, self.residuals, self.converged)


@dataclass(frozen=True)
class Search:
    """How eigenpairs are looked for.

    Attributes:
        end: which ones.
        tolerance: residual below which a pair counts as converged; None: 1e-6, or what the
            precision allows.
        most: products after which the search ends, converged or not.
        repeats: whether to look again from a fresh vector when all have converged. One vector
            reaches one direction of each eigenvalue, so a repeated one shows itself only then.
        seed: of the starting vector.
    """

    end: End = "algebraic"
    tolerance: float | None = None
    most: int = 1000
    repeats: bool = True
    seed: int = 0

    def __post_init__(self) -> None:
        choose(self.end, _RANKS, "end of the spectrum")

    def tolerance_in(self, dtype: torch.dtype) -> float:
        """Residuals below 300 units of rounding cannot be expected of long sums."""
        least = 300 * torch.finfo(dtype).eps
        return max(1e-6, least) if self.tolerance is None else self.tolerance


assert set(_RANKS) == set(get_args(End))


def eigenpairs(product: Product, like: Tensor, r: int, search: Search) -> Eigenpairs:
    """The first r eigenpairs of a symmetric matrix in the order that the search asks for.

    Args:
        product: with the matrix, on rows.
        like: (N,), for the size, precision and device.
        r: at most N.
        search: how.
    """
    if len(like) <= max(_WRITTEN_OUT, 2 * r):
        dense = product(torch.eye(len(like), dtype=like.dtype, device=like.device)).double()
        values, columns = torch.linalg.eigh((dense + dense.mT) / 2)
        norm, count = values.abs().max(), len(like)
        rows = columns.mT[_RANKS[search.end](values)[:r]]
        images = rows @ dense
    else:
        rows, norm, count = _thick_restart(product, like, r, search)
        images = product(rows).double()
        rows, count = rows.double(), count + r
    values = (images * rows).sum(1) / rows.square().sum(1)
    norm = torch.maximum(norm, values.abs().max()).clamp_min(torch.finfo(torch.float64).tiny)
    residuals = (images - values[:, None] * rows).norm(dim=1) / norm
    converged = residuals <= search.tolerance_in(like.dtype)
    return Eigenpairs(values, rows.mT.to(like.dtype), residuals, converged, count)


def _thick_restart(
    product: Product, like: Tensor, r: int, search: Search
) -> tuple[Tensor, Tensor, int]:
    """Approximate eigenvectors (r, N), the largest |value| met and the number of products.

    Lanczos's recurrence in a basis of fixed size; when it is full, the best approximate vectors are
    kept and the recurrence goes on from them [Wu 2000]. Every vector is orthogonalised twice
    against the basis, so that no eigenvector is found twice.
    """
    steps = min(len(like) - 1, max(2 * r + 1, r + 30))
    gen = generator(search.seed, "curvature/lanczos")
    tolerance = search.tolerance_in(like.dtype) / 2  # what is measured afterwards rounds once more
    basis = like.new_empty(steps + 1, len(like))
    projected = torch.zeros(steps, steps, dtype=torch.float64, device=like.device)
    norm, left = projected.new_zeros(()), projected.new_zeros(())
    basis[0] = _unit(_drawn(like, gen))
    kept = count = 0
    before: Tensor | None = None  # what had converged when the recurrence last started afresh
    while True:
        for j in range(kept, steps):
            image, along = _orthogonal(product(basis[j : j + 1])[0], basis[: j + 1])
            count += 1
            projected[j, : j + 1] = along.double()
            left, norm = image.norm().double(), torch.maximum(norm, along.double().norm())
            if left <= 10 * torch.finfo(like.dtype).eps * norm:  # the basis is closed
                left, image = torch.zeros_like(norm), _fresh(basis[: j + 1], gen)
            basis[j + 1] = _unit(image)
        values, vectors = torch.linalg.eigh(projected)  # reads the lower triangle
        norm = torch.maximum(norm, values.abs().max())
        order = _RANKS[search.end](values)
        values, vectors = values[order], vectors[:, order]
        converged = bool(((left * vectors[-1, :r]).abs() <= tolerance * norm).all())
        again = converged and search.repeats
        if again and before is not None:
            again = bool(((values[:r] - before).abs() > tolerance * norm).any())
        kept = r if again else r + (steps - r) // 2
        if (converged and not again) or count + steps - kept > search.most:
            return vectors[:, :r].mT.to(like) @ basis[:-1], norm, count
        basis[:kept] = vectors[:, :kept].mT.to(like) @ basis[:-1]
        if again:
            before = values[:r]
            basis[kept] = _unit(_fresh(basis[:kept], gen))
        else:
            basis[kept] = basis[-1].clone()
        projected = torch.zeros_like(projected)
        projected.diagonal()[:kept] = values[:kept]


def _orthogonal(image: Tensor, basis: Tensor) -> tuple[Tensor, Tensor]:
    """What is left of a vector beside the rows of a basis, and its components along them."""
    along = basis @ image
    image = image - along @ basis
    again = basis @ image
    return image - again @ basis, along + again


def _fresh(basis: Tensor, gen: torch.Generator) -> Tensor:
    """A random vector beside the rows of a basis."""
    return _orthogonal(_unit(_drawn(basis[0], gen)), basis)[0]


def _drawn(like: Tensor, gen: torch.Generator) -> Tensor:
    return torch.randn(len(like), generator=gen, dtype=torch.float64).to(like)


def _unit(vector: Tensor) -> Tensor:
    return vector / vector.norm()
