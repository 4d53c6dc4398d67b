"""What the networks on voxels share: inputs (n, channels, s, s, s), layers made where they stay."""

from __future__ import annotations

from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from regimes.nets._network import Network, Shape, shape_of

M = TypeVar("M", bound=nn.Module)


def unfilled(kind: type[M], *args: Any, **options: Any) -> M:
    """A layer of torch whose parameters are memory without values: nothing is drawn for it."""
    return nn.utils.skip_init(kind, *args, **options)


class VoxelNetwork(Network):
    """A network on grids of voxels; any side is taken, in_shape says what it was made for.

    Steerable layers carry bases of kernels, so they are made where they stay and only their
    parameters are drawn, from one generator of the seed.
    """

    def __init__(self, in_shape: Shape, out_dim: int) -> None:
        sizes = shape_of(in_shape)
        if len(sizes) == 3:
            sizes = (1, *sizes)
        if len(sizes) != 4:
            raise ValueError(
                f"in_shape of a network on voxels is (channels, s, s, s) or (s, s, s), "
                f"got {in_shape!r}"
            )
        super().__init__(sizes, out_dim)

    def _start_in_place(
        self, *, seed: int, dtype: torch.dtype, device: torch.device | str, init: str = "kaiming"
    ) -> None:
        if not isinstance(dtype, torch.dtype) or not dtype.is_floating_point:
            raise ValueError(f"dtype must be a floating-point torch dtype, got {dtype!r}")
        self.to(dtype=dtype, device=device)
        self._schemes = [("", init)]
        self._draw(seed)

    def _voxels(self, x: Tensor) -> Tensor:
        self._check_dtype(x, next(self.parameters()).dtype)
        channels = self.in_shape[0]
        if x.ndim == 4 and channels == 1:
            return x.unsqueeze(1)
        if x.ndim != 5 or x.shape[1] != channels:
            raise ValueError(
                f"this network takes inputs of shape (n, {channels}, s, s, s), got {tuple(x.shape)}"
            )
        return x


class MeanOverSpace(nn.Module):
    """(n, channels, s, s, s) to (n, channels): what a rotation of the whole field leaves alone."""

    def forward(self, field: Tensor) -> Tensor:
        """The mean over all voxels."""
        return field.flatten(2).mean(2)
