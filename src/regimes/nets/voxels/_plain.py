"""Steerable and ordinary convolutions one after another [Weiler 2018, secs. 5.1 and 5.2]."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import torch
from torch import Tensor, nn

from regimes._check import choose, positive_int
from regimes.nets._network import Shape
from regimes.nets.voxels._conv import Given, SteerableConv3d
from regimes.nets.voxels._field_type import FieldType
from regimes.nets.voxels._low_pass import LowPass
from regimes.nets.voxels._network import MeanOverSpace, VoxelNetwork, unfilled
from regimes.nets.voxels._nonlinear import Gated, NormRelu
from regimes.nets.voxels._norm import CapsuleDropout, EquivariantBatchNorm

_NONLINEAR: dict[str, type[Gated | NormRelu]] = {"gated": Gated, "norm": NormRelu}


def _lengths(layers: int, strides: Sequence[int]) -> list[int]:
    if len(strides) != layers:
        raise ValueError(f"strides needs one number for each of {layers} layers, got {strides!r}")
    return [positive_int("every stride", stride) for stride in strides]


class SteerableCNN(VoxelNetwork):
    """Steerable convolutions with gates, the mean over space, and a linear layer.

    A layer is [batch norm] - convolution - gates; where the stride is above one either a
    `low_pass` after the gates thins the field out, or the convolution itself steps, which breaks
    equivariance. The last type has scalars alone.

    Args:
        in_shape: (channels, s, s, s) of scalars.
        out_dim: number of outputs.
        types: fields after every layer, see `FieldType.of`.
        strides: how much every layer thins out.
        smooth: whether low-pass filters do it.
        size: voxels of a side of the kernels.
        padding: zeros on every side.
        nonlinearity: "gated" or "norm".
        batch_norm: whether fields are normalised before every convolution.
        dropout: probability that a feature is dropped before the linear layer.
        cutoff: of the kernels, see `cutoff_orders`.
        seed: the parameters' seed.
        dtype: floating-point type of the parameters.
        device: where the parameters live.

    Raises:
        ValueError: for types that do not fit, or a last one with more than scalars.

    Example:
        >>> net = SteerableCNN((1, 16, 16, 16), 8, types=((2, 2), (8,)), strides=(2, 1), padding=2)
        >>> net(torch.zeros(3, 1, 16, 16, 16)).shape
        torch.Size([3, 8])
    """

    def __init__(
        self,
        in_shape: Shape,
        out_dim: int = 1,
        *,
        types: Sequence[Given],
        strides: Sequence[int],
        smooth: bool = True,
        size: int = 5,
        padding: int = 4,
        nonlinearity: str = "gated",
        batch_norm: bool = False,
        dropout: float = 0.0,
        cutoff: str = "default",
        seed: int = 0,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str = "cpu",
    ) -> None:
        super().__init__(in_shape, out_dim)
        kind = choose(nonlinearity, _NONLINEAR, "nonlinearity")
        kinds = [FieldType.of(each) for each in types]
        if not kinds or any(entry.order for entry in kinds[-1].entries):
            raise ValueError(
                f"the last type holds scalars alone, such as (128,), got {types[-1:]!r}"
            )
        parity = "e" if kinds[0].has_parity else ""
        before = FieldType.of(f"{self.in_shape[0]}x0{parity}")
        layers: list[nn.Module] = []
        for fields, stride in zip(kinds, _lengths(len(kinds), strides), strict=True):
            act = kind(fields)
            if batch_norm:
                layers.append(EquivariantBatchNorm(before))
            layers.append(
                SteerableConv3d(
                    before,
                    act.gates,
                    size,
                    padding=padding,
                    stride=1 if smooth else stride,
                    cutoff=cutoff,
                )
            )
            layers.append(act)
            if smooth and stride > 1:
                layers.append(LowPass(stride))
            before = fields
        layers.append(MeanOverSpace())
        if dropout:
            layers.append(CapsuleDropout(before, dropout))
        self.features = nn.Sequential(*layers)
        self.readout = unfilled(nn.Linear, before.dim, self.out_dim)
        self._start_in_place(seed=seed, dtype=dtype, device=device)

    def forward(self, x: Tensor) -> Tensor:
        """Outputs (n, out_dim) of voxels (n, channels, s, s, s)."""
        return self.readout(self.features(self._voxels(x)))


@final
class TetrisSteerable(SteerableCNN):
    """The steerable network for Tetris pieces [Weiler 2018, suppl. 3]: 41,198 parameters.

    >>> TetrisSteerable().n_params
    41198
    """

    def __init__(
        self,
        in_shape: Shape = (1, 36, 36, 36),
        out_dim: int = 8,
        *,
        smooth: bool = True,
        dropout: float = 0.0,
        seed: int = 0,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str = "cpu",
    ) -> None:
        super().__init__(
            in_shape,
            out_dim,
            types=((4, 4, 4, 1), (16, 16, 16), (32, 16, 16), (128,)),
            strides=(1, 2, 2, 1),
            smooth=smooth,
            dropout=dropout,
            seed=seed,
            dtype=dtype,
            device=device,
        )


@final
class ShapesSteerable(SteerableCNN):
    """The steerable network for shapes in voxels [Weiler 2018, suppl. 4]: 142,617 parameters.

    >>> ShapesSteerable().n_params
    142617
    """

    def __init__(
        self,
        in_shape: Shape = (1, 64, 64, 64),
        out_dim: int = 55,
        *,
        seed: int = 0,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str = "cpu",
    ) -> None:
        small, middle, large = (8, 4, 2), (16, 8, 4), (32, 16, 8)
        super().__init__(
            in_shape,
            out_dim,
            types=(small, small, middle, middle, large, large, large, (512,)),
            strides=(2, 1, 2, 1, 2, 1, 2, 1),
            smooth=False,
            batch_norm=True,
            seed=seed,
            dtype=dtype,
            device=device,
        )


class VoxelCNN(VoxelNetwork):
    """Ordinary 3D convolutions with relus, the mean over space, and a linear layer.

    Args:
        in_shape: (channels, s, s, s).
        out_dim: number of outputs.
        channels: after every layer.
        strides: how much every layer thins out.
        smooth: whether low-pass filters after the relu do it, or the convolution itself.
        size: voxels of a side of the kernels.
        padding: zeros on every side.
        batch_norm: whether channels are normalised after every convolution.
        seed: the parameters' seed.
        dtype: floating-point type of the parameters.
        device: where the parameters live.
    """

    def __init__(
        self,
        in_shape: Shape,
        out_dim: int = 1,
        *,
        channels: Sequence[int],
        strides: Sequence[int],
        smooth: bool = True,
        size: int = 5,
        padding: int = 4,
        batch_norm: bool = False,
        seed: int = 0,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str = "cpu",
    ) -> None:
        super().__init__(in_shape, out_dim)
        before = self.in_shape[0]
        layers: list[nn.Module] = []
        for width, stride in zip(channels, _lengths(len(channels), strides), strict=True):
            step = 1 if smooth else stride
            layers.append(unfilled(nn.Conv3d, before, width, size, stride=step, padding=padding))
            if batch_norm:
                layers.append(unfilled(nn.BatchNorm3d, width))
            layers.append(nn.ReLU())
            if smooth and stride > 1:
                layers.append(LowPass(stride))
            before = width
        self.features = nn.Sequential(*layers, MeanOverSpace())
        self.readout = unfilled(nn.Linear, before, self.out_dim)
        self._start_in_place(seed=seed, dtype=dtype, device=device)

    def forward(self, x: Tensor) -> Tensor:
        """Outputs (n, out_dim) of voxels (n, channels, s, s, s)."""
        return self.readout(self.features(self._voxels(x)))


@final
class TetrisCNN(VoxelCNN):
    """The CNN beside `TetrisSteerable` [Weiler 2018, suppl. 3]: 6,220,882 parameters."""

    def __init__(
        self,
        in_shape: Shape = (1, 36, 36, 36),
        out_dim: int = 8,
        *,
        smooth: bool = True,
        batch_norm: bool = False,
        seed: int = 0,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str = "cpu",
    ) -> None:
        super().__init__(
            in_shape,
            out_dim,
            channels=(43, 144, 160, 128),
            strides=(1, 2, 2, 1),
            smooth=smooth,
            batch_norm=batch_norm,
            seed=seed,
            dtype=dtype,
            device=device,
        )
