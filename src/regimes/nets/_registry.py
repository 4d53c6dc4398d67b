"""Every network by name, so that studies and the command line can ask for any of them."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch

from regimes._check import choose, nearest_first
from regimes.nets._alexnet import AlexNet
from regimes.nets._convnet3 import ConvNet3
from regimes.nets._convnet4 import ConvNet4
from regimes.nets._efficientnet import EfficientNet
from regimes.nets._fully_connected import MLP, FullyConnected
from regimes.nets._lenet import LeNet5
from regimes.nets._mnasnet import MnasNetLike
from regimes.nets._network import Network, Shape, shape_of
from regimes.nets._resnet import ResNet18
from regimes.nets._resnets import ResNet
from regimes.nets._vgg import VGG
from regimes.nets._wide_resnet import WideResNet


@dataclass(frozen=True)
class _Entry:
    """One name: what builds it, what its sizes are called there, which options are already set."""

    build: Callable[..., Network]
    input_name: str = "in_shape"
    output_name: str = "out_dim"
    fixed: dict[str, Any] = field(default_factory=dict)

    def options(self) -> dict[str, inspect.Parameter]:
        """What a caller may choose, besides the arguments of `make`."""
        taken = {self.input_name, self.output_name, "seed", "dtype", "device", *self.fixed}
        found = inspect.signature(self.build).parameters
        return {name: option for name, option in found.items() if name not in taken}


_NETWORKS: dict[str, _Entry] = {
    "fully_connected": _Entry(FullyConnected, "in_dim"),
    "mlp": _Entry(MLP, "d_in", "d_out"),
    "lenet5": _Entry(LeNet5),
    "vgg11": _Entry(VGG, fixed={"variant": 11}),
    "vgg13": _Entry(VGG, fixed={"variant": 13}),
    "vgg16": _Entry(VGG, fixed={"variant": 16}),
    "vgg19": _Entry(VGG, fixed={"variant": 19}),
    "resnet18": _Entry(ResNet18),
    "resnet10": _Entry(ResNet, fixed={"variant": 10}),
    "resnet34": _Entry(ResNet, fixed={"variant": 34}),
    "resnet50": _Entry(ResNet, fixed={"variant": 50}),
    "resnet101": _Entry(ResNet, fixed={"variant": 101}),
    "alexnet": _Entry(AlexNet),
    "efficientnet_b0": _Entry(EfficientNet, fixed={"variant": "b0"}),
    "efficientnet_b2": _Entry(EfficientNet, fixed={"variant": "b2"}),
    "wide_resnet": _Entry(WideResNet),
    "convnet3": _Entry(ConvNet3),
    "convnet4": _Entry(ConvNet4),
    "mnasnet_like": _Entry(MnasNetLike),
}


def names() -> list[str]:
    """The names that `make` knows.

    >>> "resnet18" in names()
    True
    """
    return list(_NETWORKS)


def make(
    name: str,
    in_shape: Shape,
    out_dim: int = 1,
    *,
    seed: int = 0,
    dtype: torch.dtype = torch.float32,
    device: torch.device | str = "cpu",
    **options: Any,
) -> Network:
    """A network by name, for inputs of shape `in_shape`.

    Args:
        name: one of `names()`.
        in_shape: shape of one input, e.g. (3, 32, 32), (28, 28), (10,) or 10; the fully connected
            networks flatten it.
        out_dim: number of outputs.
        seed: the parameters' seed.
        dtype: floating-point type of the parameters.
        device: where the parameters live.
        **options: keyword arguments of the network itself, such as `width` or `activation`.

    Returns:
        The network, (n, *in_shape) -> (n, out_dim).

    Raises:
        ValueError: unknown name or option (the answer lists the valid ones, nearest first), a
            missing option, or one that the network refuses.

    Example:
        >>> make("fully_connected", (28, 28), width=100, depth=3, activation="softplus_5")
        FullyConnected(784 -> 100 -> 100 -> 100 -> 1, ntk, 1.40438 * softplus_5)
        >>> make("lenet5", (28, 28), widht=3)
        Traceback (most recent call last):
        ...
        ValueError: lenet5 has no option 'widht'; its options are: init, activation, ...
    """
    entry = choose(name, _NETWORKS, "network")
    valid = entry.options()
    for option in options:
        if option not in valid:
            listing = ", ".join(nearest_first(option, valid))
            raise ValueError(f"{name} has no option {option!r}; its options are: {listing}")
    missing = [o for o, p in valid.items() if p.default is p.empty and o not in options]
    if missing:
        raise ValueError(f"{name} needs the option(s) {', '.join(missing)}")
    shape = shape_of(in_shape)
    sizes = {
        entry.input_name: math.prod(shape) if entry.input_name != "in_shape" else shape,
        entry.output_name: out_dim,
    }
    return entry.build(**sizes, **entry.fixed, **options, seed=seed, dtype=dtype, device=device)
