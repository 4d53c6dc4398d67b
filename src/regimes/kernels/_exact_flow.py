"""Gradient flow on the mean square with a kernel that does not move, in closed form."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from regimes._check import shown
from regimes.kernels._ridge import targets


@dataclass(frozen=True, eq=False)
class ExactFlow:
    """Where the flow stands at some times; a last axis of k for k targets."""

    times: Tensor  # (T,)
    dual: Tensor  # (T, n) or (T, n, k): f(x) = sum_i a_i Theta(x, x_i)
    outputs_train: Tensor  # (T, n) or (T, n, k)
    outputs_test: Tensor | None  # (T, m) or (T, m, k)
    losses: Tensor  # (T,) or (T, k), (1/2n) sum_i (f - y)^2


def exact_flow(
    gram: Tensor, y: Tensor, times: Tensor, gram_test: Tensor | None = None
) -> ExactFlow:
    """`do/dt = -(1/n) K (o - y)` from o = 0: `o(t) = (1 - e^{-t K / n}) y`, at any times at once.

    What `flow.kernel_flow` integrates step by step for the loss "mse"; here modes of the Gram
    relax each at its own rate [Jacot 2018, sec. 5]. One diagonalisation serves all times and
    targets. Eigenvalues that rounding made negative count as 0.

    Args:
        gram: K between training points, (n, n).
        y: targets (n,), or (n, k) for k of them at once.
        times: (T,), at least 0; infinity is the end of the flow.
        gram_test: K between test points and training points, (m, n).

    >>> K = 2 * torch.log(torch.tensor(2.0)) * torch.eye(2)
    >>> exact_flow(K, torch.tensor([1.0, -1.0]), torch.tensor([0.0, 1.0])).outputs_train
    tensor([[ 0.0000,  0.0000],
            [ 0.5000, -0.5000]])
    """
    if not isinstance(gram, Tensor) or gram.ndim != 2 or gram.shape[0] != gram.shape[1]:
        raise ValueError(f"gram must have shape (n, n), got {shown(gram)}")
    n = len(gram)
    y = targets(y, n)
    if not isinstance(times, Tensor) or times.ndim != 1 or not bool((times >= 0).all()):
        raise ValueError(f"times must be a tensor (T,) of numbers >= 0, got {shown(times)}")
    if gram_test is not None and (gram_test.ndim != 2 or gram_test.shape[1] != n):
        raise ValueError(f"gram_test must have shape (m, {n}), got {shown(gram_test)}")
    single, right = y.ndim == 1, (y[:, None] if y.ndim == 1 else y).double()
    values, vectors = torch.linalg.eigh((gram.double() + gram.double().T) / 2)
    values = values.clamp_min(0.0)
    modes = vectors.T @ right
    t = times.double().to(values.device)[:, None]
    rates = values / n
    # modes that do not move to rounding are left where they start: at 0, at all times
    moving = rates > torch.finfo(torch.float64).eps * rates.max()
    safe = torch.where(moving, rates, torch.ones_like(rates))
    shares = -torch.expm1(-t * safe) * moving
    dual = vectors @ ((shares / safe)[:, :, None] * modes / n)
    train = vectors @ (shares[:, :, None] * modes)
    test = None if gram_test is None else gram_test.double().to(dual.device) @ dual
    losses = (train - right).square().sum(1) / (2 * n)

    def shaped(found: Tensor) -> Tensor:
        return (found[..., 0] if single else found).to(y)

    return ExactFlow(
        times, shaped(dual), shaped(train), None if test is None else shaped(test), shaped(losses)
    )
