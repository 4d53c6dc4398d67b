"""AlexNet [Krizhevsky 2012] in the form for small images that [Petrini 2021, tab. 1] uses."""

from __future__ import annotations

from typing import final

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from regimes._check import positive_int
from regimes.nets._activations import activation as make_activation
from regimes.nets._initialisers import Initialiser
from regimes.nets._network import ImageNetwork, Shape

# channels over the base, stride, and whether a 2x2 pool follows
_CONVOLUTIONS = ((1, 2, True), (3, 1, True), (6, 1, False), (4, 1, False), (4, 1, True))
_SIDE = 32


@final
class AlexNet(ImageNetwork):
    """Five 3x3 convolutions with three 2x2 max-pools, then three linear layers with dropout.

    Images of 32 x 32 pixels; smaller ones are padded with zeros on all sides.

    Args:
        in_shape: (channels, height, width), or (height, width) for one channel; sides at most 32.
        out_dim: number of outputs.
        base: channels of the first convolution (64).
        hidden: neurons of each hidden linear layer (4096).
        dropout: probability of an input of the first two linear layers to be left out.
        init: initialiser, see `nets.initialise`.
        seed: the parameters' seed.
        dtype: floating-point type of the parameters.
        device: where the parameters live.

    Raises:
        ValueError: images above 32 x 32, sizes that are not positive, a dropout outside [0, 1).

    Example:
        >>> AlexNet((3, 32, 32), 10, device="meta").n_params
        23272266
    """

    def __init__(
        self,
        in_shape: Shape,
        out_dim: int = 1,
        *,
        base: int = 64,
        hidden: int = 4096,
        dropout: float = 0.5,
        init: str | Initialiser = "kaiming",
        seed: int = 0,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str = "cpu",
    ) -> None:
        super().__init__(in_shape, out_dim)
        channels, *sides = self.in_shape
        if max(sides) > _SIDE:
            raise ValueError(
                f"AlexNet takes images of at most {_SIDE} x {_SIDE} pixels, got {sides[0]} x "
                f"{sides[1]}; crop or shrink them"
            )
        if not 0 <= dropout < 1:
            raise ValueError(f"dropout is a probability below one, got {dropout!r}")
        base, hidden = positive_int("base", base), positive_int("hidden", hidden)
        left, top = (_SIDE - sides[1]) // 2, (_SIDE - sides[0]) // 2
        self.padding = (left, _SIDE - sides[1] - left, top, _SIDE - sides[0] - top)
        layers: list[nn.Module] = []
        for growth, stride, pooled in _CONVOLUTIONS:
            out = growth * base
            layers += [nn.Conv2d(channels, out, 3, stride, 1, device="meta")]
            layers += [make_activation("relu", normalize=False)]
            layers += [nn.MaxPool2d(2)] if pooled else []
            channels = out
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Sequential(
            nn.Flatten(),
            nn.Dropout(dropout),
            nn.Linear(channels * 4, hidden, device="meta"),
            make_activation("relu", normalize=False),
            nn.Dropout(dropout),
            nn.Linear(hidden, hidden, device="meta"),
            make_activation("relu", normalize=False),
            nn.Linear(hidden, self.out_dim, device="meta"),
        )
        self._start([(self, init)], seed=seed, dtype=dtype, device=device)

    def forward(self, x: Tensor) -> Tensor:
        """Outputs (n, out_dim) of images (n, channels, height, width)."""
        return self.classifier(self.features(F.pad(self._images(x), self.padding)))
