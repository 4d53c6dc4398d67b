"""The network after MnasNet [Tan 2019] that learns digit parity in [Paccolat 2021, sec. 5.2]."""

from __future__ import annotations

import math
from typing import final

import torch
from torch import Tensor, nn

from regimes._check import positive_int
from regimes.nets._activations import Function
from regimes.nets._activations import activation as make_activation
from regimes.nets._layers import ScaledConv2d
from regimes.nets._network import ImageNetwork, Shape
from regimes.nets._readout import readout

_EXPANSION = 3


def _pointwise(c_in: int, c_out: int) -> nn.Module:
    return ScaledConv2d(c_in, c_out, 1, bias=False, device="meta")


def _depthwise(channels: int, stride: int) -> nn.Module:
    return ScaledConv2d(
        channels, channels, 5, stride, 2, groups=channels, bias=False, device="meta"
    )


@final
class _InvertedResidual(nn.Module):
    """1x1 expansion, act, 5x5 depthwise, act, 1x1 projection; (x + .) / sqrt 2 if shapes allow."""

    def __init__(self, c_in: int, c_out: int, stride: int, activation: str | Function) -> None:
        super().__init__()
        middle = _EXPANSION * c_in
        self.residual = nn.Sequential(
            _pointwise(c_in, middle),
            make_activation(activation),
            _depthwise(middle, stride),
            make_activation(activation),
            _pointwise(middle, c_out),
        )
        self.skip = stride == 1 and c_in == c_out

    def forward(self, x: Tensor) -> Tensor:
        res = self.residual(x)
        return (x + res) / math.sqrt(2.0) if self.skip else res

    def extra_repr(self) -> str:
        return f"skip={self.skip}"


@final
class MnasNetLike(ImageNetwork):
    """16 convolutions: stem, depthwise-separable, four inverted residuals, head; mean; readout.

    With width factor h: stem 5x5 stride 2 to 4h; depthwise-separable 5x5 to 2h; inverted residuals
    to h (stride 2), h (skip), 3h (stride 2), 3h (skip); head 1x1 to 20h; global mean; linear with
    weights divided by the fan-in 20h and a bias that starts at 0. Convolutions are
    W / sqrt(fan_in), W ~ N(0, 1), without bias; no batch norm. The network is the same on 28 x 28
    images and on 8 x 8 ones, which end as a single pixel.

    Args:
        in_shape: (channels, height, width), or (height, width) for one channel.
        out_dim: number of outputs.
        width_factor: h (10).
        activation: see `nets.activation`; normalised, 1.6768 * swish by default.
        parametrization: "mean_field" (readout / 20h) or "ntk" (readout / sqrt(20h)).
        seed: the parameters' seed.
        dtype: floating-point type of the parameters.
        device: where the parameters live.

    Raises:
        ValueError: unknown names, sizes that are not positive.

    Example:
        >>> net = MnasNetLike((1, 8, 8), width_factor=2)
        >>> sum(isinstance(m, nn.Conv2d) for m in net.modules())
        16
        >>> net(torch.zeros(5, 1, 8, 8)).shape
        torch.Size([5, 1])
    """

    def __init__(
        self,
        in_shape: Shape,
        out_dim: int = 1,
        *,
        width_factor: int = 10,
        activation: str | Function = "swish_1",
        parametrization: str = "mean_field",
        seed: int = 0,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str = "cpu",
    ) -> None:
        super().__init__(in_shape, out_dim)
        h = positive_int("width_factor", width_factor)
        self.features = nn.Sequential(
            ScaledConv2d(self.in_shape[0], 4 * h, 5, 2, 2, bias=False, device="meta"),
            make_activation(activation),
            _depthwise(4 * h, 1),
            make_activation(activation),
            _pointwise(4 * h, 2 * h),
            make_activation(activation),
            _InvertedResidual(2 * h, h, 2, activation),
            _InvertedResidual(h, h, 1, activation),
            _InvertedResidual(h, 3 * h, 2, activation),
            _InvertedResidual(3 * h, 3 * h, 1, activation),
            _pointwise(3 * h, 20 * h),
            make_activation(activation),
        )
        self.readout = readout(20 * h, self.out_dim, parametrization, bias=True)
        self._start([(self, "normal")], seed=seed, dtype=dtype, device=device)

    def forward(self, x: Tensor) -> Tensor:
        """Outputs (n, out_dim) of images (n, channels, height, width)."""
        return self.readout(self.features(self._images(x)).mean((2, 3)))
