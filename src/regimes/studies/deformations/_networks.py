"""The image networks of the theme by name, what is known of them, and how each is trained."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from regimes._check import choose
from regimes.studies._types import Dataset, Module

CLASSES = 10
_CONVOLUTIONAL = ("features.", "classifier.")


@dataclass(frozen=True)
class Kind:
    """A network: what `nets.make` calls it, and how it is trained (docs/themes/deformations.md)."""

    made: str
    depth: int  # layers with weights on the way through
    rate: float  # of momentum, or of Adam
    options: tuple[tuple[str, Any], ...] = ()
    batch_norm: bool = False
    skips: bool = False
    adam: bool = False

    def option(self, name: str) -> bool:
        """Whether it is given this option."""
        return any(key == name for key, _ in self.options)


def _full(layers: int) -> Kind:
    options = (
        ("width", 64),
        ("depth", layers),
        ("parametrization", "standard"),
        ("init", "torch_default"),
        ("bias", True),
    )
    return Kind("fully_connected", layers, 1e-3, options, adam=True)


_LENET = (("padding", "valid"), ("pool", "max"), ("init", "torch_default"))
_NORMED: dict[str, Any] = {"batch_norm": True}
_RESIDUAL: dict[str, Any] = {"batch_norm": True, "skips": True}

KINDS: dict[str, Kind] = {
    "fc2": _full(2),
    "fc4": _full(4),
    "fc6": _full(6),
    "lenet": Kind("lenet5", 5, 0.02, _LENET),
    "mini4": Kind("resnet10", 10, 0.05, (("base", 4),), **_RESIDUAL),
    "mini8": Kind("resnet10", 10, 0.05, (("base", 8),), **_RESIDUAL),
    "alexnet": Kind("alexnet", 8, 0.02),
    "vgg11": Kind("vgg11", 11, 0.02),
    "vgg11bn": Kind("vgg11", 11, 0.1, (("batch_norm", True),), **_NORMED),
    "vgg16bn": Kind("vgg16", 16, 0.1, (("batch_norm", True),), **_NORMED),
    "vgg19bn": Kind("vgg19", 19, 0.1, (("batch_norm", True),), **_NORMED),
    "resnet18": Kind("resnet18", 18, 0.1, **_RESIDUAL),
    "resnet34": Kind("resnet34", 34, 0.1, **_RESIDUAL),
    "resnet50": Kind("resnet50", 50, 0.1, **_RESIDUAL),
    "efficientnet_b0": Kind("efficientnet_b0", 18, 0.1, **_RESIDUAL),
    "efficientnet_b2": Kind("efficientnet_b2", 25, 0.1, **_RESIDUAL),
}
LABELS = {
    "fc2": "fully connected, 2 hidden layers",
    "fc4": "fully connected, 4 hidden layers",
    "fc6": "fully connected, 6 hidden layers",
    "lenet": "LeNet",
    "mini4": "small ResNet, 4 channels",
    "mini8": "small ResNet, 8 channels",
    "alexnet": "AlexNet",
    "vgg11": "VGG11",
    "vgg11bn": "VGG11 with batch norm",
    "vgg16bn": "VGG16 with batch norm",
    "vgg19bn": "VGG19 with batch norm",
    "resnet18": "ResNet18",
    "resnet34": "ResNet34",
    "resnet50": "ResNet50",
    "efficientnet_b0": "EfficientNet B0",
    "efficientnet_b2": "EfficientNet B2",
}


def kind(name: str) -> Kind:
    """One network of the list."""
    return choose(name, KINDS, "network")


def network(name: str, made: Dataset, seed: int, *, base: int | None = None) -> Module:
    """A network for these images; `base` channels, where it has such, make it smaller."""
    from regimes import nets

    what = kind(name)
    options = dict(what.options)
    if base is not None and not what.option("width") and what.made != "lenet5":
        options["base"] = base
        if what.made == "alexnet":
            options["hidden"] = 16 * base
    x = made.x_train
    return nets.make(
        what.made,
        made.in_shape,
        CLASSES,
        seed=seed,
        dtype=x.dtype,
        device=x.device,
        **options,
    )


def block_names(net: Module) -> list[str]:
    """The layers of a profile by depth: stem and blocks, or what follows each activation.

    Fully connected networks are read before the activation: one module serves all their layers.
    """
    from torch import nn

    from regimes import nets

    names = dict(net.named_modules())
    if "blocks" in names:
        return ["stem", *(f"blocks.{k}" for k in range(len(names["blocks"])))]
    if "layers" in names:
        return [f"layers.{k}" for k in range(len(names["layers"]) - 1)]
    return [
        name
        for name, module in names.items()
        if name.startswith(_CONVOLUTIONAL) and isinstance(module, nn.ReLU | nets.Activation)
    ]
