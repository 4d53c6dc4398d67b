"""The error of regression averaged over teachers that are Gaussian fields, without sampling them.

With `W = K_S^-1 k_S(x)` the error at x, averaged over `Z ~ N(0, K_T)`, is
`K_T(x, x) - 2 W.k_T(x) + W.K_T W`.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from regimes.kernels._nested import check_sizes
from regimes.kernels._regression import Factor, factorise
from regimes.kernels._values import Kernel, gram

_CANCELLED = 1e-9  # of the teacher's variance; below, the three terms have lost too many digits
_COLUMNS = 4096  # test points at once
_FLOOR = 8  # units of rounding; variances below are noise
_ROWS = 256


def teacher_error(
    teacher: Kernel,
    student: Kernel,
    x: Tensor,
    x_test: Tensor,
    sizes: Sequence[int],
    *,
    jitter: float = 0.0,
) -> Tensor:
    """Mean over test points of `E_Z [f(x) - Z(x)]^2` for the first n training points, each n.

    A smooth teacher that the student learns very well leaves little of the three terms: there the
    teacher's kernel is split as `Phi Phi^T` and the error is `|Phi(x) - W Phi(X)|^2`, a sum of
    squares. What is below 1e-14 of the teacher's variance is rounding in either form.

    Args:
        teacher: kernel of the Gaussian field.
        student: kernel that learns.
        x: training points (N, D).
        x_test: test points (m, D), at which the error is averaged.
        sizes: increasing numbers of training points.
        jitter: added to the diagonal of the student's Gram, nothing by default.

    Returns:
        Errors (sizes,), float64.

    >>> from regimes.kernels import Laplace
    >>> circle = torch.linspace(0, 6, 65).double()
    >>> points = torch.stack([circle.cos(), circle.sin()], 1)
    >>> field = Laplace(1.0)
    >>> teacher_error(field, field, points[::2], points[1::2], (33,)) < 0.1
    tensor([True])
    """
    sizes = check_sizes(sizes, len(x))
    x = x[: sizes[-1]]
    own, cross = gram(student, x), gram(student, x_test, x)
    factor = factorise(own, jitter=jitter)
    inner, outer = gram(teacher, x), gram(teacher, x_test, x)
    diagonal = _diagonal(teacher, x_test)
    errors, split = [], None
    for n in sizes:
        if factor.lower is not None:
            solver = Factor(own[:n, :n], jitter, factor.lower[:n, :n])
        else:
            solver = factorise(own[:n, :n], jitter=jitter)
        W = solver.solve(cross[:, :n].T)
        error = _three_terms(W, inner[:n, :n], outer[:, :n], diagonal)
        if error < _CANCELLED * float(diagonal.mean()):
            split = _split(inner, outer, diagonal) if split is None else split
            phi, left = split
            gap = phi[len(x) :] - W.T @ phi[:n]
            error = float((gap.square().sum(1) + left).mean())
        errors.append(error)
    return torch.tensor(errors, dtype=torch.float64)


def _three_terms(W: Tensor, inner: Tensor, outer: Tensor, diagonal: Tensor) -> float:
    total = 0.0
    for start in range(0, W.shape[1], _COLUMNS):
        part = slice(start, start + _COLUMNS)
        w = W[:, part]
        total += float((w * (inner @ w - 2 * outer[part].T)).sum())
    return float(diagonal.mean()) + total / W.shape[1]


def _diagonal(kernel: Kernel, x: Tensor) -> Tensor:
    """K(x, x) of each point, from pairs that are few at a time."""
    parts = [gram(kernel, part).diagonal() for part in x.split(256)]
    return torch.cat(parts)


def _split(inner: Tensor, outer: Tensor, diagonal: Tensor) -> tuple[Tensor, Tensor]:
    """Phi (n + m, r) of all points, and the variance (m,) it leaves at each test point.

    Cholesky with pivots among the training points, until nothing above rounding is left there: as
    many columns as the kernel has directions on them, few for a smooth one.
    """
    n, points = len(inner), len(inner) + len(outer)
    left = torch.cat([inner.diagonal(), diagonal])
    floor = _FLOOR * torch.finfo(left.dtype).eps * float(left.max())
    rows = left.new_empty(min(n, _ROWS), points)  # Phi^T, twice as many when they are full
    rank = 0
    while rank < n:
        pivot = int(left[:n].argmax())
        size = float(left[pivot])
        if size <= floor:
            break
        if rank == len(rows):
            rows = torch.cat([rows, torch.empty_like(rows)])
        known = rows[:rank]
        torch.cat([inner[pivot], outer[:, pivot]], out=rows[rank])
        rows[rank].addmv_(known.T, known[:, pivot], alpha=-1).div_(size**0.5)
        left -= rows[rank].square()
        left[pivot] = 0.0
        rank += 1
    return rows[:rank].T, left[n:].clamp(min=0)
