"""Steady states without resets, by an elimination that never subtracts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components

from regimes._check import instance
from regimes.decide._probabilities import members, probabilities

if TYPE_CHECKING:
    from torch import Tensor


def gth(transition: Tensor, start: Tensor) -> Tensor:
    """Where a chain that is never reset stays: `p = T p` on the class that `start` leads to.

    The elimination of Grassmann, Taksar and Heyman takes out one state after the other and sends
    its mass on. It adds, multiplies and divides positive numbers alone, so that every entry keeps
    its digits, however rare the way to its state; a solver of `(1 - T) p = 0` would lose those
    that are rarer than rounding. Not differentiable.

    Args:
        transition: T (..., S, S), `T[s', s]`; columns sum to one.
        start: (..., S); only which states it can start in matters. They must lead to a single
            class of states that is never left, for otherwise p depends on chance.

    Returns:
        p (..., S), zero outside that class.

    >>> T = torch.tensor([[1 - 1e-12, 3e-12], [1e-12, 1 - 3e-12]], dtype=torch.float64)
    >>> gth(T, torch.tensor([1.0, 0.0], dtype=torch.float64))
    tensor([0.7500, 0.2500], dtype=torch.float64)
    """
    instance("transition", transition, torch.Tensor, "a tensor (..., S, S)")
    T = probabilities(
        "transition", transition, (-1, -1), -2, "T[s', s], from s to s'", "s'"
    ).detach()
    S = T.shape[-1]
    if T.shape[-2] != S:
        raise ValueError(f"transition must be square, (..., S, S), got {tuple(T.shape)}")
    p0 = probabilities("start", start, (S,), -1, "a probability of each state").detach()
    batch = members(transition=T.shape[:-2], start=p0.shape[:-1])
    T, p0 = T.expand(*batch, S, S).reshape(-1, S, S), p0.expand(*batch, S).reshape(-1, S)
    inside = _classes(T, p0)
    root = inside.int().argmax(-1)  # a state of the class, kept to the last as number 0
    order = torch.arange(S, device=T.device).repeat(len(T), 1)
    order[:, 0] = root
    order.scatter_(1, root[:, None], 0)
    each = torch.arange(len(T), device=T.device)
    # states outside the class go straight to its first state: nothing comes back to them
    lead = torch.zeros_like(p0).scatter_(1, root[:, None], 1.0)
    T = torch.where(inside[:, None, :], T, lead[:, :, None])
    T = T[each[:, None, None], order[:, :, None], order[:, None, :]]
    p = torch.empty_like(p0).scatter_(1, order, _eliminate(T))
    return p.reshape(*batch, S)


def _eliminate(T: Tensor) -> Tensor:
    """Stationary p (n, S) of chains (n, S, S) in which every state leads to number 0."""
    T = T.clone()
    for s in range(T.shape[-1] - 1, 0, -1):
        out = T[:, :s, s]
        T[:, s, :s] /= out.sum(-1, keepdim=True)
        T[:, :s, :s] += out[:, :, None] * T[:, s, None, :s]
    p = torch.zeros_like(T[:, 0])
    p[:, 0] = 1.0
    for s in range(1, T.shape[-1]):
        p[:, s] = (p[:, :s] * T[:, s, :s]).sum(-1)
    return p / p.sum(-1, keepdim=True)


def _classes(T: Tensor, start: Tensor) -> Tensor:
    """Mask (n, S) of the class of states that each chain ends in; raise where there are several.

    Searching graphs has no batched form; it takes little beside the elimination.
    """
    steps, first = (T > 0).cpu().numpy(), (start > 0).cpu().numpy()
    masks = [_class(*each) for each in zip(steps, first, strict=True)]
    return torch.as_tensor(np.stack(masks), device=T.device)


def _class(steps: np.ndarray, first: np.ndarray) -> np.ndarray:
    """The class of states (S,) that is never left, of one chain with these possible steps."""
    S = len(first)
    graph = np.zeros((S + 1, S + 1), dtype=bool)  # the last node leads to where the chain starts
    graph[:S, :S], graph[S, :S] = steps.T, first
    sparse = csr_array(graph)
    reached = np.zeros(S + 1, dtype=bool)
    reached[breadth_first_order(sparse, S, return_predecessors=False)] = True
    count, label = connected_components(sparse, connection="strong")
    source, target = graph.nonzero()
    leaves = np.zeros(count, dtype=bool)
    leaves[label[source[label[source] != label[target]]]] = True
    final = np.unique(label[reached & ~leaves[label]])
    if len(final) != 1:
        raise ValueError(
            f"without resets the chain ends in one of {len(final)} classes of states, and chance "
            "says in which; let `start` lead to one of them alone, or use reset > 0"
        )
    return (label == final[0])[:S]
