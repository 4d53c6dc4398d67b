"""Gradients of the outputs by the inputs, of many networks at once."""

from __future__ import annotations

import torch
from torch import Tensor

from regimes._memory import parse_bytes
from regimes.nets import Ensemble


def input_gradients(ensemble: Ensemble, x: Tensor, *, memory: int | str = "1GiB") -> Tensor:
    """`df/dx` of every member at every point, (R, n, ...), for networks with one output.

    Args:
        ensemble: networks that treat points apart from each other, as in evaluation mode.
        x: points (n, ...), shared by the members.
        memory: budget of a pass; members are taken some at a time.

    Example:
        >>> from regimes import nets
        >>> members = nets.stack(lambda seed: nets.FullyConnected(3, 8, seed=seed), range(5))
        >>> input_gradients(members, torch.ones(4, 3)).shape
        torch.Size([5, 4, 3])
    """
    if not isinstance(ensemble, Ensemble):
        raise ValueError(
            f"input_gradients takes an Ensemble, got {type(ensemble).__name__}; make one with "
            "nets.stack([...])"
        )
    if not isinstance(x, Tensor) or x.ndim < 2 or not x.is_floating_point() or not x.numel():
        given = tuple(x.shape) if isinstance(x, Tensor) else type(x).__name__
        raise ValueError(f"x must be floating-point points of shape (n, ...), got {given}")
    if not bool(x.isfinite().all()):
        raise ValueError("x holds NaN or infinite entries")
    width = getattr(ensemble.template, "width", 1)
    units = width * (getattr(ensemble.template, "depth", 1) + 1) + x[0].numel()
    tile = max(1, parse_bytes(memory, x.device) // (8 * len(x) * units * x.element_size()))
    found = []
    for i in range(0, ensemble.size, tile):
        part = ensemble.select(slice(i, i + tile))
        own = x.detach().expand(part.size, *x.shape).clone().requires_grad_()
        with torch.enable_grad():
            outputs = part(own, member_inputs=True)
            if outputs.shape[2:].numel() != 1:
                raise ValueError(
                    f"input_gradients takes networks with one output, got {outputs.shape[-1]}"
                )
            found.append(torch.autograd.grad(outputs.sum(), own)[0])
    return torch.cat(found)
