"""The two parts of the Hessian of any network, by batches of columns."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from regimes.curvature._members import Members
from regimes.curvature._symmetric import add_product_
from regimes.tangent.network import Batch
from regimes.tangent.passes._gradients import weighted_gradients

AT_ONCE = 64  # columns differentiated together


def add_network_part(out: Tensor, members: Members, x: Batch, y: Any, scale: float) -> None:
    """`out` (R, N, N) += scale sum_i l'_i . f''_i, on and above the diagonal.

    The gradient of the outputs, weighted by l', is differentiated again along many directions at a
    time. A column needs only the rows from its own parameter on: the backward pass of an early
    layer's column is the long one, and a late one's is short.
    """
    leaves, F = members.graph(x)
    slopes = members.slopes(F, y)
    with torch.enable_grad():
        gradients = _gradients((F * slopes).sum(), leaves)
    R, N = len(out), out.shape[-1]
    spans = list(members.problem.slices.values())
    for start in range(0, N, AT_ONCE):
        stop = min(start + AT_ONCE, N)
        touched = [i for i, span in enumerate(spans) if span.start < stop and start < span.stop]
        some = slice(touched[0], touched[-1] + 1)
        low = spans[touched[0]].start
        with torch.enable_grad():
            joined = torch.cat([g.reshape(R, -1) for g in gradients[some]], 1)
        if not joined.requires_grad:  # the outputs are linear in these
            continue
        numbers = torch.arange(stop - start, device=out.device)
        seeds = joined.new_zeros(len(numbers), *joined.shape)
        seeds[numbers, :, numbers + (start - low)] = 1.0
        rows = weighted_gradients(joined, leaves[some.start :], seeds, retain=True)
        found = torch.cat([row.reshape(len(numbers), R, -1) for row in rows], 2)
        out[:, start:stop, low:].add_(found.transpose(0, 1), alpha=scale)


def add_gauss_newton(
    out: Tensor, members: Members, x: Batch, y: Any, scale: float, memory: int
) -> None:
    """`out` (R, N, N) += scale sum_i J_i^T l''_i J_i, on and above the diagonal."""
    with torch.no_grad():
        F = members.graph(x)[1].detach()
    second = members.second(F, y)
    J = members.features(x, memory)
    if J.shape[1] == 1:
        weighted = second.transpose(1, 2) * J
    else:
        weighted = torch.einsum("rnab,rbnp->ranp", second, J)
    add_product_(out, J.flatten(1, 2), weighted.flatten(1, 2), scale)


def total_product(members: Members, v: Tensor, step: int) -> Tensor:
    """H v, (R, N), by two backward passes through the loss itself."""
    image = torch.zeros_like(v)
    for x, y in members.blocks(step):
        leaves, F = members.graph(x)
        with torch.enable_grad():
            gradients = _gradients(members.totals(F, y).sum(), leaves)
            along = (torch.cat([g.reshape(len(v), -1) for g in gradients], 1) * v).sum()
            if along.requires_grad:
                found = torch.autograd.grad(along, leaves, materialize_grads=True)
                image += torch.cat([g.to_dense().reshape(len(v), -1) for g in found], 1)
    return image / members.problem.points


def _gradients(value: Tensor, leaves: list[Tensor]) -> list[Tensor]:
    """Gradients with a graph of their own."""
    found = torch.autograd.grad(value, leaves, create_graph=True, materialize_grads=True)
    return [g.to_dense() for g in found]


def saved_bytes(members: Members) -> int:
    """Bytes that one pass keeps for a point of every member, from a pass of two."""
    kept: dict[int, int] = {}

    def pack(t: Tensor) -> Tensor:
        kept[t.data_ptr()] = t.nbytes
        return t

    x, _ = next(members.blocks(2))
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        members.graph(x)
    return 1 + sum(kept.values()) // min(2, members.problem.points)
