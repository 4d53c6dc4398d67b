"""One forward pass and the gradients of chosen outputs at chosen operations of its graph."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor
from torch.autograd.graph import GradientEdge
from torch.func import vmap

from regimes.tangent.structure import Node


def gradients_at(
    output: Tensor,
    cotangents: Tensor,
    nodes: list[Node],
    *,
    retain: bool = False,
) -> list[Tensor | None]:
    """Gradients of weighted outputs at the outputs of operations.

    Args:
        output: (n, c), attached to its graph.
        cotangents: (m, c) weights of the outputs, or (m, n, c) for weights that differ by sample.
        nodes: operations of the graph.
        retain: keep the graph for further calls.

    Returns:
        For every operation (m, *shape of its output), or None where no gradient reaches it.
    """
    if not nodes:
        return []
    m = cotangents.shape[0]
    seeds = cotangents
    if cotangents.dim() == 2:
        seeds = cotangents[:, None, :].expand(m, *output.shape)
    edges = [GradientEdge(node, 0) for node in nodes]
    if m == 1:
        found = torch.autograd.grad(output, edges, seeds[0], retain, allow_unused=True)
        return [None if g is None else g.unsqueeze(0) for g in found]
    reached: list[bool] = []

    def pull(seed: Tensor) -> tuple[Tensor, ...]:
        found = torch.autograd.grad(output, edges, seed, retain, allow_unused=True)
        reached[:] = [g is not None for g in found]
        return tuple(g for g in found if g is not None)

    # not is_grads_batched, which goes through convolutions and pools one output at a time
    batched = iter(vmap(pull)(seeds))
    return [next(batched) if there else None for there in reached]


def gradients_and_parameters(
    output: Tensor, seed: Tensor, nodes: list[Node], parameters: Mapping[str, Tensor]
) -> tuple[list[Tensor | None], dict[str, Tensor | None]]:
    """Gradients of (seed * output).sum() at operations and at parameters, in one backward pass."""
    edges = [GradientEdge(node, 0) for node in nodes]
    wanted: list[Any] = [*edges, *parameters.values()]
    found = torch.autograd.grad(output, wanted, seed, retain_graph=True, allow_unused=True)
    at_nodes: list[Tensor | None] = [
        None if g is None else g.unsqueeze(0) for g in found[: len(nodes)]
    ]
    return at_nodes, dict(zip(parameters, found[len(nodes) :], strict=True))
