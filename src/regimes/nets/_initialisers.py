"""Initialisers: how the stored weights and biases start."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn

from regimes._check import choose


class Fans(NamedTuple):
    """Numbers of inputs and outputs that one weight tensor connects."""

    fan_in: int
    fan_out: int


# (shape of the parameter, fans of its layer, generator) -> float64 values
Draw = Callable[[torch.Size, Fans, torch.Generator], Tensor]


@dataclass(frozen=True)
class Initialiser:
    """How to draw the weights and the biases of a linear or convolutional layer."""

    name: str
    weight: Draw
    bias: Draw


def gaussian(std: float | Callable[[Fans], float]) -> Draw:
    """Normal draws with a fixed std, or one that depends on the fans; std 0 draws nothing."""
    return _Gaussian(std)


@dataclass(frozen=True)
class _Gaussian:
    """An object, because `torch.save` of a whole network takes no function made in another."""

    std: float | Callable[[Fans], float]

    def __call__(self, shape: torch.Size, fans: Fans, generator: torch.Generator) -> Tensor:
        scale = self.std(fans) if callable(self.std) else self.std
        if scale == 0.0:
            return torch.zeros(shape, dtype=torch.float64)
        return scale * torch.randn(shape, generator=generator, dtype=torch.float64)


def _kaiming(fans: Fans) -> float:
    return math.sqrt(2.0 / fans.fan_in)


def _xavier(fans: Fans) -> float:
    return math.sqrt(2.0 / (fans.fan_in + fans.fan_out))


def _uniform(shape: torch.Size, fans: Fans, generator: torch.Generator) -> Tensor:
    bound = 1.0 / math.sqrt(fans.fan_in)
    return (2.0 * torch.rand(shape, generator=generator, dtype=torch.float64) - 1.0) * bound


def _truncated(shape: torch.Size, fans: Fans, generator: torch.Generator) -> Tensor:
    """Normal law cut at two standard deviations, then widened to variance 1 / fan_in."""
    cut = 2.0
    inside = math.erf(cut / math.sqrt(2.0))  # probability of |g| < cut
    density = math.exp(-(cut**2) / 2) / math.sqrt(2 * math.pi)
    variance = 1.0 - 2.0 * cut * density / inside  # of g given |g| < cut
    centred = 2.0 * torch.rand(shape, generator=generator, dtype=torch.float64) - 1.0
    return math.sqrt(2.0 / (variance * fans.fan_in)) * torch.erfinv(inside * centred)


def _orthogonal(shape: torch.Size, fans: Fans, generator: torch.Generator) -> Tensor:
    """Rows out of random orthogonal blocks (docs/themes/regimes.md, "Fits that stop, and jamming").

    A layer of i inputs stacks as many i x i orthogonal matrices as its outputs need, so that every
    neuron's weights have norm 1 also where outputs and inputs differ in number.
    """
    inputs = shape[1:].numel()
    blocks = []
    for _ in range(-(-shape[0] // inputs)):
        q, r = torch.linalg.qr(
            torch.randn(inputs, inputs, generator=generator, dtype=torch.float64)
        )
        blocks.append(q * r.diagonal().sign())  # without the signs the law is not uniform
    return torch.cat(blocks)[: shape[0]].reshape(shape)


_zeros = gaussian(0.0)

_SCHEMES: dict[str, Initialiser] = {
    scheme.name: scheme
    for scheme in (
        Initialiser("kaiming", gaussian(_kaiming), _zeros),
        Initialiser("xavier", gaussian(_xavier), _zeros),
        Initialiser("torch_default", _uniform, _uniform),
        Initialiser("lecun", _truncated, _zeros),
        Initialiser("normal", gaussian(1.0), _zeros),
        Initialiser("orthogonal", _orthogonal, _zeros),
    )
}


def initialiser_names() -> list[str]:
    """Names that `initialise` knows."""
    return list(_SCHEMES)


def initialiser(scheme: str | Initialiser) -> Initialiser:
    """The initialiser with a name; an `Initialiser` is returned as it is."""
    return scheme if isinstance(scheme, Initialiser) else choose(scheme, _SCHEMES, "initialiser")


def initialise(
    module: nn.Module, scheme: str | Initialiser, generator: torch.Generator
) -> nn.Module:
    """Fill every parameter of `module` in place, in the order of `named_parameters`.

    | scheme | weights | biases |
    |---|---|---|
    | kaiming | N(0, 2 / fan_in) | 0 |
    | xavier | N(0, 2 / (fan_in + fan_out)) | 0 |
    | torch_default | uniform +-1 / sqrt(fan_in) | uniform +-1 / sqrt(fan_in) |
    | lecun | normal cut at 2 std, variance 1 / fan_in | 0 |
    | normal | N(0, 1) | 0 |
    | orthogonal | stacked orthogonal matrices, every row of norm 1 | 0 |

    Draws are made in float64 and cast, so float32 and float64 networks agree up to rounding.
    Normalisation layers get scale 1, shift 0 and fresh statistics. The values are those
    *stored*: a `ScaledLinear` still multiplies them. A layer with a law of its own has a method
    `draw_parameters(generator)`, which is called whatever the scheme.

    Args:
        module: linear, convolutional and normalisation layers, layers that draw their own
            parameters, and anything without parameters.
        scheme: a name from the table, or an `Initialiser`.
        generator: a CPU generator; the only source of randomness.

    Returns:
        The module.

    Raises:
        ValueError: unknown scheme, or a module with parameters of another kind.

    Example:
        >>> layer = nn.Linear(4, 2, device="meta").to_empty(device="cpu")
        >>> _ = initialise(layer, "kaiming", torch.Generator().manual_seed(0))
        >>> layer.bias.tolist()
        [0.0, 0.0]
    """
    chosen = initialiser(scheme)
    with torch.no_grad():
        for name, layer in module.named_modules():
            if isinstance(layer, nn.Linear | nn.Conv1d | nn.Conv2d | nn.Conv3d):
                shape = layer.weight.shape
                fans = Fans(shape[1:].numel(), shape[0] * shape[2:].numel())
                layer.weight.copy_(chosen.weight(shape, fans, generator))
                if layer.bias is not None:
                    layer.bias.copy_(chosen.bias(layer.bias.shape, fans, generator))
            elif isinstance(layer, nn.modules.batchnorm._NormBase | nn.LayerNorm | nn.GroupNorm):
                layer.reset_parameters()  # constants: no random numbers are drawn
            elif hasattr(layer, "draw_parameters"):
                layer.draw_parameters(generator)
            elif any(True for _ in layer.parameters(recurse=False)):
                raise ValueError(
                    f"no rule to initialise {name or 'the module'} of type {type(layer).__name__}; "
                    "linear, convolutional and normalisation layers have one"
                )
    return module
