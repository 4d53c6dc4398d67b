"""Tangent kernels and gradients of many fully connected networks at once."""

from __future__ import annotations

import torch
from torch import Tensor

from regimes._check import positive_int
from regimes._memory import parse_bytes
from regimes.nets import Ensemble, FullyConnected


def stacked_gram(
    ensemble: Ensemble, x: Tensor, x2: Tensor | None = None, *, memory: int | str = "1GiB"
) -> Tensor:
    """The tangent kernel (R, n, n2) of every member on its own, in the precision of the ensemble.

    `Theta = sum_l m_l^2 (Z_(l-1) Z'_(l-1)^T) * (D_l D'_l^T)` entry by entry, with m_l the
    multiplier of a layer's weights, Z what enters it and `D_l = df/dz~_l`, primed at x2; a layer's
    biases add `m_b^2 D_l D'_l^T`. No Jacobian is made, and no loop runs over members. For one
    network of any kind use `TangentKernel`.

    Args:
        ensemble: fully connected networks with one output.
        x: points (n, d), shared by the members.
        x2: points (n2, d) of the columns; None for x itself.
        memory: budget of what is made besides the result; members are taken some at a time.

    Raises:
        ValueError: one network instead of an ensemble, networks of another kind or with several
            outputs.

    Example:
        >>> from regimes import nets
        >>> members = nets.stack(lambda seed: nets.FullyConnected(3, 8, seed=seed), range(5))
        >>> stacked_gram(members, torch.ones(4, 3)).shape
        torch.Size([5, 4, 4])
    """
    net = _fully_connected("stacked_gram", ensemble)
    weight = next(iter(ensemble.parameters.values()))
    n, n2, entry = len(x), len(x if x2 is None else x2), weight.element_size()
    points = n if x2 is None else n + n2
    each = entry * (4 * n * n2 + 6 * points * net.width * (net.depth + 1))
    tile = max(1, parse_bytes(memory, x.device) // each)
    grams = weight.new_zeros(ensemble.size, n, n2)
    for i in range(0, ensemble.size, tile):
        _add_grams(grams[i : i + tile], net, ensemble.select(slice(i, i + tile)), x, x2)
    return grams


def neuron_grams(ensemble: Ensemble, x: Tensor, layer: int = 0) -> Tensor:
    """What each neuron of a layer adds to the tangent kernel, (R, h, n, n).

    Neuron a has the weights that enter it and its bias:
    `(m^2 Z Z'^T + m_b^2) * d_a d'_a^T` entry by entry, with `d_a = df/dz~_a`
    [Geiger 2020b, eq. 15]. Over all neurons and layers, with the readout, it sums to the kernel.

    Args:
        ensemble: fully connected networks with one output.
        x: points (n, d), shared by the members.
        layer: 0 to L - 1 for hidden layers, L for the readout, whose one neuron is the output.

    Example:
        >>> from regimes import nets
        >>> members = nets.stack(lambda seed: nets.FullyConnected(3, 8, seed=seed), range(5))
        >>> x = torch.ones(4, 3)
        >>> parts = [neuron_grams(members, x, layer).sum(1) for layer in (0, 1)]
        >>> bool(torch.allclose(sum(parts), stacked_gram(members, x), rtol=1e-4))
        True
    """
    net = _fully_connected("neuron_grams", ensemble)
    if not 0 <= positive_int("layer", layer, least=0) <= net.depth:
        raise ValueError(f"layer must be from 0 to the depth {net.depth}, got {layer}")
    z, pull = _entering_and_pulls(net, ensemble, x)[layer]
    entering = (z @ z.mT).mul_(getattr(net.layers[layer], "weight_multiplier", 1.0) ** 2)
    if net.layers[layer].bias is not None:
        entering += getattr(net.layers[layer], "bias_multiplier", 1.0) ** 2
    own = pull.mT  # (R, h, n)
    return (own.unsqueeze(-1) * own.unsqueeze(-2)).mul_(
        entering if entering.ndim == 2 else entering.unsqueeze(1)
    )


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
        ValueError: as `stacked_gram`.

    Example:
        >>> from regimes import nets
        >>> members = nets.stack(lambda seed: nets.FullyConnected(3, 8, seed=seed), range(5))
        >>> layer_gradients(members, torch.ones(4, 3)).shape
        torch.Size([5, 2])
    """
    net = _fully_connected("layer_gradients", ensemble)
    found = []
    for layer, (z, pull) in zip(net.layers, _entering_and_pulls(net, ensemble, x), strict=True):
        entering, leaving = z.square().mean(-1), pull.square().mean(-1)
        scale = getattr(layer, "weight_multiplier", 1.0)
        found.append(scale * (entering * leaving).mean(-1).sqrt())
    return torch.stack(found, 1)


def _fully_connected(function: str, ensemble: Ensemble) -> FullyConnected:
    if not isinstance(ensemble, Ensemble):
        raise ValueError(
            f"{function} takes an Ensemble, got {type(ensemble).__name__}; make one with "
            "nets.stack([...]), or use TangentKernel for one network of any kind"
        )
    net = ensemble.template
    if not isinstance(net, FullyConnected) or net.out_dim != 1:
        raise ValueError(
            f"{function} takes FullyConnected networks with one output, got {net!r}; use "
            "TangentKernel for one network of any kind"
        )
    if ensemble.buffers:
        raise ValueError(
            f"{function} takes networks whose parameters all move; {', '.join(ensemble.buffers)} "
            "are frozen: use TangentKernel for each"
        )
    return net


def _add_grams(
    into: Tensor, net: FullyConnected, members: Ensemble, x: Tensor, x2: Tensor | None
) -> None:
    rows = _entering_and_pulls(net, members, x)
    columns = rows if x2 is None else _entering_and_pulls(net, members, x2)
    for layer, (z, pull), (z2, pull2) in zip(net.layers, rows, columns, strict=True):
        entering = (z @ z2.mT).mul_(getattr(layer, "weight_multiplier", 1.0) ** 2)
        if layer.bias is not None:
            entering += getattr(layer, "bias_multiplier", 1.0) ** 2
        into.addcmul_(entering, pull @ pull2.mT)


def _entering_and_pulls(
    net: FullyConnected, members: Ensemble, x: Tensor
) -> list[tuple[Tensor, Tensor]]:
    """What enters each layer, (n, d) or (R, n, h), and the derivative by what leaves it."""
    parameters = {name: value.detach() for name, value in members.parameters.items()}
    first = parameters["layers.0.weight"].requires_grad_()  # so that a graph is made
    with torch.enable_grad():
        inputs, outputs = net.layers_stacked(parameters | {"layers.0.weight": first}, x.to(first))
        pulls = torch.autograd.grad(outputs[-1].sum(), outputs)
    return [(z.detach(), pull) for z, pull in zip(inputs, pulls, strict=True)]
