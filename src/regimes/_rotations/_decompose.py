"""A representation of SO(3) taken apart into irreducible ones, by linear algebra alone."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from regimes._rotations._angles import random_rotations
from regimes._rotations._wigner import real_wigner

_TRIED = 3  # two generic rotations generate a dense subgroup of SO(3); one more for the condition


def intertwiners(left: Tensor, right: Tensor, *, tolerance: float = 1e-8) -> Tensor:
    """Every matrix X with `left[i] X = X right[i]` for all i, orthonormal.

    The null space of `sum_i |left_i X - X right_i|^2`; for orthogonal matrices this form is
    `2 n - sum_i (left_i (x) right_i + transpose)`, of which the eigenvalues 0 are wanted.

    Args:
        left: orthogonal matrices of shape (n, p, p).
        right: orthogonal matrices of shape (n, q, q).
        tolerance: eigenvalues below it, per generator, are zero.

    Returns:
        A basis of shape (dimension, p, q), orthonormal in Frobenius' product.
    """
    n, p, q = len(left), left.shape[-1], right.shape[-1]
    both = torch.einsum("iab,icd->acbd", left, right).reshape(p * q, p * q)
    form = 2 * n * torch.eye(p * q, dtype=left.dtype) - both - both.mT
    values, vectors = torch.linalg.eigh(form)
    return vectors[:, values < tolerance * n].mT.reshape(-1, p, q)


def decompose(
    rep: Callable[[Tensor], Tensor], *, seed: int = 0, tolerance: float = 1e-8
) -> tuple[Tensor, tuple[int, ...]]:
    """Change of basis that splits an orthogonal representation of SO(3) into irreducible ones.

    `rep(r) = Q^T [D^(l_1)(r) + D^(l_2)(r) + ...] Q`, a direct sum in e3nn's real basis
    (`real_wigner`), found from the linear equations `D^l(r) X = X rep(r)` for a few random
    rotations [Weiler 2018, section 4.4.1].

    Args:
        rep: from a rotation (3, 3), float64, to an orthogonal matrix (d, d).
        seed: seed of the rotations that are tried.
        tolerance: what counts as zero among the eigenvalues of the equations.

    Returns:
        Q, orthogonal of shape (d, d), and the orders l in increasing order.

    Raises:
        ValueError: if the matrices are not orthogonal or do not split into irreducible ones of
            SO(3), so that `rep` is no representation.

    Example:
        >>> Q, orders = decompose(lambda r: torch.kron(r, r))
        >>> orders
        (0, 1, 2)
        >>> bool((Q[0].reshape(3, 3) / Q[0, 0]).allclose(torch.eye(3, dtype=Q.dtype)))
        True
    """
    rotations = random_rotations(_TRIED, seed)
    given = [torch.as_tensor(rep(each), dtype=torch.float64) for each in rotations]
    d = given[0].shape[-1]
    if any(each.shape != (d, d) for each in given):
        raise ValueError(f"rep must give square matrices, got shape {tuple(given[0].shape)}")
    matrices = torch.stack(given)
    if not torch.allclose(matrices @ matrices.mT, torch.eye(d, dtype=torch.float64), atol=1e-9):
        raise ValueError(
            "rep must give orthogonal matrices; bring it into a basis in which it does"
        )
    rows: list[Tensor] = []
    orders: list[int] = []
    found = 0
    for order in range((d - 1) // 2 + 1):
        size = 2 * order + 1
        if found + size > d:
            break
        space = intertwiners(real_wigner(order, rotations), matrices, tolerance=tolerance)
        rows.extend(size**0.5 * X for X in space)  # X X^T is a multiple of one: of 1/size here
        orders.extend([order] * len(space))
        found += size * len(space)
    if found != d:
        raise ValueError(
            f"rep splits into {found} of its {d} dimensions: it is no representation of SO(3); "
            "check that rep(r s) = rep(r) rep(s)"
        )
    return torch.cat(rows), tuple(orders)
