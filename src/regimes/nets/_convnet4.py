"""The convolutional network with four hidden layers of [Geiger 2020, sec. 7]."""

from __future__ import annotations

from typing import final

import torch
from torch import Tensor, nn

from regimes._check import positive_int
from regimes.nets._activations import Function
from regimes.nets._activations import activation as make_activation
from regimes.nets._layers import ScaledConv2d
from regimes.nets._network import ImageNetwork, Shape
from regimes.nets._readout import readout


@final
class ConvNet4(ImageNetwork):
    """Four convolutions with h channels, strides 2, 1, 2, 1, spatial mean, linear readout.

    No biases; every convolution is W / sqrt(c_in * kernel area) with W ~ N(0, 1), padding 1, then
    the normalised activation.

    Args:
        in_shape: (channels, height, width), or (height, width) for one channel.
        out_dim: number of outputs.
        width: channels h (50).
        kernel_size: 5, or 3 for small images.
        activation: see `nets.activation`.
        parametrization: "ntk" (readout / sqrt(h)) or "mean_field" (readout / h).
        seed: the parameters' seed.
        dtype: floating-point type of the parameters.
        device: where the parameters live.

    Raises:
        ValueError: images too small for the kernel, unknown names, sizes that are not positive.

    Example:
        >>> ConvNet4((3, 32, 32)).n_params  # 25 * 50 * (3 + 50 + 50 + 50) + 50
        191300
    """

    def __init__(
        self,
        in_shape: Shape,
        out_dim: int = 1,
        *,
        width: int = 50,
        kernel_size: int = 5,
        activation: str | Function = "softplus_5",
        parametrization: str = "ntk",
        seed: int = 0,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str = "cpu",
    ) -> None:
        super().__init__(in_shape, out_dim)
        width = positive_int("width", width)
        kernel = positive_int("kernel_size", kernel_size)
        channels, *sides = self.in_shape
        layers: list[nn.Module] = []
        for stride in (2, 1, 2, 1):
            if min(sides) + 2 < kernel:
                raise ValueError(
                    f"images of {self.in_shape[1]} x {self.in_shape[2]} vanish under four "
                    f"convolutions with kernel_size={kernel}; use larger images or kernel_size=3"
                )
            sides = [(side + 2 - kernel) // stride + 1 for side in sides]
            layers += [
                ScaledConv2d(channels, width, kernel, stride, 1, bias=False, device="meta"),
                make_activation(activation),
            ]
            channels = width
        self.features = nn.Sequential(*layers)
        self.readout = readout(width, self.out_dim, parametrization, bias=False)
        self._start([(self, "normal")], seed=seed, dtype=dtype, device=device)

    def forward(self, x: Tensor) -> Tensor:
        """Outputs (n, out_dim) of images (n, channels, height, width)."""
        return self.readout(self.features(self._images(x)).mean((2, 3)))
