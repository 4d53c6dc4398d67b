"""A small classifier that no rotation of its input changes."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from regimes._check import positive_int, shown
from regimes._random import generator
from regimes.nets.lattice._conv import LatticeConv
from regimes.nets.lattice._fields import LatticeFields
from regimes.nets.lattice._relu import PermutedRelu


class LatticeCNN(nn.Module):
    """Convolutions of regular fields with ReLU, the mean over space and group, a linear readout.

    Args:
        in_channels: numbers at each point of the input.
        out_dim: outputs.
        symmetry: a name of `symmetry_names`; "p1" is a plain CNN.
        widths: regular fields of each layer.
        size: side of the kernels.
        padding: as in `LatticeConv`.
        seed: the parameters' seed.
        dtype: floating-point type.
        device: where the parameters are.

    Example:
        >>> net = LatticeCNN(1, 10, symmetry="p4m", widths=(4, 8))
        >>> net(torch.zeros(2, 1, 8, 8)).shape, net.n_params
        (torch.Size([2, 10]), 2442)
    """

    def __init__(
        self,
        in_channels: int,
        out_dim: int,
        *,
        symmetry: str = "p4m",
        widths: Sequence[int] = (8, 8),
        size: int = 3,
        padding: str = "zeros",
        seed: int = 0,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str | None = None,
    ) -> None:
        super().__init__()
        if not isinstance(widths, Sequence) or not len(widths):
            raise ValueError(f"widths must be numbers of fields by layer, got {shown(widths)}")
        fields = LatticeFields.of(symmetry, "trivial", in_channels)
        draws = generator(seed, "nets/lattice/network")
        layers: list[nn.Module] = []
        for width in widths:
            after = LatticeFields.of(symmetry, "regular", width)
            conv = LatticeConv(fields, after, size, padding=padding, dtype=dtype, device=device)
            conv.draw_parameters(draws)
            layers += [conv, PermutedRelu(after)]
            fields = after
        self.features = nn.Sequential(*layers)
        self.fields_out = fields
        out = positive_int("out_dim", out_dim)
        drawn = torch.randn(out, fields.number, generator=draws, dtype=torch.float64)
        self.readout = nn.Parameter((drawn / fields.number**0.5).to(device=device, dtype=dtype))
        self.bias = nn.Parameter(torch.zeros(out, device=device, dtype=dtype))

    @property
    def n_params(self) -> int:
        """Number of parameters."""
        return sum(p.numel() for p in self.parameters())

    def forward(self, x: Tensor) -> Tensor:
        """Inputs (n, in_channels, *sides) to (n, out_dim)."""
        parts = self.features(x).flatten(2).unflatten(1, (self.fields_out.number, -1))
        return parts.mean((2, 3)) @ self.readout.mT + self.bias
