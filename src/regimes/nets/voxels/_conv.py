"""Convolutions that commute with rotations of voxel fields [Weiler 2018, sec. 4]."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from regimes._check import instance, positive_int
from regimes.nets.voxels._field_type import FieldType
from regimes.nets.voxels._kernels import kernel_basis, odd

Given = FieldType | str | Sequence[int]


class SteerableConv3d(nn.Module):
    """A 3D convolution whose kernel is a learned combination of steerable ones.

    The block from fields of order l to fields of order j is
    `sqrt((2j+1) / (B M)) sum_b w_b k_b` with the B kernels of `kernel_basis`, each of norm 1, and
    M input fields in all; weights are drawn from N(0, 1). There is no bias: biases belong to the
    scalars of the non-linearity.

    In eval mode without gradients the kernel is built once and kept until the weights change.

    Args:
        type_in: what the input channels are, see `FieldType.of`.
        type_out: what the output channels are.
        size: voxels of a side of the kernel, odd.
        stride: step between outputs.
        padding: zeros on every side.
        cutoff: highest angular frequencies, see `cutoff_orders`.
        family: radial functions, see `kernel_basis`.

    Raises:
        ValueError: for types with and without parity together, an even size, unknown names.

    Example:
        >>> conv = SteerableConv3d((1,), (2, 2), size=5, padding=2)
        >>> conv
        SteerableConv3d(1x0 -> 2x0 + 2x1, size=5, stride=1, padding=2, cutoff=default)
        >>> conv.weight.shape, conv.kernel().shape
        (torch.Size([10]), torch.Size([8, 1, 5, 5, 5]))
    """

    type_in: FieldType
    type_out: FieldType

    def __init__(
        self,
        type_in: Given,
        type_out: Given,
        size: int = 5,
        *,
        stride: int = 1,
        padding: int = 0,
        cutoff: str = "default",
        family: str = "shells",
    ) -> None:
        super().__init__()
        self.type_in, self.type_out = FieldType.of(type_in), FieldType.of(type_out)
        if self.type_in.has_parity != self.type_out.has_parity:
            raise ValueError(
                f"fields with parity cannot be mixed with fields without, got {self.type_in} -> "
                f"{self.type_out}"
            )
        self.size, self.cutoff, self.family = odd(size), cutoff, family
        self.stride = positive_int("stride", stride)
        self.padding = positive_int("padding", padding, least=0)
        # (output entry, input entry, start of its weights, kernels)
        self._blocks: list[tuple[int, int, int, int]] = []
        count = 0
        for i, out in enumerate(self.type_out.entries):
            for k, given in enumerate(self.type_in.entries):
                basis = kernel_basis(
                    out.order,
                    given.order,
                    self.size,
                    cutoff,
                    parity=out.parity * given.parity,
                    family=family,
                )
                if len(basis):
                    scale = math.sqrt(out.width / (len(basis) * self.type_in.count))
                    self._blocks.append((i, k, count, len(basis)))
                    self.register_buffer(f"basis_{i}_{k}", scale * basis, persistent=False)
                    count += out.number * given.number * len(basis)
        self.weight = nn.Parameter(torch.zeros(count))
        self._kept: tuple[object, Tensor] | None = None

    def draw_parameters(self, source: torch.Generator) -> None:
        """Weights from N(0, 1)."""
        draws = torch.randn(self.weight.shape, generator=source, dtype=torch.float64)
        with torch.no_grad():
            self.weight.copy_(draws)

    def kernel(self) -> Tensor:
        """The kernel, (channels out, channels in, size, size, size)."""
        state = self._state()
        if state is not None and self._kept is not None and self._kept[0] == state:
            return self._kept[1]
        made = self._expanded()
        self._kept = None if state is None else (state, made)
        return made

    def _state(self) -> object:
        """What a kept kernel belongs to; None where none may be kept."""
        if self.training or type(self.weight) is not nn.Parameter:
            return None
        if torch.is_grad_enabled() and self.weight.requires_grad:
            return None
        weight = self.weight
        return weight.data_ptr(), weight._version, weight.dtype, weight.device

    def _expanded(self) -> Tensor:
        rows: list[list[Tensor | None]] = [
            [None] * len(self.type_in.entries) for _ in self.type_out.entries
        ]
        for i, k, start, kernels in self._blocks:
            out, given = self.type_out.entries[i], self.type_in.entries[k]
            shape = (out.number * given.number, kernels)
            weights = self.weight[start : start + shape[0] * shape[1]].view(shape)
            basis = getattr(self, f"basis_{i}_{k}").to(self.weight)
            block = (weights @ basis.flatten(1)).view(out.number, given.number, *basis.shape[1:])
            rows[i][k] = block.transpose(1, 2).flatten(2, 3).flatten(0, 1)
        side = (self.size,) * 3
        return torch.cat(
            [
                torch.cat(
                    [
                        self.weight.new_zeros(
                            out.number * out.width, given.number * given.width, *side
                        )
                        if block is None
                        else block
                        for block, given in zip(row, self.type_in.entries, strict=True)
                    ],
                    1,
                )
                for row, out in zip(rows, self.type_out.entries, strict=True)
            ]
        )

    def forward(self, field: Tensor) -> Tensor:
        """A field (n, channels in, s, s, s) to (n, channels out, s', s', s')."""
        self.type_in.check(field)
        return nn.functional.conv3d(field, self.kernel(), stride=self.stride, padding=self.padding)

    def to_conv3d(self) -> nn.Conv3d:
        """The plain convolution with the same kernel [Weiler 2018, sec. 4.4.3]."""
        return plain_convolution(
            self.kernel().detach(), None, stride=self.stride, padding=self.padding
        )

    def extra_repr(self) -> str:
        """What it maps, and how."""
        kind = "" if self.family == "shells" else f", family={self.family}"
        return (
            f"{self.type_in} -> {self.type_out}, size={self.size}, stride={self.stride}, "
            f"padding={self.padding}, cutoff={self.cutoff}{kind}"
        )


def plain_convolution(
    kernel: Tensor, bias: Tensor | None, *, stride: int, padding: int
) -> nn.Conv3d:
    """An `nn.Conv3d` with a given kernel, (out, in, s, s, s), and bias."""
    instance("kernel", kernel, Tensor, "a tensor")
    out, given, size = kernel.shape[:3]
    made = nn.Conv3d(
        given, out, size, stride, padding, bias=bias is not None, device="meta", dtype=kernel.dtype
    ).to_empty(device=kernel.device)
    with torch.no_grad():
        made.weight.copy_(kernel)
        if bias is not None and made.bias is not None:
            made.bias.copy_(bias)
    return made
