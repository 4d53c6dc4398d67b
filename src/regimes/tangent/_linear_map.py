"""A network's derivative at a point as a linear map with the gradient that training sees.

J u is linear in u with the adjoint J^T, and autograd is told so: whichever way J u is found, what
trains through it costs one ordinary backward pass and gets its gradient.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

Tensors = dict[str, Tensor]


@dataclass(frozen=True, eq=False)
class LinearMap:
    """A network around a point.

    Attributes:
        output: what one pass returned, with its graph.
        parameters: leaves of that graph.
        push: from directions of the parameters to J u; None: the derivative of v -> (J^T v) . u,
            which needs a derivative of the backward pass but no forward mode.
    """

    output: Tensor
    parameters: Tensors
    push: Callable[[Tensors], Tensor] | None = None

    def along(self, direction: Tensors) -> Tensor:
        """J u, differentiable in u."""
        return _Along.apply(self, *[direction[name] for name in self.parameters])

    def pull(self, v: Tensor) -> Tensors:
        """J^T v, differentiable in v."""
        return dict(zip(self.parameters, _Pull.apply(self, v), strict=True))


def _twice_backward(at: LinearMap, direction: tuple[Tensor, ...]) -> Tensor:
    with torch.enable_grad():
        v = torch.zeros_like(at.output, requires_grad=True)
        pulled = torch.autograd.grad(
            at.output, list(at.parameters.values()), v, create_graph=True, allow_unused=True
        )
    pairs = [
        (gradient, u)
        for gradient, u in zip(pulled, direction, strict=True)
        if gradient is not None and gradient.requires_grad
    ]
    if not pairs:
        raise RuntimeError("the backward pass has no derivative of its own")
    gradients, along = zip(*pairs, strict=True)
    return torch.autograd.grad(gradients, v, along)[0]


class _Along(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, at: LinearMap, *direction: Tensor) -> Tensor:
        ctx.at = at
        if at.push is not None:
            return at.push(dict(zip(at.parameters, direction, strict=True)))
        return _twice_backward(at, direction)

    @staticmethod
    def backward(ctx: Any, v: Tensor) -> tuple[Tensor | None, ...]:
        return None, *_Pull.apply(ctx.at, v)


class _Pull(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, at: LinearMap, v: Tensor) -> tuple[Tensor, ...]:
        ctx.at = at
        parameters = list(at.parameters.values())
        found = torch.autograd.grad(at.output, parameters, v, retain_graph=True, allow_unused=True)
        # sparse gradients, as of embeddings, are written out
        return tuple(
            torch.zeros_like(p) if g is None else g.to_dense()
            for p, g in zip(parameters, found, strict=True)
        )

    @staticmethod
    def backward(ctx: Any, *direction: Tensor) -> tuple[None, Tensor]:
        return None, _Along.apply(ctx.at, *direction)
