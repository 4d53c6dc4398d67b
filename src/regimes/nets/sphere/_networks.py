"""The networks of [Cohen 2018]: digits and shapes on the sphere, and the planar one beside them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from regimes._check import positive_int, real
from regimes._random import generator
from regimes.nets.sphere._correlation import S2Correlation, SO3Correlation
from regimes.nets.sphere._points import (
    s2_equatorial,
    s2_near_identity,
    so3_equatorial,
    so3_near_identity,
)
from regimes.nets.sphere._pool import so3_integrate, so3_max


class SphericalMNIST(nn.Module):
    """Two correlations with ReLU, the integral over rotations, and a linear layer.

    S2 1 -> 20 channels, b 30 -> 10; SO(3) 20 -> 40, b 10 -> 6; integral; linear. With 24 points on
    the sphere (8 x 3) and 72 on SO(3) (6 x 2 x 6) it has 58,550 parameters, as in
    [Cohen 2018, section 5.2]; how the 72 split over the angles is our choice.

    Args:
        bandwidths: of the input and of the two layers.
        channels: of the two layers.
        classes: number of outputs.
        max_beta: reach of the filters of both layers; below the resolution `pi/b` they see little.
        seed: seed of the parameters.
        dtype: precision.
        device: where the parameters are.

    Example:
        >>> sum(p.numel() for p in SphericalMNIST().parameters())
        58550
    """

    def __init__(
        self,
        bandwidths: Sequence[int] = (30, 10, 6),
        channels: Sequence[int] = (20, 40),
        classes: int = 10,
        *,
        max_beta: float = math.pi / 8,
        seed: int = 0,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str | None = None,
    ):
        super().__init__()
        if len(bandwidths) != 3 or len(channels) != 2:
            raise ValueError(
                f"give three bandwidths and two numbers of channels, got {tuple(bandwidths)} and "
                f"{tuple(channels)}"
            )
        b, c = bandwidths, channels
        made: dict[str, Any] = {"dtype": dtype, "device": device}
        first, second = s2_near_identity(max_beta), so3_near_identity(max_beta)
        seeds = _other(seed, 1), _other(seed, 2)
        self.sphere = S2Correlation(1, c[0], b[0], b[1], first, seed=seeds[0], **made)
        self.rotations = SO3Correlation(c[0], c[1], b[1], b[2], second, seed=seeds[1], **made)
        self.readout = seeded(
            nn.Linear(c[1], _outputs(classes), dtype=dtype, device="meta"), seed, device
        )

    def forward(self, x: Tensor) -> Tensor:
        """Logits (n, classes) of signals (n, 1, 2b, 2b)."""
        x = self.sphere(x).relu()
        return self.readout(so3_integrate(self.rotations(x).relu()))


class PlanarBaseline(nn.Module):
    """The same image of angles seen by an ordinary network, with as many parameters.

    Two convolutions 5 x 5 with ReLU and a linear layer: 68,106 parameters for 60 x 60 pixels
    [Cohen 2018, section 5.2].

    Args:
        side: pixels of a side, 2b.
        channels: of the two convolutions.
        stride: of both.
        classes: number of outputs.
        c_in: channels of the image.
        seed: seed of the parameters.
        dtype: precision.
        device: where the parameters are.

    Example:
        >>> sum(p.numel() for p in PlanarBaseline().parameters())
        68106
    """

    def __init__(
        self,
        side: int = 60,
        channels: Sequence[int] = (32, 64),
        stride: int = 3,
        classes: int = 10,
        *,
        c_in: int = 1,
        seed: int = 0,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str | None = None,
    ):
        super().__init__()
        made: dict[str, Any] = {"dtype": dtype, "device": "meta"}
        left = side
        for _ in range(2):
            left = (left - 5) // positive_int("stride", stride) + 1
        if left < 1:
            raise ValueError(
                f"two convolutions of 5 x 5 and stride {stride} do not fit {side} pixels"
            )
        self.layers = seeded(
            nn.Sequential(
                nn.Conv2d(positive_int("c_in", c_in), channels[0], 5, stride, **made),
                nn.ReLU(),
                nn.Conv2d(channels[0], channels[1], 5, stride, **made),
                nn.ReLU(),
                nn.Flatten(),
                nn.Linear(channels[1] * left**2, _outputs(classes), **made),
            ),
            seed,
            device,
        )

    def forward(self, x: Tensor) -> Tensor:
        """Logits (n, classes) of images (n, c_in, side, side)."""
        return self.layers(x)


class SphericalShapes(nn.Module):
    """Correlations with batch norm and ReLU, the maximum over rotations, and a linear layer.

    6 -> 50 -> 70 -> 350 channels, b 128 -> 32 -> 22 -> 7, filters on the equator with 2b points:
    1,399,515 parameters [Cohen 2018, section 5.3]. Other sizes may have more layers or fewer.

    Args:
        bandwidths: of the input and of the layers.
        channels: of the input and of the layers.
        classes: number of outputs.
        seed: seed of the parameters.
        dtype: precision.
        device: where the parameters are.
    """

    def __init__(
        self,
        bandwidths: Sequence[int] = (128, 32, 22, 7),
        channels: Sequence[int] = (6, 50, 70, 350),
        classes: int = 55,
        *,
        seed: int = 0,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str | None = None,
    ):
        super().__init__()
        if len(bandwidths) != len(channels) or len(channels) < 2:
            raise ValueError(
                "give a bandwidth and a number of channels for the input and for every layer, got "
                f"{tuple(bandwidths)} and {tuple(channels)}"
            )
        b, c = bandwidths, channels
        made: dict[str, Any] = {"dtype": dtype, "device": device}
        self.layers = nn.Sequential()
        for i in range(len(c) - 1):
            given = (c[i], c[i + 1], b[i], b[i + 1])
            drawn = _other(seed, i + 1)
            if i == 0:
                first = S2Correlation(*given, s2_equatorial(2 * b[0]), seed=drawn, **made)
                self.layers.append(first)
            else:
                points = so3_equatorial(2 * b[i])
                self.layers.append(SO3Correlation(*given, points, seed=drawn, **made))
            self.layers.append(nn.BatchNorm3d(c[i + 1], **made))
            self.layers.append(nn.ReLU())
        self.norm = nn.BatchNorm1d(c[-1], affine=False, **made)
        self.readout = seeded(
            nn.Linear(c[-1], _outputs(classes), dtype=dtype, device="meta"), seed, device
        )

    def forward(self, x: Tensor) -> Tensor:
        """Logits (n, classes) of signals (n, channels, 2b, 2b)."""
        return self.readout(self.norm(so3_max(self.layers(x))))


def _outputs(classes: int) -> int:
    return positive_int("classes", classes)


def seeded(module: nn.Module, seed: int, device: torch.device | str | None) -> nn.Module:
    """Convolutions and linear layers drawn from U(-1, 1)/sqrt(fan in), torch's own rule.

    The module comes on the meta device, where torch draws nothing itself.
    """
    module.to_empty(device=device or "cpu")
    draws = generator(seed, "sphere")
    with torch.no_grad():
        for layer in module.modules():
            if isinstance(layer, nn.Linear | nn.Conv2d):
                bound = layer.weight[0].numel() ** -0.5
                for parameter in layer.parameters(recurse=False):
                    drawn = torch.rand(parameter.shape, generator=draws, dtype=torch.float64)
                    parameter.copy_((2 * drawn - 1) * bound)
    return module


def _other(seed: int, layer: int) -> int:
    """A seed for each layer of a network."""
    return 1000 * int(real("seed", seed)) + layer
