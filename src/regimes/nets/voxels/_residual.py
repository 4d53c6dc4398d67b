"""Residual networks for protein structures [Weiler 2018, sec. 5.5, suppl. 5.2]."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import torch
from torch import Tensor, nn

from regimes._check import positive_int
from regimes.nets._network import Shape
from regimes.nets.voxels._conv import SteerableConv3d
from regimes.nets.voxels._field_type import FieldType
from regimes.nets.voxels._network import MeanOverSpace, VoxelNetwork, unfilled
from regimes.nets.voxels._nonlinear import Gated
from regimes.nets.voxels._norm import CapsuleDropout, EquivariantBatchNorm

_BLOCKS = (3, 4, 6, 3)  # of ResNet34


def _halve() -> nn.Module:
    return nn.AvgPool3d(3, 2, 1)


class _Residual(nn.Module):
    """The sum of a branch and a shortcut, and what follows it."""

    def __init__(
        self, branch: list[nn.Module], shortcut: list[nn.Module], after: nn.Module
    ) -> None:
        super().__init__()
        self.branch, self.shortcut = nn.Sequential(*branch), nn.Sequential(*shortcut)
        self.after = after

    def forward(self, x: Tensor) -> Tensor:
        return self.after(self.branch(x) + self.shortcut(x))


class _ZeroChannels(nn.Module):
    """More channels of zeros: a shortcut says nothing about the gates of a sum."""

    def __init__(self, extra: int) -> None:
        super().__init__()
        self.extra = extra

    def forward(self, x: Tensor) -> Tensor:
        return nn.functional.pad(x, (0, 0, 0, 0, 0, 0, 0, self.extra)) if self.extra else x


@final
class CathCNN(VoxelNetwork):
    """A residual CNN on voxels: batch norm before every convolution, 15,878,764 parameters.

    One convolution of 7^3, then stages of residual blocks of two 3^3 convolutions. All stages but
    the first halve the side by averages of 3^3, behind the first convolution of their first block.

    Args:
        in_shape: (channels, s, s, s).
        out_dim: number of outputs.
        channels: of every stage, the first also of the first convolution.
        blocks: residual blocks of every stage.
        dropout: probability that a channel is dropped before a convolution.
        seed: the parameters' seed.
        dtype: floating-point type of the parameters.
        device: where the parameters live.

    Example:
        >>> CathCNN((1, 20, 20, 20), 5, channels=(8, 16), blocks=(1, 1)).n_params
        16879
    """

    def __init__(
        self,
        in_shape: Shape = (1, 50, 50, 50),
        out_dim: int = 10,
        *,
        channels: Sequence[int] = (32, 64, 128, 256),
        blocks: Sequence[int] = _BLOCKS,
        dropout: float = 0.0,
        seed: int = 0,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str = "cpu",
    ) -> None:
        super().__init__(in_shape, out_dim)
        _check_stages(channels, blocks)
        before = positive_int("every number of channels", channels[0])

        def conv(given: int, out: int, size: int) -> list[nn.Module]:
            layers: list[nn.Module] = [unfilled(nn.BatchNorm3d, given)]
            if dropout and given > 1:
                layers.append(CapsuleDropout((given,), dropout))
            made = unfilled(nn.Conv3d, given, out, size, padding=size // 2, bias=False)
            return [*layers, made]

        layers = [*conv(self.in_shape[0], before, 7), nn.ReLU()]
        for stage, (width, count) in enumerate(zip(channels, blocks, strict=True)):
            for block in range(count):
                halving = [_halve()] if stage and not block else []
                branch = [
                    *conv(before, width, 3), *halving, nn.ReLU(), *conv(width, width, 3)
                ]  # fmt: skip
                changes = before != width or halving
                shortcut = [*conv(before, width, 1), *halving] if changes else []
                layers.append(_Residual(branch, shortcut, nn.ReLU()))
                before = width
        self.features = nn.Sequential(*layers, MeanOverSpace())
        self.readout = unfilled(nn.Linear, before, self.out_dim)
        self._start_in_place(seed=seed, dtype=dtype, device=device)

    def forward(self, x: Tensor) -> Tensor:
        """Outputs (n, out_dim) of voxels (n, channels, s, s, s)."""
        return self.readout(self.features(self._voxels(x)))


@final
class CathSteerable(VoxelNetwork):
    """The steerable twin of `CathCNN`: 143,560 parameters.

    Gates follow the first convolution of a block, the second is linear, and nothing follows the
    sum. A shortcut that changes the type is a steerable convolution of 3^3. Batch norm and capsule
    dropout come before every convolution.

    Args:
        in_shape: (channels, s, s, s) of scalars.
        out_dim: number of outputs.
        counts: fields of every order from 0 to `max_order` in every stage.
        blocks: residual blocks of every stage.
        features: scalars that the last convolution makes.
        max_order: the highest order.
        dropout: probability that a field is dropped before a convolution.
        gate_sums: gates after every sum too, which the published number of parameters excludes.
        seed: the parameters' seed.
        dtype: floating-point type of the parameters.
        device: where the parameters live.
    """

    def __init__(
        self,
        in_shape: Shape = (1, 50, 50, 50),
        out_dim: int = 10,
        *,
        counts: Sequence[int] = (2, 4, 8, 16),
        blocks: Sequence[int] = _BLOCKS,
        features: int = 256,
        max_order: int = 3,
        dropout: float = 0.1,
        gate_sums: bool = False,
        seed: int = 0,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str = "cpu",
    ) -> None:
        super().__init__(in_shape, out_dim)
        _check_stages(counts, blocks)

        def conv(given: FieldType, out: FieldType, size: int) -> list[nn.Module]:
            layers: list[nn.Module] = [EquivariantBatchNorm(given, momentum=0.01)]
            if dropout and given.count > 1:
                layers.append(CapsuleDropout(given, dropout))
            return [*layers, SteerableConv3d(given, out, size, padding=size // 2)]

        def uniform(count: int) -> FieldType:
            return FieldType.of((count,) * (max_order + 1))

        before = uniform(counts[0])
        first = Gated(before)
        layers = [*conv(FieldType.of((self.in_shape[0],)), first.gates, 7), first]
        for stage, (number, count) in enumerate(zip(counts, blocks, strict=True)):
            for block in range(count):
                last = stage == len(counts) - 1 and block == count - 1
                act = Gated(uniform(number))
                out = FieldType.of((features,)) if last else act.fields
                after = Gated(out) if gate_sums else None
                summed = out if after is None else after.gates
                halving = [_halve()] if stage and not block else []
                branch = [*conv(before, act.gates, 3), *halving, act, *conv(act.fields, summed, 3)]
                if before != out or halving:
                    shortcut = [*conv(before, summed, 3), *halving]
                else:
                    shortcut = [_ZeroChannels(summed.dim - out.dim)]
                layers.append(_Residual(branch, shortcut, after or nn.Identity()))
                before = out
        self.features = nn.Sequential(*layers, MeanOverSpace())
        self.readout = unfilled(nn.Linear, before.dim, self.out_dim)
        self._start_in_place(seed=seed, dtype=dtype, device=device)

    def forward(self, x: Tensor) -> Tensor:
        """Outputs (n, out_dim) of voxels (n, channels, s, s, s)."""
        return self.readout(self.features(self._voxels(x)))


def _check_stages(widths: Sequence[int], blocks: Sequence[int]) -> None:
    if not widths or len(widths) != len(blocks):
        raise ValueError(
            f"every stage needs a width and a number of blocks, got {widths!r} and {blocks!r}"
        )
