"""Walks on a chain of sites: who crosses it, and at which end a walker is found."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from regimes._check import positive_int
from regimes.decide._arms import number
from regimes.decide._probabilities import tensor


def traverse(left: Tensor, right: Tensor, i: int, j: int) -> Tensor:
    """Probability of a walker at site i to be at site j+1 before it is at i-1.

    With `x = left/right`, site by site, it is `1/(1 + x_i + x_i x_{i+1} + ... + x_i ... x_j)`
    [Geiger 2022, eq. 8]. Only the ratios matter: the rest of a step's probability is waiting. For
    the crossing to the left, flip the chain and exchange the two.

    Args:
        left: probabilities to step to the left, (..., n); leading dimensions are other chains.
        right: the same to the right.
        i: where the walker is, counted from 0.
        j: last site it must cross, `i <= j < n`.

    Returns:
        The probability, (...), float64.

    >>> import torch
    >>> traverse(torch.ones(3), torch.ones(3), 0, 2)  # gambler's ruin
    tensor(0.2500, dtype=torch.float64)
    """
    left, right = _steps(left, right)
    i, j = positive_int("i", i, least=0), positive_int("j", j, least=0)
    if not i <= j < left.shape[-1]:
        raise ValueError(f"need i <= j < {left.shape[-1]}, the number of sites; got i={i}, j={j}")
    x = left[..., i : j + 1] / right[..., i : j + 1]
    return 1 / (1 + x.cumprod(-1).sum(-1))


def two_end(left: Tensor, right: Tensor, L: Tensor | float, R: Tensor | float) -> Tensor:
    """Probability to be at the right end of a chain whose two ends are hardly ever left.

    Between the ends are n sites. The ends are left with the probabilities `eps R` (the left one)
    and `eps L` (the right one); for eps -> 0 the walker is at the right end with probability
    `1/(1 + (L/R) prod left/right)` [Geiger 2022, eq. 9].

    Args:
        left: probabilities to step to the left from the sites between, (..., n), n may be 0.
        right: the same to the right.
        L: rate of leaving the right end, up to the common factor eps; a number or (...).
        R: rate of leaving the left end.

    Returns:
        The probability, (...), float64.

    >>> import torch
    >>> two_end(torch.tensor([0.1, 0.1]), torch.tensor([0.2, 0.2]), L=1.0, R=1.0)
    tensor(0.8000, dtype=torch.float64)
    """
    left, right = _steps(left, right)
    ends = []
    for name, value in (("L", L), ("R", R)):
        ends.append(number(name, value, 0, math.inf).log())
    bias = left.log().sum(-1) - right.log().sum(-1)  # the product itself may overflow
    return torch.sigmoid(-(ends[0] - ends[1] + bias))


def _steps(left: Tensor, right: Tensor) -> tuple[Tensor, Tensor]:
    left, right = tensor("left", left).double(), tensor("right", right).double()
    if left.ndim == 0 or left.shape != right.shape:
        raise ValueError(
            "left and right must have one and the same shape (..., n), "
            f"got {tuple(left.shape)} and {tuple(right.shape)}"
        )
    if not bool(((left > 0) & (right > 0)).all()):
        raise ValueError("left and right are probabilities of steps: all must be positive")
    return left, right
