"""Where the patches of a convolution overlap: which pixels its positions share.

Two patches are multiplied pixel by pixel in the same order. With X[u, v] the product of the pixels
u and v of two samples and G[p, q] that of their output gradients at the positions p and q, the Gram
of a weight's gradients is therefore, summed over the taps k of the kernel,

    K = sum_{p,q} G[p, q] sum_k X[s p + d k - pad, s q + d k - pad]

for a stride s and a dilation d. A tap meets only pixels of one remainder modulo the stride, so the
pixels are sorted by it into phases: tap k belongs to phase `r = (d k - pad) mod s` and is shifted
by `e = (d k - pad - r) / s` there, and pixels of different phases are never multiplied.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

Pair = tuple[int, int]


class Tap(NamedTuple):
    """One weight of the kernel: the phase whose pixels it meets, and how far they are shifted."""

    phase: int
    down: int
    right: int


@dataclass(frozen=True)
class Overlap:
    """Geometry of a convolution along two axes; one of a single axis has a first axis of length 1.

    >>> Overlap((4, 4), (8, 8), (3, 3), (2, 2), (1, 1), (1, 1)).grid  # of each of the four phases
    (4, 4)
    """

    positions: Pair
    pixels: Pair
    kernel: Pair
    stride: Pair
    padding: Pair
    dilation: Pair

    @property
    def grid(self) -> Pair:
        """Pixels of a phase along each axis, those beyond the edge included."""
        (h, w), (s, t) = self.pixels, self.stride
        return -(-h // s), -(-w // t)

    @property
    def spots(self) -> int:
        """T, positions of a sample."""
        return self.positions[0] * self.positions[1]

    @property
    def cells(self) -> int:
        """Pixels of a phase."""
        return self.grid[0] * self.grid[1]

    @property
    def phases(self) -> int:
        """Remainders of both axes."""
        return self.stride[0] * self.stride[1]

    @cached_property
    def taps(self) -> tuple[Tap, ...]:
        """All weights of the kernel."""
        found = []
        for i, j in itertools.product(range(self.kernel[0]), range(self.kernel[1])):
            down, r = divmod(i * self.dilation[0] - self.padding[0], self.stride[0])
            right, t = divmod(j * self.dilation[1] - self.padding[1], self.stride[1])
            found.append(Tap(r * self.stride[1] + t, down, right))
        return tuple(found)

    @cached_property
    def met(self) -> tuple[int, ...]:
        """The phases that any tap meets."""
        return tuple(sorted({tap.phase for tap in self.taps}))

    @property
    def entries(self) -> int:
        """Products of pixels for a pair of samples."""
        return len(self.met) * self.cells**2

    def by_phase(self, x: Tensor) -> Tensor:
        """Pixels (n, channels, *space) sorted into (phases, cells, n, channels), zeros beyond."""
        n, channels = x.shape[:2]
        x = x.reshape(n, channels, *self.pixels)
        (a, b), (s, t), (h, w) = self.grid, self.stride, self.pixels
        x = F.pad(x, (0, b * t - w, 0, a * s - h)) if (a * s, b * t) != (h, w) else x
        return (
            x.view(n, channels, a, s, b, t)
            .permute(3, 5, 2, 4, 0, 1)
            .reshape(self.phases, self.cells, n, channels)
        )

    def contracted(self, x: Tensor, g: Tensor) -> Tensor:
        """The formula above, with plain operations.

        Args:
            x: products of pixels (phases, cells, n, cells, k); anything where no tap meets a phase.
            g: products of output gradients, (T, n, outputs, T, k).

        Returns:
            K, (n, outputs, k).
        """
        (h, w), (a, b) = self.positions, self.grid
        n, k = g.shape[1], g.shape[4]
        x = x.view(self.phases, a, b, n, a, b, k)
        summed = x.new_zeros(h, w, n, h, w, k)
        for phase, down, right in self.taps:
            y, into = _span(h, a, down)
            z, across = _span(w, b, right)
            summed[into, across, :, into, across] += x[phase, y, z, :, y, z]
        pairs = summed.view(h * w, n, 1, h * w, k) * g
        return pairs.sum((0, 3))


def _span(positions: int, cells: int, shift: int) -> tuple[slice, slice]:
    """The cells that the shifted positions meet, and which positions these are."""
    low, high = max(0, -shift), max(0, min(positions, cells - shift))
    low = min(low, high)
    return slice(low + shift, high + shift), slice(low, high)


def as_half(rows: Tensor) -> tuple[Tensor, Tensor]:
    """Rows (places, n, width) in float16, scaled sample by sample, and the scales (n,) in float32.

    No row is longer than 128 then, so that products of two stay below 2^14. Of the largest entry of
    a sample 3e-8 / 128 times the root of the width is lost at most.
    """
    largest = rows.abs().amax((0, 2)).float()
    scale = torch.where(largest > 0, largest * (rows.shape[2] ** 0.5 / 128), 1.0)
    return (rows.float() / scale.unsqueeze(1)).half(), scale
