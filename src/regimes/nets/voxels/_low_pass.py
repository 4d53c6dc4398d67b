"""Smoothing before fields are thinned out [Weiler 2018, sec. 4.4.2]."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from regimes._check import positive_int, real


def low_pass(field: Tensor, scale: float, stride: int = 1) -> Tensor:
    """Every channel smoothed by a Gaussian, then every `stride`-th voxel of each axis.

    sigma = sqrt(scale^2 - 1) / 2 in voxels, on 1 + 5 sigma voxels made odd, weights that sum to 1,
    zeros outside. Thinning out by a factor wants a scale of that factor.

    Args:
        field: (n, channels, s, s, s).
        scale: how many voxels become one, at least 1; 1 does not smooth.
        stride: step of the voxels that are kept.

    Returns:
        The field on ceil(s / stride) voxels a side.

    Example:
        >>> low_pass(torch.ones(1, 2, 9, 9, 9), 2.0, 2).shape
        torch.Size([1, 2, 5, 5, 5])
    """
    width = real("scale", scale)
    if width < 1:
        raise ValueError(f"scale must be at least 1, got {scale!r}")
    step = positive_int("stride", stride)
    sigma = 0.5 * (width**2 - 1) ** 0.5
    size = int(1 + 5 * sigma)
    size += size % 2 == 0
    away = torch.arange(size, device=field.device, dtype=field.dtype) - size // 2
    weights = torch.exp(-(away**2) / (2 * sigma**2)) if sigma else torch.ones_like(away)
    weights = weights / weights.sum()
    flat = field.flatten(0, 1).unsqueeze(1)
    for axis in range(3):  # a Gaussian is a product of three
        shape, steps, pads = [1, 1, 1], [1, 1, 1], [0, 0, 0]
        shape[axis], steps[axis], pads[axis] = size, step, size // 2
        flat = nn.functional.conv3d(flat, weights.view(1, 1, *shape), stride=steps, padding=pads)
    return flat.view(*field.shape[:2], *flat.shape[-3:])


class LowPass(nn.Module):
    """`low_pass` as a layer.

    Args:
        stride: step of the voxels that are kept.
        scale: of the smoothing; None is the stride.
    """

    def __init__(self, stride: int = 2, scale: float | None = None) -> None:
        super().__init__()
        self.stride = positive_int("stride", stride)
        self.scale = float(self.stride if scale is None else scale)

    def forward(self, field: Tensor) -> Tensor:
        """The field, smoothed and thinned out."""
        return low_pass(field, self.scale, self.stride)

    def extra_repr(self) -> str:
        """Stride and scale."""
        return f"stride={self.stride}, scale={self.scale:g}"
