"""How well a linear model on tangent features can do: ridge regression with the tangent kernel."""

from __future__ import annotations

import torch
from torch import Tensor

_RIDGES = torch.logspace(-8, 1, 28, dtype=torch.float64)  # of the mean eigenvalue


def kernel_ridge(gram: Tensor, targets: Tensor, train: int) -> Tensor:
    """Predictions (m, c) at the last m points from the first `train`, by kernel ridge regression.

    The ridge is the one with the least error when each training point is left out in turn, which
    is known in closed form: `(y - f)_i / (1 - S_ii)` with the smoother S.

    Args:
        gram: kernel (n + m, n + m) of all points.
        targets: numbers (n + m, c); those of the last m are not looked at.
        train: n.

    >>> x = torch.linspace(-1, 1, 9, dtype=torch.float64)[:, None]
    >>> found = kernel_ridge(x @ x.mT, 2 * x, train=5)
    >>> bool((found - 2 * x[5:]).abs().max() < 1e-5)
    True
    """
    K = gram.double()
    # a constant comes with every linear model: features are counted from the training points' mean
    K = K - K[:, :train].mean(1, keepdim=True) - K[:train].mean(0) + K[:train, :train].mean()
    known, mean = K[:train, :train], targets[:train].double().mean(0)
    lam, Q = torch.linalg.eigh(known)
    lam = lam.clamp(min=0)
    y = Q.mT @ (targets[:train].double() - mean)  # in the eigenbasis
    scale = lam.mean().clamp(min=torch.finfo(lam.dtype).tiny)
    best, error = None, torch.inf
    for ridge in _RIDGES.to(K.device) * scale:
        kept = ridge / (lam + ridge)  # 1 - S in the eigenbasis
        left = (Q @ (kept[:, None] * y)) / ((Q * Q) @ kept)[:, None]
        found = float((left**2).mean())
        if found < error:
            best, error = ridge, found
    if best is None:
        return mean.expand(len(K) - train, -1)
    weights = Q @ (y / (lam + best)[:, None])
    return K[train:, :train] @ weights + mean
