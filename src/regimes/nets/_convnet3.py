"""The convolutional network with three hidden layers of [Geiger 2020b, sec. 8]."""

from __future__ import annotations

from typing import final

import torch
from torch import Tensor, nn

from regimes._check import positive_int
from regimes.nets._activations import Function
from regimes.nets._activations import activation as make_activation
from regimes.nets._network import ImageNetwork, Shape


@final
class ConvNet3(ImageNetwork):
    """Three convolutions with f channels each, and a linear layer on what is left of the image.

    The paper leaves kernels and pooling open. Here: kernels 3 x 3 with padding 1, biases, the
    activation, and after each a 2 x 2 maximum. Weights start by Xavier, biases at 0.

    Args:
        in_shape: (channels, height, width), or (height, width) for one channel; sides at least 8.
        out_dim: number of outputs.
        width: channels f.
        activation: see `nets.activation`; taken plain.
        seed: the parameters' seed.
        dtype: floating-point type of the parameters.
        device: where the parameters live.

    Raises:
        ValueError: images too small for three poolings, sizes that are not positive.

    Example:
        >>> ConvNet3((3, 32, 32), 10, width=8).n_params  # 27 f + 2 * 9 f^2 + 3 f + 10 * (16 f + 1)
        2682
    """

    def __init__(
        self,
        in_shape: Shape,
        out_dim: int = 10,
        *,
        width: int = 64,
        activation: str | Function = "relu",
        seed: int = 0,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str = "cpu",
    ) -> None:
        super().__init__(in_shape, out_dim)
        width = positive_int("width", width)
        channels, *sides = self.in_shape
        if min(sides) < 8:
            raise ValueError(
                f"images of {sides[0]} x {sides[1]} vanish under three poolings; use sides of 8 at "
                "least"
            )
        layers: list[nn.Module] = []
        for _ in range(3):
            layers += [
                nn.Conv2d(channels, width, 3, padding=1, device="meta"),
                make_activation(activation, normalize=False),
                nn.MaxPool2d(2),
            ]
            channels, sides = width, [side // 2 for side in sides]
        self.features = nn.Sequential(*layers)
        self.readout = nn.Linear(width * sides[0] * sides[1], self.out_dim, device="meta")
        self._start([(self, "xavier")], seed=seed, dtype=dtype, device=device)

    def forward(self, x: Tensor) -> Tensor:
        """Outputs (n, out_dim) of images (n, channels, height, width)."""
        found: Tensor = self.readout(self.features(self._images(x)).flatten(1))
        return found
