"""VGG networks [Simonyan 2015] for small images, as [Baratin 2021, sec. 3.1] uses them."""

from __future__ import annotations

from typing import final

import torch
from torch import Tensor, nn

from regimes._check import positive_int
from regimes.nets._activations import Function
from regimes.nets._activations import activation as make_activation
from regimes.nets._initialisers import Initialiser
from regimes.nets._network import ImageNetwork, Shape

# convolutions in each of the five stages; channels are 1, 2, 4, 8, 8 times the base
_CONVOLUTIONS = {
    11: (1, 1, 2, 2, 2),
    13: (2, 2, 2, 2, 2),
    16: (2, 2, 3, 3, 3),
    19: (2, 2, 4, 4, 4),
}
_GROWTH = (1, 2, 4, 8, 8)


@final
class VGG(ImageNetwork):
    """Five stages of 3x3 convolutions, each ending in a 2x2 max-pool, then one linear layer.

    On 32 x 32 images the stages end in one pixel with 8 * base channels. Larger images are
    averaged over the pixels that remain, so the linear layer keeps its size; smaller ones must be
    padded to 32 x 32 by the caller.

    Args:
        in_shape: (channels, height, width), both sides at least 32.
        out_dim: number of outputs.
        variant: 11, 13, 16 or 19, the number of convolutions plus three.
        base: channels of the first stage (64).
        batch_norm: normalise after every convolution, which then has no bias.
        activation: see `nets.activation`; plain, not normalised.
        init: initialiser, see `nets.initialise`.
        seed: the parameters' seed.
        dtype: floating-point type of the parameters.
        device: where the parameters live.

    Raises:
        ValueError: unknown variant, images under 32 x 32, sizes that are not positive.

    Example:
        >>> net = VGG((3, 32, 32), 10, variant=19, base=4)
        >>> sum(isinstance(m, nn.Conv2d | nn.Linear) for m in net.modules())
        17
    """

    def __init__(
        self,
        in_shape: Shape,
        out_dim: int = 1,
        *,
        variant: int = 11,
        base: int = 64,
        batch_norm: bool = False,
        activation: str | Function = "relu",
        init: str | Initialiser = "kaiming",
        seed: int = 0,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str = "cpu",
    ) -> None:
        super().__init__(in_shape, out_dim)
        if variant not in _CONVOLUTIONS:
            raise ValueError(f"variant must be one of {list(_CONVOLUTIONS)}, got {variant!r}")
        if min(self.in_shape[1:]) < 32:
            raise ValueError(
                f"VGG halves its images five times and needs at least 32 x 32 pixels, got "
                f"{self.in_shape[1]} x {self.in_shape[2]}; pad them with torch.nn.functional.pad"
            )
        base = positive_int("base", base)
        channels = self.in_shape[0]
        layers: list[nn.Module] = []
        for count, growth in zip(_CONVOLUTIONS[variant], _GROWTH, strict=True):
            for _ in range(count):
                out = growth * base
                layers += [
                    nn.Conv2d(channels, out, 3, padding=1, bias=not batch_norm, device="meta")
                ]
                if batch_norm:
                    layers += [nn.BatchNorm2d(out, device="meta")]
                layers += [make_activation(activation, normalize=False)]
                channels = out
            layers += [nn.MaxPool2d(2)]
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Linear(channels, self.out_dim, device="meta")
        self._start([(self, init)], seed=seed, dtype=dtype, device=device)

    def forward(self, x: Tensor) -> Tensor:
        """Outputs (n, out_dim) of images (n, channels, height, width)."""
        return self.classifier(self.features(self._images(x)).mean((2, 3)))
