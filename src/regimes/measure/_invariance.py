"""How the gradient of an invariant function turns with its argument."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from regimes.measure._kernel import check_tensor


def gradient_covariance_gap(f: Callable[[Tensor], Tensor], x: Tensor, D: Tensor) -> Tensor:
    """`|grad f(D x) - D^-T grad f(x)| / |grad f(D x)|`, 0 if `f(D x) = f(x)` for all x.

    [Paccolat 2021, app. A]: the gradient of a function invariant under a matrix group obeys
    `grad f(D x) = D^-T grad f(x)`, also where D is not orthogonal.

    Args:
        f: function of points (n, d) to values (n,), point by point.
        x: points (n, d).
        D: matrix (d, d) of the group element, invertible.

    Returns:
        Shape (); the norms run over all points.

    >>> turn = torch.tensor([[0.0, -1.0], [1.0, 0.0]])
    >>> x = torch.tensor([[1.0, 2.0], [-3.0, 0.5]])
    >>> gradient_covariance_gap(lambda x: (x**2).sum(1), x, turn)
    tensor(0.)
    >>> bool(gradient_covariance_gap(lambda x: x[:, 0] ** 2, x, turn) > 0.1)
    True
    """
    x, D = check_tensor("x", x), check_tensor("D", D)
    if x.ndim != 2 or D.shape != (x.shape[1], x.shape[1]):
        raise ValueError(
            f"x must have shape (n, d) and D (d, d), got {tuple(x.shape)} and {tuple(D.shape)}"
        )
    there = _gradient(f, x @ D.T)
    # rows of D^-T g are solutions of D^T r = g
    expected = torch.linalg.solve(D.T, _gradient(f, x).T).T
    size = torch.linalg.vector_norm(there)
    if float(size) == 0:
        raise ValueError("the gradient vanishes at every point: choose others")
    return torch.linalg.vector_norm(there - expected) / size


def _gradient(f: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    place = x.detach().requires_grad_()
    with torch.enable_grad():
        values = f(place)
    if values.shape != x.shape[:1]:
        raise ValueError(f"f must return shape ({len(x)},), got {tuple(values.shape)}")
    (found,) = torch.autograd.grad(values.sum(), place)
    return found
