"""Layers whose stored weights are multiplied by a fixed number before they act.

The contract that other rooms rely on: the only modules with parameters in this room are
`nn.Linear`, `nn.Conv2d`, their two subclasses here, and batch norm. A layer that is an
instance of `ScaledLinear` or `ScaledConv2d` acts with `weight_multiplier * weight` and
`bias_multiplier * bias`; a plain one with its parameters as they are. Activations, pooling and
residual sums have no parameters.
"""

from __future__ import annotations

import math
from typing import final

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regimes._check import positive_int, real
from regimes.nets._convolve import as_product


@final
class ScaledLinear(nn.Linear):
    """y = (weight_multiplier * weight) x + bias_multiplier * bias.

    `ScaledLinear(d, h, weight_multiplier=d**-0.5)` with weights N(0, 1) is a layer of the ntk
    parametrisation [Geiger 2020, eqs. 12 to 14].

    Example:
        >>> layer = ScaledLinear(4, 1, bias=False, weight_multiplier=0.5, device="meta")
        >>> layer
        ScaledLinear(in_features=4, out_features=1, bias=False, weight_multiplier=0.5)
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        *,
        weight_multiplier: float = 1.0,
        bias_multiplier: float = 1.0,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        sizes = positive_int("in_features", in_features), positive_int("out_features", out_features)
        super().__init__(*sizes, bias, device=device, dtype=dtype)
        self.weight_multiplier = real("weight_multiplier", weight_multiplier)
        self.bias_multiplier = real("bias_multiplier", bias_multiplier)

    def forward(self, x: Tensor) -> Tensor:
        """(*, in_features) -> (*, out_features)."""
        weight, bias = self.weight, _times(self.bias, self.bias_multiplier)
        # the product is bilinear: scale whichever factor has fewer entries
        if x.numel() < weight.numel():
            return F.linear(x * self.weight_multiplier, weight, bias)
        return F.linear(x, weight * self.weight_multiplier, bias)

    def extra_repr(self) -> str:
        """Sizes and multipliers."""
        return f"{super().extra_repr()}{_multipliers_repr(self)}"


@final
class ScaledConv2d(nn.Conv2d):
    """Convolution with `weight_multiplier * weight` and `bias_multiplier * bias`.

    The weight multiplier is 1 / sqrt(fan_in), fan_in = in_channels / groups * kernel area, unless
    one is given: with weights N(0, 1) that is the convolution of [Geiger 2020] and
    [Paccolat 2021].

    Example:
        >>> ScaledConv2d(4, 8, 5, device="meta").weight_multiplier
        0.1
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int,
        stride: int = 1,
        padding: int = 0,
        groups: int = 1,
        bias: bool = True,
        *,
        weight_multiplier: float | None = None,
        bias_multiplier: float = 1.0,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        groups = positive_int("groups", groups)
        in_channels = positive_int("in_channels", in_channels)
        out_channels = positive_int("out_channels", out_channels)
        if in_channels % groups or out_channels % groups:
            raise ValueError(
                f"in_channels and out_channels must be multiples of groups = {groups}, got "
                f"{in_channels} and {out_channels}"
            )
        super().__init__(
            in_channels,
            out_channels,
            positive_int("kernel_size", kernel_size),
            positive_int("stride", stride),
            positive_int("padding", padding, least=0),
            groups=groups,
            bias=bias,
            device=device,
            dtype=dtype,
        )
        if weight_multiplier is None:
            weight_multiplier = 1.0 / math.sqrt(self.weight[0].numel())
        self.weight_multiplier = real("weight_multiplier", weight_multiplier)
        self.bias_multiplier = real("bias_multiplier", bias_multiplier)

    def forward(self, x: Tensor) -> Tensor:
        """(n, in_channels, H, W) -> (n, out_channels, H', W')."""
        weight, bias = self.weight * self.weight_multiplier, _times(self.bias, self.bias_multiplier)
        made = as_product(self, x, weight)
        if made is None:
            return self._conv_forward(x, weight, bias)
        return made if bias is None else made + bias[:, None, None]

    def extra_repr(self) -> str:
        """Sizes and multipliers."""
        return f"{super().extra_repr()}{_multipliers_repr(self)}"


def _times(parameter: Tensor | None, multiplier: float) -> Tensor | None:
    return parameter if parameter is None or multiplier == 1.0 else parameter * multiplier


def _multipliers_repr(layer: ScaledLinear | ScaledConv2d) -> str:
    text = f", weight_multiplier={layer.weight_multiplier:.6g}"
    if layer.bias is not None:
        text += f", bias_multiplier={layer.bias_multiplier:.6g}"
    return text
