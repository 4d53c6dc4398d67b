"""The usual augmentation of small images: random shifts and mirrors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import final

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from regimes._check import positive_int, shown
from regimes._random import generator


@final
class ShiftAugment(nn.Module):
    """Shifts every image by up to so many pixels each way, and mirrors half of them if asked.

    The frame is padded with zeros and a window cut out at random [Petrini 2021, app. E.1]. It takes
    a batch (n, channels, height, width), on whichever device it is.

    >>> ShiftAugment(4, mirror=True)(torch.rand(5, 3, 32, 32)).shape
    torch.Size([5, 3, 32, 32])
    """

    def __init__(self, pixels: int = 4, *, mirror: bool = False, seed: int = 0) -> None:
        """Say how far.

        Args:
            pixels: largest shift.
            mirror: whether left and right are exchanged in half of the images.
            seed: of all draws.
        """
        super().__init__()
        self.pixels, self.mirror = positive_int("pixels", pixels, least=0), mirror
        self._draws = generator(seed, "shifts")

    def forward(self, images: Tensor) -> Tensor:
        """The shifted images, shaped like the given ones."""
        if not isinstance(images, Tensor) or images.ndim != 4:
            raise ValueError(
                f"images must be a tensor (n, channels, height, width), got {shown(images)}"
            )
        n, _, height, width = images.shape
        drawn = torch.randint(2 * self.pixels + 1, (2, n), generator=self._draws)
        turned = torch.rand(n, generator=self._draws) < 0.5
        columns = torch.arange(width).expand(n, width)
        if self.mirror:
            columns = torch.where(turned[:, None], columns.flip(1), columns)
        rows = (torch.arange(height) + drawn[0, :, None]).to(images.device, non_blocking=True)
        columns = (columns + drawn[1, :, None]).to(images.device, non_blocking=True)
        padded = F.pad(images, (self.pixels,) * 4).permute(0, 2, 3, 1)
        which = torch.arange(n, device=images.device)[:, None, None]
        return padded[which, rows[:, :, None], columns[:, None, :]].permute(0, 3, 1, 2)

    def kept(self) -> dict[str, Tensor]:
        """Where the draws stand, for a checkpoint."""
        return {"draws": self._draws.get_state()}

    def restore(self, kept: Mapping[str, Tensor]) -> None:
        """The inverse of `kept`."""
        self._draws.set_state(kept["draws"].clone())

    def extra_repr(self) -> str:
        """What a printed module shows."""
        return f"{self.pixels} pixels{', mirrored' if self.mirror else ''}"
