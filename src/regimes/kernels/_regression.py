"""Regression with a kernel and without a ridge: the interpolant of the training points."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from regimes._check import not_negative, shown
from regimes._random import generator

_ROUNDS = 8  # of the power iterations that estimate a condition number
_ROWS = 2048  # of a Gram looked at together
_SYMMETRIC = 1e-10  # of the largest entry; rounding of float64 Grams is far below


@dataclass(frozen=True, eq=False)
class Regression:
    """`a = (K + jitter)^-1 Z` [Spigler 2020, eqs. 2 to 4], and how well it was solved."""

    weights: Tensor  # a, (n,) or (n, k) for k targets
    jitter: float  # added to the diagonal; nothing unless it was asked for
    condition: float  # largest over smallest eigenvalue that was used, an estimate from below
    residual: float  # |(K + jitter) a - Z| / |Z|
    rank: int  # eigenvalues that were used: n, but where the Gram is singular to rounding
    method: str  # "cholesky", or "eigen" where that failed

    def predict(self, k: Tensor) -> Tensor:
        """Outputs (m,) or (m, k) from the kernel (m, n) between points and training points."""
        return k @ self.weights


@dataclass(frozen=True, eq=False)
class Factor:
    """A Gram ready to be solved with: `K + jitter = L L^T`, or its eigenpairs."""

    gram: Tensor
    jitter: float
    lower: Tensor | None  # L, where the Gram is positive to rounding
    values: Tensor | None = None  # eigenvalues that are used, increasing, where it is not
    vectors: Tensor | None = None  # (n, rank)

    @property
    def method(self) -> str:
        """How it is solved."""
        return "cholesky" if self.lower is not None else "eigen"

    @property
    def rank(self) -> int:
        """Eigenvalues that are used."""
        return len(self.gram) if self.values is None else len(self.values)

    def solve(self, z: Tensor) -> Tensor:
        """`(K + jitter)^-1 z` for z (n,) or (n, k)."""
        columns = z[:, None] if z.ndim == 1 else z
        if self.lower is not None:
            # two triangular solves: cholesky_solve would copy the factor each time
            half = torch.linalg.solve_triangular(self.lower, columns, upper=False)
            found = torch.linalg.solve_triangular(self.lower.T, half, upper=True)
        else:
            assert self.values is not None
            assert self.vectors is not None
            found = self.vectors @ ((self.vectors.T @ columns) / self.values[:, None])
        return found[:, 0] if z.ndim == 1 else found

    def condition(self) -> float:
        """Largest over smallest eigenvalue used, by power iterations on K and its inverse.

        An estimate from below, within some tens of per cent.
        """
        if self.values is not None:
            return float(self.values[-1] / self.values[0])
        n = len(self.gram)
        start = torch.randn(n, generator=generator(0, "condition"), dtype=torch.float64)
        top = inverse = 0.0
        u = v = start.to(self.gram) / start.norm()
        for _ in range(_ROUNDS):
            u, v = self.gram @ u + self.jitter * u, self.solve(v)
            top, inverse = float(u.norm()), float(v.norm())
            u, v = u / top, v / inverse
        return top * inverse


def factorise(K: Tensor, *, jitter: float = 0.0) -> Factor:
    """A Gram ready to be solved with: by Cholesky, or where that fails by its eigenpairs.

    Eigenvalues below `n eps` times the largest are rounding and are left out; how many are used is
    the `rank`. Nothing is added to the diagonal unless `jitter` says so.

    Args:
        K: Gram (n, n), symmetric, on any device. The lower half is used.
        jitter: added to the diagonal.

    Raises:
        ValueError: not symmetric or not finite; two points are the same and jitter is 0.

    >>> factorise(torch.eye(3, dtype=torch.float64)).method
    'cholesky'
    """
    jitter = not_negative("jitter", jitter)
    _check_gram(K, duplicates=jitter == 0)
    shifted = K if jitter == 0 else K + jitter * torch.eye(len(K), dtype=K.dtype, device=K.device)
    lower, failed = torch.linalg.cholesky_ex(shifted)
    if not int(failed):
        return Factor(K, jitter, lower)
    values, vectors = torch.linalg.eigh(shifted)
    least = len(K) * torch.finfo(K.dtype).eps * float(values[-1])
    kept = values > least
    if not bool(kept.any()):
        raise ValueError("the Gram has no positive eigenvalue: this is no kernel")
    return Factor(K, jitter, None, values[kept], vectors[:, kept])


def regression(K: Tensor, z: Tensor, *, jitter: float = 0.0) -> Regression:
    """Interpolate the training points: `a = K^-1 Z`, prediction `k(x).a` [Spigler 2020, eq. 4].

    The same as the mean of the Gaussian process with prior K [Spigler 2020, eq. 34].

    Args:
        K: Gram (n, n) of the training points, float64, on any device.
        z: targets (n,), or (n, k).
        jitter: added to the diagonal, nothing by default. It changes the predictions of smooth
            kernels, so it is recorded with the result.

    Raises:
        ValueError: a Gram that is not symmetric; two equal points and no jitter.

    >>> K = torch.tensor([[1.0, 0.5], [0.5, 1.0]], dtype=torch.float64)
    >>> found = regression(K, torch.tensor([1.0, -1.0], dtype=torch.float64))
    >>> found.weights.round(decimals=6).tolist(), found.method, round(found.condition, 3)
    ([2.0, -2.0], 'cholesky', 3.0)
    """
    _check_shape(K)
    z = torch.as_tensor(z, dtype=K.dtype, device=K.device)
    if z.ndim not in (1, 2) or len(z) != len(K) or not bool(z.isfinite().all()):
        raise ValueError(
            f"z must be finite targets (n,) or (n, k) for a Gram of {len(K)} points, got {shown(z)}"
        )
    factor = factorise(K, jitter=jitter)
    weights = factor.solve(z)
    return Regression(
        weights,
        factor.jitter,
        factor.condition(),
        residual_of(K, weights, z, jitter),
        factor.rank,
        factor.method,
    )


def residual_of(K: Tensor, weights: Tensor, z: Tensor, jitter: float = 0.0) -> float:
    """`|(K + jitter) a - Z| / |Z|`."""
    size = float(z.norm())
    return float((K @ weights + jitter * weights - z).norm()) / size if size else 0.0


def _check_shape(K: Tensor) -> None:
    if not isinstance(K, Tensor) or K.ndim != 2 or K.shape[0] != K.shape[1] or not len(K):
        raise ValueError(f"a Gram has shape (n, n), got {shown(K)}")
    if not K.is_floating_point():
        raise ValueError(f"a Gram holds floats, got {K.dtype}")


def _check_gram(K: Tensor, *, duplicates: bool) -> None:
    _check_shape(K)
    n, diagonal = len(K), K.diagonal()
    largest = float(diagonal.abs().max())
    if not math.isfinite(float(K.sum())):
        raise ValueError("the Gram holds NaN or infinite entries; look for them in the points")
    tolerance = max(_SYMMETRIC, 100 * torch.finfo(K.dtype).eps)
    for start in range(0, n, _ROWS):
        rows, below = K[start : start + _ROWS], K[:, start : start + _ROWS].T
        gap = (rows - below).abs()
        if float(gap.max()) > tolerance * largest:
            i, j = divmod(int(gap.argmax()), n)
            i += start
            raise ValueError(
                f"the Gram must be symmetric: K[{i}, {j}] = {float(K[i, j]):.6g} and "
                f"K[{j}, {i}] = {float(K[j, i]):.6g}; give kernel(x, x)"
            )
        if duplicates:
            _refuse_duplicates(rows, diagonal, start)


def _refuse_duplicates(rows: Tensor, diagonal: Tensor, start: int) -> None:
    """Equal points have `K_ii = K_ij = K_jj`, and equal rows."""
    own = diagonal[start : start + len(rows), None]
    same = (rows == own) & (own == diagonal)
    if int(same.sum()) <= len(rows):  # the diagonal
        return
    pairs = same.nonzero()
    pairs[:, 0] += start
    pairs = pairs[pairs[:, 1] > pairs[:, 0]]
    if not len(pairs):
        return
    told = ", ".join(f"{i} and {j}" for i, j in pairs[:3].tolist())
    more = f" (and {len(pairs) - 3} more pairs)" if len(pairs) > 3 else ""
    raise ValueError(
        f"rows {told}{more} are the same point to this kernel, so that the Gram has no inverse; "
        "drop the repeated points, or give a jitter > 0"
    )
