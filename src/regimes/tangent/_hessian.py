"""The Hessian of a network's outputs in its parameters: what the tangent kernel leaves out."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.func import functional_call, hessian


def output_hessian(network: nn.Module, x: Tensor, weights: Tensor) -> Tensor:
    """Hessian of `mean_mu weights_mu f(x_mu)` in all parameters as one vector, (N, N).

    Of a loss the Hessian is H0 + Hp; with minus its derivatives by the outputs as weights this is
    -Hp, the part that is not positive by itself [Geiger 2019, eq. 10]. It is a dense matrix, for
    networks of some thousand parameters.

    Args:
        network: one with outputs (n, 1).
        x: inputs (n, ...).
        weights: what the outputs are multiplied by, (n,).

    Example:
        >>> net = nn.Sequential(nn.Linear(1, 1, bias=False), nn.Linear(1, 1, bias=False)).double()
        >>> one = torch.ones(1, 1, dtype=torch.float64)
        >>> output_hessian(net, one, one[0])  # f = w2 w1 x
        tensor([[0., 1.],
                [1., 0.]], dtype=torch.float64)
    """
    if weights.shape != (len(x),):
        raise ValueError(
            f"weights must have shape ({len(x)},), one per input, got {tuple(weights.shape)}"
        )
    names = [name for name, _ in network.named_parameters()]
    shapes = [value.shape for value in network.parameters()]

    def weighted(w: Tensor) -> Tensor:
        parts = w.split([shape.numel() for shape in shapes])
        named = {n: p.view(s) for n, p, s in zip(names, parts, shapes, strict=True)}
        outputs: Tensor = functional_call(network, named, (x,))[:, 0]
        return (outputs * weights).mean()

    flat = torch.cat([value.detach().flatten() for value in network.parameters()])
    found: Tensor = hessian(weighted)(flat)
    return found
