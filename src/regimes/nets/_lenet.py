"""LeNet5, as [Ortiz-Jimenez 2021, app. A] uses it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import torch
from torch import Tensor, nn

from regimes._check import choose, positive_int
from regimes.nets._activations import Function
from regimes.nets._activations import activation as make_activation
from regimes.nets._initialisers import Initialiser
from regimes.nets._network import ImageNetwork, Shape

_PADDING = {"same": 2, "valid": 0}
_POOLS: dict[str, type[nn.AvgPool2d] | type[nn.MaxPool2d]] = {
    "average": nn.AvgPool2d,
    "max": nn.MaxPool2d,
}


@final
class LeNet5(ImageNetwork):
    """conv 5x5, pool, conv 5x5, pool, three linear layers; biases everywhere.

    conv(6) - act - 2x2 pool - conv(16) - act - 2x2 pool - 120 - act - 84 - act - out_dim. The
    activation is plain, not normalised.

    Args:
        in_shape: (channels, height, width), or (height, width) for one channel.
        out_dim: number of outputs.
        padding: "same" pads by 2 (the public code, default); "valid" is the classic network.
        pool: "average", or "max" as in [Petrini 2021].
        features: channels of the two convolutions, widths of the two hidden linear layers.
        activation: see `nets.activation`.
        init: initialiser, see `nets.initialise`.
        seed: the parameters' seed.
        dtype: floating-point type of the parameters.
        device: where the parameters live.

    Raises:
        ValueError: images too small for the padding, unknown names, sizes that are not positive.

    Example:
        >>> LeNet5((3, 32, 32)).n_params
        136121
    """

    def __init__(
        self,
        in_shape: Shape,
        out_dim: int = 1,
        *,
        padding: str = "same",
        pool: str = "average",
        features: Sequence[int] = (6, 16, 120, 84),
        activation: str | Function = "relu",
        init: str | Initialiser = "lecun",
        seed: int = 0,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str = "cpu",
    ) -> None:
        super().__init__(in_shape, out_dim)
        pad = choose(padding, _PADDING, "padding")
        pool_type = choose(pool, _POOLS, "pool")
        if len(features) != 4:
            raise ValueError(f"features needs 4 sizes, got {features!r}")
        c1, c2, h1, h2 = (positive_int("every size in features", size) for size in features)
        channels, *sides = self.in_shape
        for _ in range(2):  # each stage: 5x5 convolution, then halving
            sides = [(side + 2 * pad - 4) // 2 for side in sides]
        if min(sides) < 1:
            least = 4 if padding == "same" else 16
            raise ValueError(
                f"LeNet5 with padding={padding!r} needs images of at least {least} x {least}, "
                f"got {self.in_shape[1]} x {self.in_shape[2]}"
            )

        def act() -> nn.Module:
            return make_activation(activation, normalize=False)

        self.features = nn.Sequential(
            nn.Conv2d(channels, c1, 5, padding=pad, device="meta"),
            act(),
            pool_type(2),
            nn.Conv2d(c1, c2, 5, padding=pad, device="meta"),
            act(),
            pool_type(2),
        )
        self.classifier = nn.Sequential(
            nn.Linear(c2 * sides[0] * sides[1], h1, device="meta"),
            act(),
            nn.Linear(h1, h2, device="meta"),
            act(),
            nn.Linear(h2, self.out_dim, device="meta"),
        )
        self._start([(self, init)], seed=seed, dtype=dtype, device=device)

    def forward(self, x: Tensor) -> Tensor:
        """Outputs (n, out_dim) of images (n, channels, height, width)."""
        return self.classifier(self.features(self._images(x)).flatten(1))
