"""Eigenpairs of a tangent kernel on a set of samples, with the doubt they carry."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from regimes._check import positive_int, real
from regimes._memory import readable
from regimes._random import generator
from regimes._spectrum_text import spectrum_html, told
from regimes.tangent.network import Batch, _batch

if TYPE_CHECKING:
    from regimes.tangent._kernel import TangentKernel

_DENSE_UP_TO = 4096  # rows of a Gram that is cheaper to diagonalise than to multiply with
# per entry of a Gram in float64: itself, its eigenvectors and twice as much for LAPACK's syevd;
# without vectors itself and a copy
_DENSE_BYTES, _VALUES_BYTES = 8 * 4, 8 * 2


@dataclass(frozen=True, repr=False)
class KernelEigenpairs:
    """Top eigenpairs of a tangent kernel on some samples, as columns; no Gram need be formed.

    Attributes:
        values: (r,), decreasing.
        vectors: (n, r) for one output, (n, c, r) for c, unit columns.
        residuals: (r,), ||K v - lambda v|| / lambda_1.
        converged: (r,), residual below the tolerance.
    """

    values: Tensor
    vectors: Tensor
    residuals: Tensor
    converged: Tensor

    def __repr__(self) -> str:
        return "KernelEigenpairs: " + told(self.values, self.residuals, self.converged)

    def _repr_html_(self) -> str:
        """Every value with its residual, and how they fall."""
        return spectrum_html("KernelEigenpairs", self.values, self.residuals, self.converged)


@dataclass(frozen=True)
class ConditionEstimate:
    """Ratio of the extreme eigenvalues, and whether both are trusted."""

    value: float
    largest: float
    smallest: float
    converged: bool


def top_eigenpairs(
    kernel: TangentKernel, x: Batch, r: int, *, method: str, tolerance: float, seed: int
) -> KernelEigenpairs:
    """The r largest eigenpairs, by Lanczos on products or from the Gram itself."""
    r = positive_int("r", r)
    tolerance = real("tolerance", tolerance, above=0.0)
    x = kernel.prepared(x)
    operator = kernel.operator(x)
    size, n = operator.shape[0], _batch.size(x)
    if r > size:
        raise ValueError(f"r = {r} eigenpairs asked of a kernel of {size} rows")
    if method not in ("auto", "lanczos", "dense"):
        raise ValueError(f"method must be 'auto', 'lanczos' or 'dense', got {method!r}")
    every = r >= size - 1  # Lanczos cannot give all of them
    budget, needed = kernel._engine.budget(), _DENSE_BYTES * size**2
    if method == "auto":
        method = "dense" if size <= _DENSE_UP_TO and needed <= budget else "lanczos"
    if method == "dense" or every:
        if needed > budget:
            raise ValueError(
                f"a memory budget of {readable(budget)} is too small to diagonalise a Gram of "
                f"{size:,} rows: at least {readable(needed)} is needed"
                + ("" if every else "; method='lanczos' never forms the Gram")
            )
        gram = kernel(x).reshape(size, size).double()
        values, vectors = torch.linalg.eigh(gram)
        values, vectors = values.flip(0)[:r], vectors.flip(1)[:, :r]
        images = gram @ vectors
    else:
        values, vectors, images = _lanczos(operator, r, tolerance, seed)
    scale = values[0].abs().clamp_min(torch.finfo(torch.float64).tiny)
    residuals = (images - vectors * values).norm(dim=0) / scale
    shape = (n, r) if size == n else (n, size // n, r)
    return KernelEigenpairs(values, vectors.reshape(shape), residuals, residuals <= tolerance)


def condition(kernel: TangentKernel, x: Batch, *, tolerance: float = 1e-6) -> ConditionEstimate:
    """lambda_max / lambda_min of the Gram: exact while it is small, else by Lanczos at both ends.

    Lanczos converges slowly at the small end; `converged` says whether it did.
    """
    x = kernel.prepared(x)
    operator = kernel.operator(x)
    size = operator.shape[0]
    if size <= _DENSE_UP_TO and _VALUES_BYTES * size**2 <= kernel._engine.budget():
        values = torch.linalg.eigvalsh(kernel(x).reshape(size, size).double())
        low, high, sure = float(values[0]), float(values[-1]), True
    else:
        from scipy.sparse.linalg import ArpackNoConvergence, eigsh

        start = torch.ones(size, dtype=torch.float64).numpy()
        high = float(eigsh(operator, 1, which="LA", v0=start, return_eigenvectors=False)[0])
        try:
            found = eigsh(operator, 1, which="SA", v0=start, tol=tolerance, maxiter=20)
            low, sure = float(found[0][0]), True
        except ArpackNoConvergence as stopped:
            low = float(stopped.eigenvalues[0]) if len(stopped.eigenvalues) else float("nan")
            sure = False
    return ConditionEstimate(high / low if low > 0 else float("inf"), high, low, sure)


def nystrom_eigenpairs(kernel: TangentKernel, x: Batch, m0: int, k: int) -> KernelEigenpairs:
    """Eigenpairs of all n samples extended from the first m0 (Nyström).

    Eigenvalues scale by n/m0, vectors extend as sqrt(m0/n) K[:, :m0] u / lambda. The residuals say
    how good that is, measured on the true kernel by products.

    Args:
        kernel: a kernel of one output.
        x: n samples.
        m0: how many to diagonalise exactly.
        k: eigenpairs wanted.
    """
    x = kernel.prepared(x)
    n = _batch.size(x)
    m0, k = positive_int("m0", m0), positive_int("k", k)
    if not k <= m0 <= n:
        raise ValueError(f"need k <= m0 <= n, got k = {k}, m0 = {m0}, n = {n}")
    rectangle = kernel(x, _batch.rows(x, 0, m0)).double()
    if rectangle.dim() != 2:
        raise ValueError("Nystrom eigenpairs are for networks of one output")
    values, vectors = torch.linalg.eigh(rectangle[:m0])
    values, vectors = values.flip(0)[:k], vectors.flip(1)[:, :k]
    if values[-1] <= 0:
        raise ValueError(f"the kernel of {m0} samples has fewer than {k} positive eigenvalues")
    extended = (m0 / n) ** 0.5 * (rectangle @ vectors) / values
    scaled = values * (n / m0)
    images = kernel.matvec(x, extended).double()
    residuals = (images - extended * scaled).norm(dim=0) / scaled[0]
    return KernelEigenpairs(scaled, extended, residuals, residuals <= 1e-2)


def _lanczos(operator: Any, r: int, tolerance: float, seed: int) -> tuple[Tensor, Tensor, Tensor]:
    from scipy.sparse.linalg import ArpackNoConvergence, eigsh

    size = operator.shape[0]
    start = torch.randn(size, generator=generator(seed, "tangent/lanczos"), dtype=torch.float64)
    try:
        values, vectors = eigsh(operator, r, which="LA", v0=start.numpy(), tol=0.1 * tolerance)
    except ArpackNoConvergence as stopped:
        values, vectors = stopped.eigenvalues, stopped.eigenvectors
        if not len(values):
            raise ValueError(
                f"Lanczos found none of {r} eigenpairs to {tolerance:g}; ask for fewer, a larger "
                "tolerance, or precision='float64'"
            ) from stopped
    order = values.argsort()[::-1].copy()
    values, vectors = values[order], vectors[:, order]
    images = operator @ vectors
    return (
        torch.as_tensor(values).double(),
        torch.as_tensor(vectors).double(),
        torch.as_tensor(images).double(),
    )
