"""The wide residual network [Zagoruyko 2016] without batch norm of [Geiger 2020, app. A]."""

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

_STEM = 16
_MIX = math.sqrt(0.5)  # cos 45 = sin 45: shortcut and residual keep unit second moment together


@final
class _PreactivationBlock(nn.Module):
    """cos45 * shortcut(x) + sin45 * conv3(act(conv3(act(x)))), strided at the second conv3."""

    def __init__(self, c_in: int, c_out: int, stride: int, activation: str | Function) -> None:
        super().__init__()
        self.residual = nn.Sequential(
            make_activation(activation),
            ScaledConv2d(c_in, c_out, 3, 1, 1, device="meta"),
            make_activation(activation),
            ScaledConv2d(c_out, c_out, 3, stride, 1, device="meta"),
        )
        self.shortcut: nn.Module = nn.Identity()
        if stride != 1 or c_in != c_out:
            self.shortcut = ScaledConv2d(c_in, c_out, 1, stride, device="meta")

    def forward(self, x: Tensor) -> Tensor:
        return _MIX * self.shortcut(x) + _MIX * self.residual(x)


@final
class WideResNet(ImageNetwork):
    """3x3 stem to 16 channels, three stages of pre-activation blocks, mean, readout.

    The stages have 16 k, 32 k, 64 k channels and strides 1, 2, 2. Every layer is
    W / sqrt(fan_in) with W ~ N(0, 1) plus a bias that starts at 0; no batch norm. With k = 10 and
    4 blocks per stage this is the 28-10 network with 25 hidden layers.

    Args:
        in_shape: (channels, height, width), or (height, width) for one channel.
        out_dim: number of outputs.
        width_factor: k.
        blocks: blocks in each stage.
        activation: see `nets.activation`; normalised.
        parametrization: "ntk" (readout / sqrt(64 k)) or "mean_field" (readout / (64 k)).
        seed: the parameters' seed.
        dtype: floating-point type of the parameters.
        device: where the parameters live.

    Raises:
        ValueError: unknown names, sizes that are not positive.

    Example:
        >>> net = WideResNet((3, 32, 32), width_factor=1)
        >>> sum(m.kernel_size == (3, 3) for m in net.modules() if isinstance(m, nn.Conv2d))
        25
    """

    def __init__(
        self,
        in_shape: Shape,
        out_dim: int = 1,
        *,
        width_factor: int = 10,
        blocks: int = 4,
        activation: str | Function = "softplus_5",
        parametrization: str = "ntk",
        seed: int = 0,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str = "cpu",
    ) -> None:
        super().__init__(in_shape, out_dim)
        width_factor = positive_int("width_factor", width_factor)
        per_stage = positive_int("blocks", blocks)
        self.stem = ScaledConv2d(self.in_shape[0], _STEM, 3, 1, 1, device="meta")
        channels, made = _STEM, []
        for stage in range(3):
            for position in range(per_stage):
                out = _STEM * width_factor * 2**stage
                stride = 2 if stage > 0 and position == 0 else 1
                made.append(_PreactivationBlock(channels, out, stride, activation))
                channels = out
        self.blocks = nn.Sequential(*made)
        self.activation = make_activation(activation)
        self.readout = readout(channels, self.out_dim, parametrization, bias=True)
        self._start([(self, "normal")], seed=seed, dtype=dtype, device=device)

    def forward(self, x: Tensor) -> Tensor:
        """Outputs (n, out_dim) of images (n, channels, height, width)."""
        z = self.blocks(self.stem(self._images(x)))
        return self.readout(self.activation(z).mean((2, 3)))
