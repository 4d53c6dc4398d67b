"""ResNet18 [He 2016] in its form for small images."""

from __future__ import annotations

from typing import final

import torch
from torch import Tensor, nn

from regimes._check import positive_int
from regimes.nets._activations import Function
from regimes.nets._activations import activation as make_activation
from regimes.nets._initialisers import Initialiser
from regimes.nets._network import ImageNetwork, Shape


def convolution(c_in: int, c_out: int, kernel: int, stride: int, norm: bool) -> list[nn.Module]:
    """A convolution that keeps the size at stride 1, with batch norm or else with a bias."""
    layer = nn.Conv2d(
        c_in, c_out, kernel, stride, padding=kernel // 2, bias=not norm, device="meta"
    )
    return [layer, nn.BatchNorm2d(c_out, device="meta")] if norm else [layer]


@final
class BasicBlock(nn.Module):
    """act(conv3(act(conv3(x))) + shortcut(x)), the shortcut a 1x1 convolution if shapes change."""

    def __init__(
        self, c_in: int, c_out: int, stride: int, norm: bool, activation: str | Function
    ) -> None:
        super().__init__()
        self.residual = nn.Sequential(
            *convolution(c_in, c_out, 3, stride, norm),
            make_activation(activation, normalize=False),
            *convolution(c_out, c_out, 3, 1, norm),
        )
        self.shortcut: nn.Module = nn.Identity()
        if stride != 1 or c_in != c_out:
            self.shortcut = nn.Sequential(*convolution(c_in, c_out, 1, stride, norm))
        self.activation = make_activation(activation, normalize=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.activation(self.residual(x) + self.shortcut(x))


@final
class ResNet18(ImageNetwork):
    """3x3 stem, four stages of two basic blocks (strides 1, 2, 2, 2), global mean, linear.

    The stages have 1, 2, 4, 8 times `base` channels. There is no pooling at the stem. Batch norm
    keeps running statistics as 0.9 old + 0.1 batch (torch's momentum 0.1) with eps 1e-5; like any
    torch module the network starts in training mode, where the samples of a batch interact: call
    `.eval()` for a function of single samples.

    Args:
        in_shape: (channels, height, width), or (height, width) for one channel.
        out_dim: number of outputs.
        base: channels of the first stage (64).
        batch_norm: batch norm after every convolution; without it convolutions have biases.
        zero_init_residual: start the last batch-norm scale of every block at 0 instead of
            1, as the programs of [Ortiz-Jimenez 2021] do.
        activation: see `nets.activation`; plain, not normalised.
        init: initialiser; "kaiming", or "lecun" for networks like those of [Ortiz-Jimenez 2021].
        seed: the parameters' seed.
        dtype: floating-point type of the parameters.
        device: where the parameters live.

    Raises:
        ValueError: `zero_init_residual` without batch norm, sizes that are not positive.

    Example:
        >>> ResNet18((3, 32, 32), 10).n_params
        11173962
    """

    def __init__(
        self,
        in_shape: Shape,
        out_dim: int = 1,
        *,
        base: int = 64,
        batch_norm: bool = True,
        zero_init_residual: bool = False,
        activation: str | Function = "relu",
        init: str | Initialiser = "kaiming",
        seed: int = 0,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str = "cpu",
    ) -> None:
        super().__init__(in_shape, out_dim)
        if zero_init_residual and not batch_norm:
            raise ValueError("zero_init_residual sets batch-norm scales: it needs batch_norm=True")
        channels = positive_int("base", base)
        self.stem = nn.Sequential(
            *convolution(self.in_shape[0], channels, 3, 1, batch_norm),
            make_activation(activation, normalize=False),
        )
        blocks = []
        for stage in range(4):
            for position in range(2):
                out = base * 2**stage
                stride = 2 if stage > 0 and position == 0 else 1
                blocks.append(BasicBlock(channels, out, stride, batch_norm, activation))
                channels = out
        self.blocks = nn.Sequential(*blocks)
        self.classifier = nn.Linear(channels, self.out_dim, device="meta")
        self._start([(self, init)], seed=seed, dtype=dtype, device=device)
        if zero_init_residual:
            for block in blocks:
                last = block.residual[-1]
                nn.init.zeros_(last.get_parameter("weight"))

    def forward(self, x: Tensor) -> Tensor:
        """Outputs (n, out_dim) of images (n, channels, height, width)."""
        return self.classifier(self.blocks(self.stem(self._images(x))).mean((2, 3)))
