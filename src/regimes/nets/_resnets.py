"""Residual networks of other depths [He 2016], in their form for small images."""

from __future__ import annotations

from typing import final

import torch
from torch import Tensor, nn

from regimes._check import positive_int
from regimes.nets._activations import activation as make_activation
from regimes.nets._initialisers import Initialiser
from regimes.nets._network import ImageNetwork, Shape
from regimes.nets._resnet import BasicBlock, convolution

# blocks in each of the four stages, and whether they are bottlenecks
_STAGES = {
    10: ((1, 1, 1, 1), False),
    34: ((3, 4, 6, 3), False),
    50: ((3, 4, 6, 3), True),
    101: ((3, 4, 23, 3), True),
}
_EXPANSION = 4


@final
class _Bottleneck(nn.Module):
    """relu(conv1(relu(conv3(relu(conv1(x))))) + shortcut(x)), four times wider at its end."""

    def __init__(self, c_in: int, middle: int, stride: int) -> None:
        super().__init__()
        out = _EXPANSION * middle
        self.residual = nn.Sequential(
            *convolution(c_in, middle, 1, 1, True),
            make_activation("relu", normalize=False),
            *convolution(middle, middle, 3, stride, True),
            make_activation("relu", normalize=False),
            *convolution(middle, out, 1, 1, True),
        )
        self.shortcut: nn.Module = nn.Identity()
        if stride != 1 or c_in != out:
            self.shortcut = nn.Sequential(*convolution(c_in, out, 1, stride, True))
        self.activation = make_activation("relu", normalize=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.activation(self.residual(x) + self.shortcut(x))


@final
class ResNet(ImageNetwork):
    """3x3 stem, four stages (strides 1, 2, 2, 2) of residual blocks, global mean, linear.

    With batch norm after every convolution and no pooling at the stem. Variants 34, 50 and 101 are
    the paper's; 10 has one basic block a stage and is small enough for a CPU. `ResNet18` has more
    options.

    Args:
        in_shape: (channels, height, width), or (height, width) for one channel.
        out_dim: number of outputs.
        variant: 10, 34, 50 or 101 layers.
        base: channels of the first stage (64).
        init: initialiser, see `nets.initialise`.
        seed: the parameters' seed.
        dtype: floating-point type of the parameters.
        device: where the parameters live.

    Raises:
        ValueError: unknown variant, sizes that are not positive.

    Example:
        >>> ResNet((3, 32, 32), 10, variant=10, base=8).n_params
        78002
    """

    def __init__(
        self,
        in_shape: Shape,
        out_dim: int = 1,
        *,
        variant: int = 34,
        base: int = 64,
        init: str | Initialiser = "kaiming",
        seed: int = 0,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str = "cpu",
    ) -> None:
        super().__init__(in_shape, out_dim)
        if variant not in _STAGES:
            raise ValueError(
                f"variant must be one of {list(_STAGES)}, got {variant!r}; ResNet18 is a class"
            )
        channels = positive_int("base", base)
        counts, bottleneck = _STAGES[variant]
        self.stem = nn.Sequential(
            *convolution(self.in_shape[0], channels, 3, 1, True),
            make_activation("relu", normalize=False),
        )
        blocks: list[nn.Module] = []
        for stage, count in enumerate(counts):
            for position in range(count):
                middle = base * 2**stage
                stride = 2 if stage > 0 and position == 0 else 1
                if bottleneck:
                    blocks.append(_Bottleneck(channels, middle, stride))
                else:
                    blocks.append(BasicBlock(channels, middle, stride, True, "relu"))
                channels = middle * (_EXPANSION if bottleneck else 1)
        self.blocks = nn.Sequential(*blocks)
        self.classifier = nn.Linear(channels, self.out_dim, device="meta")
        self._start([(self, init)], seed=seed, dtype=dtype, device=device)

    def forward(self, x: Tensor) -> Tensor:
        """Outputs (n, out_dim) of images (n, channels, height, width)."""
        return self.classifier(self.blocks(self.stem(self._images(x))).mean((2, 3)))
