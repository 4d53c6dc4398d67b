"""Regression on the first n points for many n: one factor serves them all.

The Cholesky factor of the first n points is the corner of that of all. With `w = L^-1 Z` and
`V = L^-1 K(X, test)`, the prediction from n points is the sum of the first n rows of `w V`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from regimes._check import positive_int, shown
from regimes.kernels._regression import Factor, factorise, residual_of


@dataclass(frozen=True, eq=False)
class Nested:
    """Predictions of the interpolants of the first n training points, and how well solved."""

    sizes: tuple[int, ...]
    predictions: Tensor  # (sizes, m) or (sizes, m, k)
    condition: tuple[float, ...]
    residual: tuple[float, ...]
    rank: tuple[int, ...]
    method: tuple[str, ...]  # "cholesky" or "eigen"
    jitter: float


def nested_regression(
    K: Tensor, z: Tensor, k: Tensor, sizes: Sequence[int], *, jitter: float = 0.0
) -> Nested:
    """`regression` on the first n points for every n of sizes, with one factorisation.

    Where Cholesky fails at the largest size, every size is solved on its own.

    Args:
        K: Gram (N, N) of all training points.
        z: targets (N,) or (N, q).
        k: kernel (m, N) between test points and training points.
        sizes: increasing numbers of training points, at most N.
        jitter: added to the diagonal, nothing by default.

    Raises:
        ValueError: sizes that do not increase or exceed the training points.

    >>> K = torch.tensor([[1.0, 0.5], [0.5, 1.0]], dtype=torch.float64)
    >>> z = torch.tensor([1.0, -1.0], dtype=torch.float64)
    >>> nested_regression(K, z, K, (1, 2)).predictions
    tensor([[ 1.0000,  0.5000],
            [ 1.0000, -1.0000]], dtype=torch.float64)
    """
    sizes = check_sizes(sizes, len(K))
    top = sizes[-1]
    z = torch.as_tensor(z, dtype=K.dtype, device=K.device)
    if len(z) != len(K) or k.shape[1:] != (len(K),):
        raise ValueError(
            f"z must have {len(K)} targets and k the shape (m, {len(K)}), got {shown(z)} and "
            f"{shown(k)}"
        )
    columns, inner = z[:top], k[:, :top]
    factor = factorise(K[:top, :top], jitter=jitter)
    if factor.lower is None:
        return _one_by_one(K, columns, inner, sizes, jitter)
    V = torch.linalg.solve_triangular(factor.lower, inner.T, upper=False)
    w = _forward(factor.lower, columns)
    predictions, told, before = [], [], 0
    sofar = 0.0
    for n in sizes:
        sofar = sofar + V[before:n].T @ w[before:n]
        predictions.append(sofar)
        corner = Factor(K[:n, :n], jitter, factor.lower[:n, :n].contiguous())
        told.append(_told(corner, columns[:n]))
        before = n
    return _together(sizes, predictions, told, jitter)


def _one_by_one(K: Tensor, z: Tensor, k: Tensor, sizes: tuple[int, ...], jitter: float) -> Nested:
    predictions, told = [], []
    for n in sizes:
        factor = factorise(K[:n, :n], jitter=jitter)
        predictions.append(k[:, :n] @ factor.solve(z[:n]))
        told.append(_told(factor, z[:n]))
    return _together(sizes, predictions, told, jitter)


def _told(factor: Factor, z: Tensor) -> tuple[float, float, int, str]:
    residual = residual_of(factor.gram, factor.solve(z), z, factor.jitter)
    return factor.condition(), residual, factor.rank, factor.method


def _together(
    sizes: tuple[int, ...],
    predictions: list[Tensor],
    told: list[tuple[float, float, int, str]],
    jitter: float,
) -> Nested:
    condition, residual, rank, method = zip(*told, strict=True)
    return Nested(sizes, torch.stack(predictions), condition, residual, rank, method, jitter)


def _forward(lower: Tensor, z: Tensor) -> Tensor:
    columns = z[:, None] if z.ndim == 1 else z
    found = torch.linalg.solve_triangular(lower, columns, upper=False)
    return found[:, 0] if z.ndim == 1 else found


def check_sizes(sizes: Sequence[int], most: int) -> tuple[int, ...]:
    """Increasing sizes of training sets, none above what there is."""
    try:
        given = tuple(sizes)
    except TypeError:
        raise ValueError(f"sizes must be several numbers of points, got {shown(sizes)}") from None
    found = tuple(positive_int(f"sizes[{i}]", n) for i, n in enumerate(given))
    if not found or list(found) != sorted(set(found)):
        raise ValueError(f"sizes must be increasing numbers of points, got {shown(found)}")
    if found[-1] > most:
        raise ValueError(
            f"the largest size is {found[-1]}, but there are {most} training points; leave out "
            f"sizes above {most}"
        )
    return found
