"""Kernel ridge regression: in closed form where the Gram fits, else by products."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from regimes._check import choose, not_negative, shown
from regimes._memory import parse_bytes, readable
from regimes.kernels._conjugate_gradients import conjugate_gradients
from regimes.kernels._values import Kernel

_METHODS = {"auto": "auto", "dense": "dense", "cg": "cg"}
_DENSE_BYTES = 8 * 3  # an entry of a Gram in float64, its factor, and one in the kernel's precision


@dataclass(frozen=True, eq=False, repr=False)
class RidgeFit:
    """What kernel ridge regression found; tensors have the shape of the targets, (n,) or (n, k).

    Attributes:
        dual: a of `f(x) = sum_i a_i Theta(x, x_i)`.
        outputs_train: f on the training points.
        outputs_test: f on the test points, or None.
        leave_one_out: what f would say of each training point without that point, in closed form;
            None where only products were taken.
        residuals: (k,), |y - (K + ridge) a| / |y|.
        converged: (k,) bool.
        method: how it was solved, and why so.
    """

    dual: Tensor
    outputs_train: Tensor
    outputs_test: Tensor | None
    leave_one_out: Tensor | None
    residuals: Tensor
    converged: Tensor
    method: str

    def __repr__(self) -> str:
        worst, good = float(self.residuals.max()), bool(self.converged.all())
        told = "" if good else " (not converged)"
        return f"RidgeFit: {len(self.dual)} points, residual {worst:.1e}{told}; {self.method}"


def kernel_ridge(
    kernel: Kernel,
    x: Tensor,
    y: Tensor,
    ridge: float,
    x_test: Tensor | None = None,
    *,
    method: str = "auto",
    tolerance: float = 1e-6,
    max_steps: int = 1000,
    memory: str | int | None = None,
) -> RidgeFit:
    """`f(x) = Theta(x, X) (Theta(X, X) + ridge)^-1 y`, the least `|f - y|^2 + ridge |f|_Theta^2`.

    Where the kernel is the tangent kernel of a network, f is its unbiased linearisation trained to
    the end on the mean square with a decay [Ortiz-Jimenez 2021, sec. 2]; give `y - net(x)` for the
    biased one. Many targets share one Gram and one factorisation.

    Args:
        kernel: from inputs (n, ...) and (m, ...) to values (n, m): a function, or a
            `TangentKernel`. One that also has `matvec(x, v, x2)` can be solved by products.
        x: n training points.
        y: targets (n,), or (n, k) for k of them at once.
        ridge: at least 0; a small one is needed where the Gram is singular.
        x_test: test points, or None.
        method: "dense" forms the Gram and factors it in float64; "cg" takes conjugate gradients,
            on products where the kernel has them; "auto" is dense where that fits the memory.
        tolerance: of conjugate gradients, relative to |y|.
        max_steps: products at most.
        memory: bound on what is allocated; None takes a share of what is free.

    Raises:
        ValueError: shapes that do not fit; a Gram that is singular to rounding with this ridge.

    >>> x = torch.tensor([[1.0], [2.0]])
    >>> fit = kernel_ridge(lambda x, z: x @ z.T, x, torch.tensor([1.0, 2.0]), 5.0, x)
    >>> fit.outputs_test  # the least (w - 1)^2 + (2 w - 2)^2 + 5 w^2 is at w = 1/2
    tensor([0.5000, 1.0000])
    """
    chosen, shift = choose(method, _METHODS, "method"), not_negative("ridge", ridge)
    y = targets(y, len(x))
    needed, budget = _DENSE_BYTES * len(x) ** 2, parse_bytes(memory, y.device)
    if chosen == "auto":
        chosen = "dense" if needed <= budget else "cg"
    size = f"a Gram of {readable(needed)}, budget {readable(budget)}"
    multiply: Any = getattr(kernel, "matvec", None)
    if chosen == "cg" and multiply is not None:
        found = conjugate_gradients(
            lambda v: multiply(x, v), y, shift, tolerance=tolerance, max_steps=max_steps
        )
        test = None if x_test is None else multiply(x_test, found.values, x)
        return RidgeFit(
            found.values,
            y - shift * found.values,
            test,
            None,
            found.residuals,
            found.converged,
            f"conjugate gradients on products, {found.steps} of them ({size})",
        )
    gram = _checked(kernel(x, x), len(x), len(x))
    test_gram = None if x_test is None else _checked(kernel(x_test, x), len(x_test), len(x))
    if chosen == "cg":
        solved = conjugate_gradients(gram, y, shift, tolerance=tolerance, max_steps=max_steps)
        dual, alone = solved.values.double(), None
        residuals, converged = solved.residuals, solved.converged
        how = f"conjugate gradients on the Gram, {solved.steps} products"
    else:
        dual, alone = _factored(gram, y, shift)
        left = y.double() - gram.double() @ dual - shift * dual
        scale = y.double().norm(dim=0).clamp_min(1e-300)
        residuals = torch.atleast_1d(left.norm(dim=0) / scale)
        converged, how = residuals <= max(tolerance, 1e-6), f"closed form ({size})"
    train = (y.double() - shift * dual).to(y)
    test = None if test_gram is None else (test_gram.double() @ dual).to(y)
    return RidgeFit(dual.to(y), train, test, alone, residuals, converged, how)


def targets(y: Tensor, n: int) -> Tensor:
    """Real targets of n points, (n,) or (n, k), as they are.

    >>> targets(torch.ones(3), 3).shape
    torch.Size([3])
    """
    if not n:
        raise ValueError("x is empty; give at least one training point")
    if not isinstance(y, Tensor):
        raise ValueError(
            f"y must be a tensor of targets ({n},) or ({n}, k), got {shown(y)}; make one of it "
            "by torch.as_tensor"
        )
    if y.ndim not in (1, 2) or len(y) != n or not y.numel():
        raise ValueError(f"y must hold targets ({n},) or ({n}, k), got {shown(y)}")
    if not y.is_floating_point() or not bool(y.isfinite().all()):
        raise ValueError(
            f"y must hold finite real targets, got {y.dtype}; of class labels make +-1, or a "
            "column for each class"
        )
    return y


def _checked(gram: Tensor, rows: int, columns: int) -> Tensor:
    if not isinstance(gram, Tensor) or gram.shape != (rows, columns):
        raise ValueError(
            f"the kernel must give values ({rows}, {columns}), got {shown(gram)}; of a network "
            "with several outputs take one: lambda x, z: kernel(x, z, outputs='trace')"
        )
    return gram.detach()


def _factored(gram: Tensor, y: Tensor, ridge: float) -> tuple[Tensor, Tensor]:
    """Dual weights, and the leave-one-out predictions `y_i - a_i / [(K + ridge)^-1]_ii`."""
    shifted = gram.double()
    shifted = (shifted + shifted.T) / 2
    shifted.diagonal().add_(ridge)
    factor, failed = torch.linalg.cholesky_ex(shifted)
    if int(failed):
        raise ValueError(
            f"the Gram plus the ridge {ridge:g} is not positive to rounding; raise the ridge (its "
            f"mean diagonal is {float(gram.diagonal().double().mean()):.3g}) or compute the kernel "
            "in float64"
        )
    right = y.double()[:, None] if y.ndim == 1 else y.double()
    dual = torch.cholesky_solve(right, factor)
    inverse = torch.cholesky_inverse(factor).diagonal()
    alone = (right - dual / inverse[:, None]).to(y)
    return (dual[:, 0], alone[:, 0]) if y.ndim == 1 else (dual, alone)
