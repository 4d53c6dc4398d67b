"""Tangent kernels and gradients of many fully connected networks at once."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from regimes._memory import parse_bytes
from regimes.nets import Ensemble, FullyConnected


def stacked_gram(ensemble: Ensemble, x: Tensor, *, memory: int | str = "1GiB") -> Tensor:
    """The tangent kernel (R, n, n) of every member on its own, in the precision of the ensemble.

    `Theta = sum_l m_l^2 (Z_(l-1) Z_(l-1)^T) * (D_l D_l^T)` entry by entry, with
    m_l the multiplier of a layer's weights, Z what enters it and `D_l = df/dz~_l`; a layer's biases
    add `m_b^2 D_l D_l^T`. No Jacobian is made, and no loop runs over members. For one network of
    any kind use `TangentKernel`.

    Args:
        ensemble: fully connected networks with one output.
        x: points (n, d), shared by the members.
        memory: budget of what is made besides the result; members are taken some at a time.

    Raises:
        ValueError: networks of another kind or with several outputs.

    Example:
        >>> from regimes import nets
        >>> members = nets.stack(lambda seed: nets.FullyConnected(3, 8, seed=seed), range(5))
        >>> stacked_gram(members, torch.ones(4, 3)).shape
        torch.Size([5, 4, 4])
    """
    net = _fully_connected("stacked_gram", ensemble)
    weight = next(iter(ensemble.parameters.values()))
    n, entry = len(x), weight.element_size()
    each = entry * (3 * n * n + 6 * n * net.width * (net.depth + 1))
    tile = max(1, parse_bytes(memory, x.device) // each)
    parts = [
        _gram(net, ensemble.select(slice(i, i + tile)), x) for i in range(0, ensemble.size, tile)
    ]
    return torch.cat(parts)


def stacked_change(
    start: Ensemble, end: Ensemble, x: Tensor, *, period: int | None = None
) -> Tensor:
    """`|Theta - Theta_0| / |Theta_0|` of every member on these points, (R,), Frobenius norms.

    Args:
        start: fully connected networks with one output, before training.
        end: the same after training.
        x: points (n, d), shared by the members.
        period: members i and i + period start alike: their first kernels are made once, and so many
            kernels at a time are in memory. None takes all members as different.

    Example:
        >>> from regimes import nets
        >>> members = nets.stack(lambda seed: nets.FullyConnected(3, 8, seed=seed), range(5))
        >>> stacked_change(members, members, torch.ones(4, 3)).tolist()
        [0.0, 0.0, 0.0, 0.0, 0.0]
    """
    block = period or start.size
    before = stacked_gram(start.select(slice(block)), x)
    size = before.flatten(1).norm(dim=1)
    changes = []
    for i in range(0, start.size, block):
        after = stacked_gram(end.select(slice(i, i + block)), x)
        changes.append((after - before).flatten(1).norm(dim=1) / size)
    return torch.cat(changes)


def layer_gradients(ensemble: Ensemble, x: Tensor) -> Tensor:
    """Root mean square of df/dW over points and weights, for every member and layer, (R, L + 1).

    The gradient by one layer's weights is an outer product, so that its norm is
    `m_l |z_(l-1)(x)| |df/dz~_l(x)|`, and no Jacobian is made.

    Args:
        ensemble: fully connected networks with one output.
        x: points (n, d), shared by the members.

    Raises:
        ValueError: networks of another kind or with several outputs.

    Example:
        >>> from regimes import nets
        >>> members = nets.stack(lambda seed: nets.FullyConnected(3, 8, seed=seed), range(5))
        >>> layer_gradients(members, torch.ones(4, 3)).shape
        torch.Size([5, 2])
    """
    net = _fully_connected("layer_gradients", ensemble)
    found = []
    for layer, z, pull in _layers(net, ensemble, x):
        entering, leaving = z.square().mean(-1), pull.square().mean(-1)
        scale = getattr(layer, "weight_multiplier", 1.0)
        found.append(scale * (entering * leaving).mean(-1).sqrt())
    return torch.stack(found, 1)


def _fully_connected(function: str, ensemble: Ensemble) -> FullyConnected:
    net = ensemble.template
    if not isinstance(net, FullyConnected) or net.out_dim != 1:
        raise ValueError(
            f"{function} takes FullyConnected networks with one output, got {net!r}; use "
            "TangentKernel for one network of any kind"
        )
    return net


def _gram(net: FullyConnected, members: Ensemble, x: Tensor) -> Tensor:
    gram = next(iter(members.parameters.values())).new_zeros(members.size, len(x), len(x))
    for layer, z, pull in _layers(net, members, x):
        entering = (z @ z.mT) * getattr(layer, "weight_multiplier", 1.0) ** 2
        if layer.bias is not None:
            entering = entering + getattr(layer, "bias_multiplier", 1.0) ** 2
        gram += entering * (pull @ pull.mT)
    return gram


def _layers(
    net: FullyConnected, members: Ensemble, x: Tensor
) -> Iterator[tuple[nn.Module, Tensor, Tensor]]:
    """Every layer with Z (R, n, h), what enters it, and `df/dz~`, of the same shape behind it."""
    parameters = {name: value.detach() for name, value in members.parameters.items()}
    first = parameters["layers.0.weight"].requires_grad_()  # so that a graph is made
    with torch.enable_grad():
        inputs, outputs = net.layers_stacked(parameters | {"layers.0.weight": first}, x.to(first))
        pulls = torch.autograd.grad(outputs[-1].sum(), outputs)
    return zip(net.layers, (z.detach() for z in inputs), pulls, strict=True)
