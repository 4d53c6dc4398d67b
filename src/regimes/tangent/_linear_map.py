"""A network's derivative at a point as a linear map, by backward passes alone.

J u is the derivative of v -> (J^T v) . u, so it needs no forward-mode rule. It is linear in u with
the adjoint J^T, which autograd is told: what trains through it costs one ordinary backward pass.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor


@dataclass(frozen=True, eq=False)
class LinearMap:
    """Outputs of one pass with its graph, and the parameters that they are differentiated by."""

    output: Tensor
    parameters: dict[str, Tensor]

    @property
    def value(self) -> Tensor:
        """The outputs themselves."""
        return self.output.detach()

    def along(self, direction: dict[str, Tensor]) -> Tensor:
        """J u, differentiable in u."""
        return _Along.apply(self, *[direction[name] for name in self.parameters])

    def pull(self, v: Tensor) -> dict[str, Tensor]:
        """J^T v, differentiable in v."""
        return dict(zip(self.parameters, _Pull.apply(self, v), strict=True))


class _Along(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, at: LinearMap, *direction: Tensor) -> Tensor:
        ctx.at = at
        parameters = list(at.parameters.values())
        with torch.enable_grad():
            v = torch.zeros_like(at.output, requires_grad=True)
            pulled = torch.autograd.grad(
                at.output, parameters, v, create_graph=True, allow_unused=True
            )
            pairs = [
                (gradient, u)
                for gradient, u in zip(pulled, direction, strict=True)
                if gradient is not None and gradient.requires_grad
            ]
            if not pairs:
                raise RuntimeError("the backward pass has no derivative of its own")
        gradients, along = zip(*pairs, strict=True)
        (spread,) = torch.autograd.grad(gradients, v, along)
        return spread

    @staticmethod
    def backward(ctx: Any, v: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        return None, *_Pull.apply(ctx.at, v)


class _Pull(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, at: LinearMap, v: Tensor) -> tuple[Tensor, ...]:
        ctx.at = at
        parameters = list(at.parameters.values())
        found = torch.autograd.grad(
            at.output, parameters, v, retain_graph=True, allow_unused=True
        )
        # sparse gradients, as of embeddings, are written out
        return tuple(
            torch.zeros_like(p) if g is None else g.to_dense()
            for p, g in zip(parameters, found, strict=True)
        )

    @staticmethod
    def backward(ctx: Any, *direction: Tensor) -> tuple[None, Tensor]:
        return None, _Along.apply(ctx.at, *direction)
