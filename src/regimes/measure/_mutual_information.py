"""Mutual information between a continuous variable and a binary label, from neighbours."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from regimes._check import positive_int
from regimes.measure._kernel import check_tensor
from regimes.measure._neighbours import blocks, point_distances


@dataclass(frozen=True)
class MutualInformation:
    """Estimated mutual information in bits."""

    value: float  # the estimate I
    floor: float  # I_0, what the estimator gives for a label independent of the variable

    @property
    def excess(self) -> float:
        """The estimate above its floor, `I - I_0`."""
        return self.value - self.floor

    def __float__(self) -> float:
        return self.value


def mutual_information(
    phi: Tensor, y: Tensor, k: int = 5, *, include_self: bool = False
) -> MutualInformation:
    """k-nearest-neighbour estimate of `I(phi; y)` in bits, label balanced [Paccolat 2021, app. E].

    For each point `r_y` is the distance to its k-th nearest neighbour of label y,
    `q_+ = 1/(1 + (r_+/r_-)^D)` and `I = 1 - mean h2(q_+)`.

    Known limits (app. E, COMP-48): in high dimension the estimate falls, for distances concentrate;
    if the data fill fewer dimensions than D it is pushed to the extremes.

    Args:
        phi: variable (p,) or (p, D); its scale does not matter for one dimension.
        y: labels +-1, (p,), nearly balanced.
        k: neighbour counted.
        include_self: count the point itself among its neighbours, as the released estimator does;
            the floor is then higher.

    >>> y = torch.tensor([1.0, -1.0]).repeat_interleave(50)
    >>> info = mutual_information(y + torch.linspace(-0.1, 0.1, 100), y)
    >>> info.value > 0.5, round(info.floor, 4)
    (True, 0.0685)
    """
    phi, y = check_tensor("phi", phi), check_tensor("y", y.double())
    points = (phi[:, None] if phi.ndim == 1 else phi).double()
    k = positive_int("k", k, least=2 if include_self else 1)
    if points.ndim != 2 or y.shape != points.shape[:1] or bool((y.abs() != 1).any()):
        raise ValueError(
            "phi must have shape (p,) or (p, D) and y be +-1 of shape (p,), got "
            f"{tuple(phi.shape)} and {tuple(y.shape)}"
        )
    positive = y.to(points.device) > 0
    n, dimension = points.shape
    fewest = int(min(positive.sum(), (~positive).sum()))
    if fewest <= k or 4 * fewest < n:
        raise ValueError(
            f"the rarer label has {fewest} of {n} points; the estimator needs more than k={k} of "
            "each and labels nearly balanced: subsample the commoner one"
        )
    log_ratio = torch.empty(n, dtype=torch.float64, device=points.device)
    for start, distances in blocks(n, point_distances(points)):
        inside = torch.arange(len(distances), device=points.device)
        if not include_self:
            distances[inside, inside + start] = math.inf
        near = [distances[:, mask].kthvalue(k, dim=1).values for mask in (positive, ~positive)]
        log_ratio[start : start + len(distances)] = near[0].log() - near[1].log()
    # k points of either label on the same spot say nothing about the label there.
    log_ratio = torch.where(log_ratio.isnan(), 0.0, log_ratio)
    entropy = _binary_entropy_of_logit(dimension * log_ratio).mean()
    return MutualInformation(1 - float(entropy), mutual_information_floor(k, include_self))


def mutual_information_floor(k: int = 5, include_self: bool = False) -> float:
    """`I_0 = 1 - E h2(q)` for labels independent of the variable.

    See docs/themes/compression.md, "Mutual information".

    Then q follows Beta(k, k), or Beta(k, k-1) when the point counts itself, and
    `E h2 = [psi(a+b+1) - (a psi(a+1) + b psi(b+1))/(a+b)] / ln 2`.

    >>> round(mutual_information_floor(5), 4), round(mutual_information_floor(3), 4)
    (0.0685, 0.1103)
    """
    a = positive_int("k", k, least=2 if include_self else 1)
    b = a - 1 if include_self else a
    psi = torch.digamma(torch.tensor([a + b + 1.0, a + 1.0, b + 1.0], dtype=torch.float64))
    nats = psi[0] - (a * psi[1] + b * psi[2]) / (a + b)
    return 1 - float(nats) / math.log(2)


def _binary_entropy_of_logit(t: Tensor) -> Tensor:
    """`h2(1/(1+e^t))` in bits, without forming q, which would round to 0 or 1."""
    size = t.abs().clamp(max=700.0)
    decay = torch.exp(-size)
    return (torch.log1p(decay) + size * decay / (1 + decay)) / math.log(2)
