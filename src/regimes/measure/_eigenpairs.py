"""Eigenpairs of Grams: all of a small one, the top of a large one, and their Nystrom extension."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from regimes._check import choose, positive_int
from regimes._random import generator
from regimes._spectrum_text import spectrum_html, told
from regimes.measure._kernel import check_symmetric, check_tensor, double_product, rounding

# Dense solvers cost n^3 whatever k is; past this size a few Lanczos pairs are cheaper.
_DENSE_SIZE = 1500
_MANY = 100  # pairs, beyond which a GPU iterates on a block
_SPARE, _ROUNDS, _STILL = 50, 200, 1e-9  # columns beyond k; and when a block has converged
# A filter amplifies at most so much, is of so high a degree, and needs a value above rounding.
_GAIN, _DEGREE, _NOTHING = 1e10, 12, 1e-12


@dataclass(frozen=True, repr=False)
class GramEigenpairs:
    """Top eigenpairs of a Gram that is at hand, as rows, with how well they solve it."""

    values: Tensor  # (k,), decreasing
    vectors: Tensor  # (k, n) or (k, n, c): rows are unit vectors, sign fixed by `fix_signs`
    residuals: Tensor  # (k,), |K u - lam u|
    converged: Tensor  # (k,) bool, residual within rounding of the largest eigenvalue
    method: str  # "dense", "lanczos" or "block"

    def __repr__(self) -> str:
        return "GramEigenpairs: " + told(self.values, self.residuals, self.converged)

    def _repr_html_(self) -> str:
        """Every value with its residual, and how they fall."""
        return spectrum_html("GramEigenpairs", self.values, self.residuals, self.converged)


def fix_signs(vectors: Tensor) -> Tensor:
    """Flip rows so that the entry of largest magnitude is positive.

    Where several entries share that magnitude to five digits the first of them decides, so that
    the choice does not hang on rounding.

    Args:
        vectors: (k, ...), one vector per row; the remaining axes are its entries.

    >>> fix_signs(torch.tensor([[1.0, -3.0], [0.5, 0.2]]))
    tensor([[-1.0000,  3.0000],
            [ 0.5000,  0.2000]])
    """
    rows = vectors.reshape(len(vectors), -1)
    size = rows.abs()
    near_top = size >= (1 - 1e-5) * size.max(dim=1, keepdim=True).values
    first = near_top.to(torch.int8).argmax(dim=1, keepdim=True)
    signs = torch.where(rows.gather(1, first) < 0, -1.0, 1.0).to(rows.dtype)
    return (rows * signs).reshape(vectors.shape)


def gram_eigs(K: Tensor, k: int | None = None, *, method: str = "auto") -> GramEigenpairs:
    """Top k eigenpairs of a symmetric Gram, decreasing; rows are eigenvectors.

    Everything is solved in float64 and returned in the dtype of `K`.
    Eigenvectors with `lam_j / lam_1` below the precision of `K` (about 1e-6 for float32) are noise.

    Args:
        K: kernel (n, n) or (n, c, n, c).
        k: number of pairs; None for all.
        method: "dense" (full `eigh`), "lanczos" (ARPACK, for a few pairs of a large matrix),
            "block" (filtered subspace iteration on a third more columns than asked for: products
            of matrices alone, for the thousand pairs that a GPU finds of a Gram too large to
            diagonalise) or "auto", which takes Lanczos past 1500 rows when k is at most a tenth of
            them, and on a GPU the block for more than a hundred pairs.

    Raises:
        RuntimeError: Lanczos or the block did not converge; use method="dense".

    >>> pairs = gram_eigs(torch.tensor([[2.0, 1.0], [1.0, 2.0]]), 1)
    >>> pairs.values, pairs.vectors.abs(), bool(pairs.converged.all())
    (tensor([3.]), tensor([[0.7071, 0.7071]]), True)
    """
    matrix = check_symmetric("K", K)
    size = len(matrix)
    k = size if k is None else positive_int("k", k)
    if k > size:
        raise ValueError(f"k must be at most the number of rows {size}, got {k}")
    few = size > _DENSE_SIZE and 10 * k <= size
    options = {name: name for name in ("dense", "lanczos", "block")}
    # on a GPU products of matrices are cheap, and the vectors of Lanczos lie on the CPU
    cheap = "block" if matrix.is_cuda and k > _MANY else "lanczos"
    method = choose(method, options | {"auto": cheap if few else "dense"}, "method")
    if method == "dense":
        values, columns = torch.linalg.eigh((matrix.double() + matrix.double().T) / 2)
        values, columns = values.flip(0)[:k], columns.flip(1)[:, :k]
    else:
        values, columns = (_lanczos if method == "lanczos" else _block)(matrix, k)
    residuals = torch.linalg.vector_norm(double_product(matrix, columns) - columns * values, dim=0)
    # Dense pairs solve the symmetrised matrix, which rounding of K sets apart from K.
    converged = residuals <= rounding(K.dtype) * values.abs().max()
    shape = (k, *K.shape[:2]) if K.ndim == 4 else (k, size)
    return GramEigenpairs(
        values.to(K.dtype),
        fix_signs(columns.T.reshape(shape)).to(K.dtype),
        residuals.to(K.dtype),
        converged,
        method,
    )


def nystrom_eigs(K: Tensor, k: int) -> GramEigenpairs:
    """Eigenpairs of a Gram over m samples from its first m0 columns (Nyström).

    With `(lam, u)` an eigenpair of the block `K[:m0]`, the whole Gram has about the eigenvalue
    `lam * m/m0` and the eigenvector `sqrt(m0/m) K u / lam`. For m0 = m the pairs are exact; for
    m0 < m the rows are neither exactly unit nor orthogonal, and `residuals` are those of the block.

    Args:
        K: (m, m0), the first m0 columns of the Gram.
        k: number of pairs, at most m0, each with a positive eigenvalue.

    >>> x = torch.arange(1.0, 7.0)
    >>> nystrom_eigs(torch.outer(x, x[:3]), 1).values            # exact: |x|^2 = 91
    tensor([28.])
    """
    K = check_tensor("K", K)
    if K.ndim != 2 or K.shape[0] < K.shape[1]:
        raise ValueError(
            f"K must hold the first m0 columns of an m x m Gram, m >= m0, got {tuple(K.shape)}"
        )
    m, m0 = K.shape
    block = gram_eigs(K[:m0], k)
    lam = positive_modes(block.values.double(), rounding(torch.float64))
    vectors = (block.vectors.double() @ K.double().T) / lam[:, None] * (m0 / m) ** 0.5
    return GramEigenpairs(
        (lam * (m / m0)).to(K.dtype),
        fix_signs(vectors).to(K.dtype),
        block.residuals,
        block.converged,
        block.method,
    )


def positive_modes(lam: Tensor, relative: float = 0.0) -> Tensor:
    """`lam` if each is above `relative` times the largest, else an error saying how many are."""
    usable = int((lam > relative * lam.max()).sum())
    if usable < len(lam):
        raise ValueError(
            f"only {usable} of the {len(lam)} eigenvalues are above zero to rounding; "
            f"ask for at most {usable} modes"
        )
    return lam


def _block(matrix: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """Filtered subspace iteration until every one of the k values stands still.

    Between two looks a Chebyshev polynomial of the Gram damps what lies below the smallest value of
    the block [Zhou 2006, alg. 4.1], from a random start [Halko 2011, alg. 4.4].
    """
    size = len(matrix)
    width = min(size, k + max(_SPARE, k // 3))
    draws = torch.randn(size, width, generator=generator(0, "block"), dtype=torch.float64)
    basis = torch.linalg.qr(draws.to(matrix.device)).Q
    before = torch.full((k,), torch.inf, dtype=torch.float64, device=matrix.device)
    for _ in range(_ROUNDS):
        image = double_product(matrix, basis)
        values, rotation = torch.linalg.eigh(basis.T @ image)
        values, rotation = values.flip(0), rotation.flip(1)
        still = bool(((values[:k] - before).abs() <= _STILL * values[:k].abs()).all())
        basis = basis @ rotation
        if still or width == size:
            return values[:k], basis[:, :k]
        before = values[:k]
        # columns of large values come first, so that what rounding leaves of them elsewhere goes
        basis = torch.linalg.qr(_filtered(matrix, basis, image @ rotation, values)).Q
    raise RuntimeError(
        f"{k} eigenvalues did not stand still within {_ROUNDS} rounds; use method='dense', or ask "
        "for fewer"
    )


def _filtered(matrix: Tensor, basis: Tensor, image: Tensor, values: Tensor) -> Tensor:
    """`T_m(2 K/b - 1)` of approximate eigenvectors, b the smallest value, columns of length 1.

    The degree m is as high as leaves rounding of the largest value below the smallest one.
    """
    largest, b = float(values[0]), float(values[-1])
    if b <= _NOTHING * largest:
        return image
    degree = int(math.log(_GAIN) / math.acosh(max(2 * largest / b - 1, 1.0 + _NOTHING)))
    before, now = basis, image.mul_(2 / b).sub_(basis)
    for _ in range(min(max(degree, 1), _DEGREE) - 1):
        before, now = now, double_product(matrix, now).mul_(4 / b).sub_(2 * now).sub_(before)
    return now / torch.linalg.vector_norm(now, dim=0)


def _lanczos(matrix: Tensor, k: int) -> tuple[Tensor, Tensor]:
    from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

    size = len(matrix)
    if k >= size:
        raise ValueError(f"Lanczos finds fewer than all {size} pairs; use method='dense'")

    def product(vector: object) -> object:
        column = torch.as_tensor(vector, dtype=torch.float64, device=matrix.device)
        return double_product(matrix, column).cpu().numpy()

    operator = LinearOperator((size, size), matvec=product, dtype="float64")
    # ARPACK would draw its start itself; a fixed one makes the result a function of K alone.
    start = torch.randn(size, generator=generator(0, "lanczos"), dtype=torch.float64).numpy()
    try:
        values, columns = eigsh(operator, k=k, which="LA", v0=start)
    except ArpackNoConvergence as failure:
        raise RuntimeError(
            f"Lanczos found {len(failure.eigenvalues)} of {k} eigenpairs; use method='dense', "
            "or ask for fewer"
        ) from failure
    decreasing = values.argsort()[::-1].copy()
    found = torch.as_tensor(values[decreasing]), torch.as_tensor(columns[:, decreasing].copy())
    return found[0].to(matrix.device), found[1].to(matrix.device)
