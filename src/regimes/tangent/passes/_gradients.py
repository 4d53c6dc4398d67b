"""One forward pass and the gradients of chosen outputs at chosen operations of its graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.autograd.graph import GradientEdge
from torch.func import vmap

from regimes.tangent.structure import Node

# relative, of what passes in each precision leave
_AGREEMENT = {torch.float64: 1e-8, torch.float32: 2e-3, torch.float16: 2e-2, torch.bfloat16: 0.1}


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


def weighted_gradients(
    output: Tensor, parameters: Sequence[Tensor], weights: Tensor, *, retain: bool = False
) -> list[Tensor]:
    """Gradients of weighted sums of the outputs, (k, *shape) for every parameter.

    Args:
        output: (n, c), attached to its graph.
        parameters: what to differentiate by; zeros where the output does not depend on it.
        weights: (k, n, c).
        retain: keep the graph for further calls.
    """
    several = len(weights) > 1
    retain = retain or several

    def pulled(seeds: Tensor, batched: bool) -> list[Tensor]:
        found = torch.autograd.grad(
            output, parameters, seeds, retain, allow_unused=True, is_grads_batched=batched
        )
        shape = weights.shape[:1] if batched else ()
        return [
            p.new_zeros(*shape, *p.shape) if g is None else g.to_dense()
            for g, p in zip(found, parameters, strict=True)
        ]

    if several:
        try:
            return pulled(weights, True)
        except (RuntimeError, NotImplementedError):
            pass  # an operation whose backward pass knows no batches
    rows = [pulled(seed, False) for seed in weights]
    return [torch.stack(each) for each in zip(*rows, strict=True)]


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
    dense = [None if g is None else g.to_dense() for g in found[len(nodes) :]]
    return at_nodes, dict(zip(parameters, dense, strict=True))


def agree(value: Tensor, true: Tensor, *, at_least: float = 0.0) -> bool:
    """Whether two ways to the same numbers differ by rounding alone."""
    tolerance = max(_AGREEMENT[value.dtype], at_least)
    return bool((value - true).norm() <= tolerance * true.norm())
