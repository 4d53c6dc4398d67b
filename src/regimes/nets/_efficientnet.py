"""EfficientNets [Tan 2019b] in the form for small images that [Petrini 2021, tab. 1] uses."""

from __future__ import annotations

import math
from typing import final

import torch
from torch import Tensor, nn

from regimes._check import positive_int
from regimes.nets._initialisers import Initialiser
from regimes.nets._network import ImageNetwork, Shape

# of B0: expansion, channels, repeats, kernel, stride of each stage
_STAGES = (
    (1, 16, 1, 3, 1),
    (6, 24, 2, 3, 2),
    (6, 40, 2, 5, 2),
    (6, 80, 3, 3, 2),
    (6, 112, 3, 5, 1),
    (6, 192, 4, 5, 2),
    (6, 320, 1, 3, 1),
)
_SCALES = {"b0": (1.0, 1.0), "b2": (1.1, 1.2)}  # of channels and of repeats


@final
class _SqueezeExcite(nn.Module):
    """Every channel times a gate in (0, 1) computed from the means of all channels."""

    def __init__(self, channels: int, squeezed: int) -> None:
        super().__init__()
        self.squeeze = nn.Conv2d(channels, squeezed, 1, device="meta")
        self.activation = nn.SiLU()
        self.excite = nn.Conv2d(squeezed, channels, 1, device="meta")
        self.gate = nn.Sigmoid()

    def forward(self, x: Tensor) -> Tensor:
        mean = x.mean((2, 3), keepdim=True)
        return x * self.gate(self.excite(self.activation(self.squeeze(mean))))


@final
class _DropConnect(nn.Module):
    """In training, leaves the residual of some samples out, and enlarges that of the others."""

    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p

    def forward(self, x: Tensor) -> Tensor:
        if not self.training or self.p == 0:
            return x
        kept = torch.rand(len(x), 1, 1, 1, device=x.device) >= self.p
        return x * (kept.to(x.dtype) / (1 - self.p))

    def extra_repr(self) -> str:
        return f"p={self.p:g}"


def _normalised(c_in: int, c_out: int, kernel: int, stride: int = 1, groups: int = 1) -> list:
    return [
        nn.Conv2d(
            c_in, c_out, kernel, stride, kernel // 2, groups=groups, bias=False, device="meta"
        ),
        nn.BatchNorm2d(c_out, device="meta"),
    ]


@final
class _InvertedResidual(nn.Module):
    """1x1 expansion, depthwise, squeeze-excite, 1x1 projection; plus x where the shapes allow."""

    def __init__(
        self, c_in: int, c_out: int, expansion: int, kernel: int, stride: int, drop: float
    ) -> None:
        super().__init__()
        middle = expansion * c_in
        layers: list[nn.Module] = []
        if expansion > 1:
            layers += [*_normalised(c_in, middle, 1), nn.SiLU()]
        layers += [*_normalised(middle, middle, kernel, stride, groups=middle), nn.SiLU()]
        layers += [_SqueezeExcite(middle, max(1, c_in // 4)), *_normalised(middle, c_out, 1)]
        self.skip = stride == 1 and c_in == c_out
        if self.skip:
            layers += [_DropConnect(drop)]
        self.residual = nn.Sequential(*layers)

    def forward(self, x: Tensor) -> Tensor:
        found = self.residual(x)
        return x + found if self.skip else found

    def extra_repr(self) -> str:
        return f"skip={self.skip}"


@final
class EfficientNet(ImageNetwork):
    """3x3 stem, seven stages of inverted residuals with squeeze-excite, global mean, linear.

    The form for small images: stem of stride 1, no layer between the last stage and the readout.
    Channels and repeats of B0 are 16, 24, 40, 80, 112, 192, 320 and 1, 2, 2, 3, 3, 4, 1; B2 has 1.1
    times the channels (rounded to eights) and 1.2 times the repeats (rounded up). Swish throughout.

    Args:
        in_shape: (channels, height, width), or (height, width) for one channel.
        out_dim: number of outputs.
        variant: "b0" or "b2".
        base: channels of the stem (32), to which all others are in proportion.
        drop: probability of dropout before the readout, and of residuals to be left out, which
            grows along the network up to this value; both in training only.
        init: initialiser, see `nets.initialise`.
        seed: the parameters' seed.
        dtype: floating-point type of the parameters.
        device: where the parameters live.

    Raises:
        ValueError: unknown variant, a drop outside [0, 1), sizes that are not positive.

    Example:
        >>> EfficientNet((3, 32, 32), 10, device="meta").n_params
        3598598
    """

    def __init__(
        self,
        in_shape: Shape,
        out_dim: int = 1,
        *,
        variant: str = "b0",
        base: int = 32,
        drop: float = 0.2,
        init: str | Initialiser = "kaiming",
        seed: int = 0,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str = "cpu",
    ) -> None:
        super().__init__(in_shape, out_dim)
        if variant not in _SCALES:
            raise ValueError(f"variant must be one of {list(_SCALES)}, got {variant!r}")
        if not 0 <= drop < 1:
            raise ValueError(f"drop is a probability below one, got {drop!r}")
        wider, deeper = _SCALES[variant]
        wider *= positive_int("base", base) / 32
        channels = _rounded(32 * wider)
        self.stem = nn.Sequential(*_normalised(self.in_shape[0], channels, 3), nn.SiLU())
        counts = [math.ceil(deeper * stage[2]) for stage in _STAGES]
        blocks: list[nn.Module] = []
        for (expansion, width, _, kernel, stride), count in zip(_STAGES, counts, strict=True):
            for position in range(count):
                out = _rounded(width * wider)
                left_out = drop * len(blocks) / sum(counts)
                first = stride if position == 0 else 1
                blocks.append(_InvertedResidual(channels, out, expansion, kernel, first, left_out))
                channels = out
        self.blocks = nn.Sequential(*blocks)
        self.dropout = nn.Dropout(drop)
        self.classifier = nn.Linear(channels, self.out_dim, device="meta")
        self._start([(self, init)], seed=seed, dtype=dtype, device=device)

    def forward(self, x: Tensor) -> Tensor:
        """Outputs (n, out_dim) of images (n, channels, height, width)."""
        found = self.blocks(self.stem(self._images(x))).mean((2, 3))
        return self.classifier(self.dropout(found))


def _rounded(channels: float) -> int:
    """To the nearest multiple of eight, but not below nine tenths."""
    found = max(8, int(channels + 4) // 8 * 8)
    return found if found >= 0.9 * channels else found + 8
