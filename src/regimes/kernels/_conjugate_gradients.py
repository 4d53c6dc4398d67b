"""Conjugate gradients on a Gram, or on anything that multiplies like one, for many columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import torch
from torch import Tensor

from regimes._check import not_negative, positive_int, real, shown

# a Gram (n, n), a scipy LinearOperator of that shape, or a function from (n, k) to K times it
Operator: TypeAlias = "Tensor | Callable[[Tensor], Tensor] | Any"


@dataclass(frozen=True)
class Solution:
    """Solutions of (K + ridge) a = y, a column each, with how well they solve it."""

    values: Tensor  # (n, k)
    residuals: Tensor  # (k,), |y - (K + ridge) a| / |y|, from a product at the end
    converged: Tensor  # (k,) bool, residual at most the tolerance
    steps: int  # products with K, each of all columns that had not converged

    def __repr__(self) -> str:
        done, all_of_them = int(self.converged.sum()), len(self.converged)
        worst = float(self.residuals.max()) if all_of_them else 0.0
        return f"Solution: {done} of {all_of_them} columns, residuals up to {worst:.1e}, " + (
            f"{self.steps} products"
        )


def conjugate_gradients(
    operator: Operator,
    y: Tensor,
    ridge: float = 0.0,
    *,
    tolerance: float = 1e-6,
    max_steps: int = 1000,
) -> Solution:
    """Solve `(K + ridge) a = y` for every column of y by products with K alone.

    Each column has its own steps of [Hestenes 1952]; they share the products, and one that has
    converged takes part in no more. The residuals are those of a product with the solution, not
    of the recursion, which drifts away from them in float32.

    Args:
        operator: a Gram (n, n); a `scipy.sparse.linalg.LinearOperator` such as
            `TangentKernel.operator(x)`; or a function from (n, k) to K times it.
        y: right sides (n, k), or one of them (n,).
        ridge: added to the diagonal, at least 0.
        tolerance: of the residual, relative to |y|.
        max_steps: products at most; few eigenvalues above the ridge need few.

    >>> K = torch.tensor([[2.0, 1.0], [1.0, 2.0]])
    >>> conjugate_gradients(K, torch.tensor([[4.0], [5.0]]), 1.0).values.T
    tensor([[0.8750, 1.3750]])
    """
    shift, limit = not_negative("ridge", ridge), real("tolerance", tolerance, above=0.0)
    most = positive_int("max_steps", max_steps)
    if not isinstance(y, Tensor) or y.ndim not in (1, 2) or not y.numel():
        raise ValueError(f"y must be a tensor (n,) or (n, k), got {shown(y)}")
    if not y.is_floating_point() or not bool(y.isfinite().all()):
        raise ValueError("y must hold finite real numbers; look for NaN or class labels in it")
    product, single = product_of(operator, len(y)), y.ndim == 1
    right = y[:, None] if single else y
    size = torch.linalg.vector_norm(right.double(), dim=0)
    found, steps = torch.zeros_like(right), 0
    live = torch.nonzero(size > 0)[:, 0]
    a, r = found[:, live], right[:, live].clone()
    p, square = r.clone(), r.double().square().sum(0)
    while len(live) and steps < most:
        image = product(p) + shift * p
        steps += 1
        curvature = (p.double() * image.double()).sum(0)
        if not bool((curvature > 0).all()):
            if not bool(curvature.isfinite().all()):
                raise ValueError("a product with the kernel is not finite; look for NaN in it")
            break  # rounding, or an operator that is not positive: the residuals will tell
        length = (square / curvature).to(p)
        a = a + length * p
        r = r - length * image
        new = r.double().square().sum(0)
        found[:, live] = a
        on = new.sqrt() > 0.5 * limit * size[live]
        p = r + (new / square).to(p) * p
        live, a, r, p, square = live[on], a[:, on], r[:, on], p[:, on], new[on]
    left = right - (product(found) + shift * found)
    residuals = torch.linalg.vector_norm(left.double(), dim=0) / size.clamp_min(1e-300)
    return Solution(found[:, 0] if single else found, residuals, residuals <= limit, steps)


def product_of(operator: Operator, n: int) -> Callable[[Tensor], Tensor]:
    """Multiplication with K, whatever was given for it.

    >>> product_of(torch.eye(2), 2)(torch.ones(2, 1)).T
    tensor([[1., 1.]])
    """
    shape = getattr(operator, "shape", None)
    if shape is not None and tuple(shape) != (n, n):
        raise ValueError(f"K must have shape ({n}, {n}) for {n} rows of y, got {tuple(shape)}")
    if isinstance(operator, Tensor):
        return lambda v: operator.to(v) @ v
    if hasattr(operator, "matmat"):

        def multiply(v: Tensor) -> Tensor:
            image = operator.matmat(v.detach().cpu().numpy())
            return torch.as_tensor(np.asarray(image)).to(v)

        return multiply
    if callable(operator):
        return operator
    raise ValueError(
        f"K must be a Gram, a LinearOperator or a function that multiplies, got {shown(operator)}"
    )
