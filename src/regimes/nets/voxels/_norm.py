"""Batch norm of fields, its folding into a convolution, and dropout of whole fields."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from regimes._check import real
from regimes._random import generator
from regimes.nets.voxels._conv import Given, SteerableConv3d, plain_convolution
from regimes.nets.voxels._field_type import FieldType


class EquivariantBatchNorm(nn.Module):
    """Batch norm that rotates with the fields [Weiler 2018, eq. 17].

    Scalars are centred and scaled as usual. Any other field is divided by
    `sqrt(mean over batch and volume of |f|^2 + eps)` and not centred, as its mean has a direction;
    so are scalars that a mirror changes. There are no learned factors: the convolution has them.

    Args:
        fields: those.
        eps: added to the mean squares.
        momentum: weight of a batch in the running statistics, which are used in eval mode. The
            first batches weigh as much as one another: fields on voxels are sparse, and what a
            start at one leaves behind would stand far above their mean squares for long.
    """

    running_mean: Tensor
    running_square: Tensor
    batches: Tensor

    def __init__(self, fields: Given, *, eps: float = 1e-5, momentum: float = 0.1) -> None:
        super().__init__()
        self.fields = FieldType.of(fields)
        self.eps, self.momentum = real("eps", eps, above=0), real("momentum", momentum, 0, 1)
        self.register_buffer("running_mean", torch.zeros(self.fields.count))
        self.register_buffer("running_square", torch.ones(self.fields.count))
        self.register_buffer("batches", torch.tensor(0))

    def _centred(self) -> Tensor:
        """1 for every field that is centred, 0 for the others."""
        flags = [
            float(entry.order == 0 and entry.parity >= 0)
            for entry in self.fields.entries
            for _ in range(entry.number)
        ]
        return torch.tensor(flags, dtype=self.running_mean.dtype, device=self.running_mean.device)

    def affine(self) -> tuple[Tensor, Tensor]:
        """Factor and shift of every channel in eval mode, both (dim,)."""
        return self._factors(self.running_mean, self.running_square)

    def _factors(self, mean: Tensor, square: Tensor) -> tuple[Tensor, Tensor]:
        widths = torch.tensor(
            [entry.width for entry in self.fields.entries for _ in range(entry.number)],
            device=mean.device,
        )
        factor = (square + self.eps).rsqrt()
        shift = -mean * factor
        return factor.repeat_interleave(widths), shift.repeat_interleave(widths)

    def forward(self, field: Tensor) -> Tensor:
        """The field, normalised."""
        if self.training:
            mean, square = self._statistics(field)
            with torch.no_grad():
                self.batches += 1
                weight = (1 / self.batches).clamp(min=self.momentum).to(mean)
                self.running_mean.lerp_(mean.detach(), weight)
                self.running_square.lerp_(square.detach(), weight)
            factor, shift = self._factors(mean, square)
        else:
            self.fields.check(field)
            factor, shift = self.affine()
        shape = (-1,) + (1,) * (field.ndim - 2)
        return field * factor.view(shape) + shift.view(shape)

    def _statistics(self, field: Tensor) -> tuple[Tensor, Tensor]:
        """Mean of the centred fields, and mean square of all, both (fields,)."""
        mean = (
            torch.cat(
                [
                    part[:, :, 0].mean((0, *range(2, part.ndim - 1)))
                    for part in self.fields.split(field)
                ]
            )
            * self._centred()
        )
        square = torch.cat(
            [
                part.square().mean((0, *range(3, part.ndim))).sum(1)
                for part in self.fields.split(field)
            ]
        )
        return mean, square - mean.square()

    def extra_repr(self) -> str:
        """Its fields."""
        return f"{self.fields}, momentum={self.momentum:g}"


def fold_batch_norm(norm: EquivariantBatchNorm, conv: SteerableConv3d | nn.Conv3d) -> nn.Conv3d:
    """A batch norm in eval mode and the convolution after it, as one plain convolution.

    `k * (A f + B) = (k A) * f + sum(k) B` [Weiler 2018, suppl. 1.2]. The same only where the kernel
    does not reach the zeros of the padding, to which B is not added: everywhere for padding 0,
    else away from the border.

    Args:
        norm: the batch norm; its running statistics are used.
        conv: the convolution that takes its output.

    Returns:
        The convolution with a bias.

    Raises:
        ValueError: if the two do not fit.
    """
    stride: int | tuple[int, ...]
    padding: int | str | tuple[int, ...]
    if isinstance(conv, SteerableConv3d):
        kernel, stride, padding = conv.kernel().detach(), conv.stride, conv.padding
    else:
        kernel, stride, padding = conv.weight.detach(), conv.stride, conv.padding
    if kernel.shape[1] != norm.fields.dim:
        raise ValueError(
            f"the batch norm has {norm.fields.dim} channels, the kernel takes {kernel.shape[1]}"
        )
    factor, shift = norm.affine()
    bias = kernel.sum((2, 3, 4)) @ shift
    if isinstance(conv, nn.Conv3d) and conv.bias is not None:
        bias = bias + conv.bias.detach()
    steps, zeros = (each if isinstance(each, int) else each[0] for each in (stride, padding))
    folded = kernel * factor.view(1, -1, 1, 1, 1)
    return plain_convolution(folded, bias, stride=int(steps), padding=int(zeros))


class CapsuleDropout(nn.Module):
    """Drops whole fields: all components and all voxels of a field of a sample together.

    What is kept is divided by 1 - p. The draws come from a stream of the module's own.

    Args:
        fields: those.
        p: probability that a field is dropped.
        seed: of the draws.
    """

    def __init__(self, fields: Given, p: float = 0.1, *, seed: int = 0) -> None:
        super().__init__()
        self.fields = FieldType.of(fields)
        if not 0 <= real("p", p) < 1:
            raise ValueError(f"p is a probability below 1, got {p!r}")
        self.p, self.seed = float(p), seed
        self._source = generator(seed, "nets/voxels/dropout")

    def draw_parameters(self, source: torch.Generator) -> None:
        """A stream of its own, drawn from that of the parameters."""
        self._source.manual_seed(int(torch.randint(2**62, (), generator=source)))

    def forward(self, field: Tensor) -> Tensor:
        """The field with some of its fields zero, in train mode alone."""
        if not self.training or self.p == 0:
            return field
        drawn = torch.rand(len(field), self.fields.count, generator=self._source)
        kept = (drawn >= self.p).to(field) / (1 - self.p)
        widths = torch.tensor(
            [entry.width for entry in self.fields.entries for _ in range(entry.number)]
        ).to(field.device)
        factors = kept.repeat_interleave(widths, 1)
        return field * factors.view(*factors.shape, *[1] * (field.ndim - 2))

    def extra_repr(self) -> str:
        """Its fields and probability."""
        return f"{self.fields}, p={self.p:g}"
