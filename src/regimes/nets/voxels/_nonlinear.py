"""Non-linearities that commute with rotations [Weiler 2018, sec. 4.3, suppl. 1.3]."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from regimes.nets.voxels._conv import Given
from regimes.nets.voxels._field_type import Fields, FieldType
from regimes.nets.voxels._harmonics import three_j

_NORM_BIAS = (0.5, 2.0)  # the thresholds of norms start between these


def _only_even_scalars(fields: FieldType) -> None:
    if any(entry.order == 0 and entry.parity < 0 for entry in fields.entries):
        raise ValueError(
            f"{fields} has scalars that change sign in a mirror, where a relu is not equivariant; "
            "leave 0o out of the hidden fields"
        )


class Gated(nn.Module):
    """Scalars through a relu, every other field times a sigmoid of its own extra scalar.

    What goes in is `gates`: the fields of the type, then one scalar for each that is not one. The
    convolution before it makes both. Scalars and gates have biases, which start at zero.

    Args:
        fields: those that come out.

    Example:
        >>> Gated((4, 2)).gates
        FieldType('4x0 + 2x1 + 2x0')
    """

    fields: FieldType
    gates: FieldType

    def __init__(self, fields: Given) -> None:
        super().__init__()
        self.fields = FieldType.of(fields)
        _only_even_scalars(self.fields)
        gated = sum(entry.number for entry in self.fields.entries if entry.order)
        even = 1 if self.fields.has_parity else 0
        extra = (Fields(gated, 0, even),) if gated else ()
        self.gates = FieldType(self.fields.entries + extra)
        scalars = sum(entry.number for entry in self.gates.entries if not entry.order)
        self.bias = nn.Parameter(torch.zeros(scalars))

    def draw_parameters(self, source: torch.Generator) -> None:
        """Biases are zero."""
        with torch.no_grad():
            self.bias.zero_()

    def forward(self, field: Tensor) -> Tensor:
        """A field of type `gates` to one of type `fields`."""
        parts = self.gates.split(field)
        shape = (-1, 1) + (1,) * (field.ndim - 2)
        plain = [entry.number for entry in self.fields.entries if not entry.order]
        biases = list(self.bias.split([*plain, len(self.bias) - sum(plain)]))
        gates = torch.sigmoid(parts[-1] + biases[-1].view(shape)) if len(biases[-1]) else None
        used, found = 0, []
        for entry, part in zip(self.fields.entries, parts, strict=False):
            if entry.order == 0:
                found.append(torch.relu(part + biases.pop(0).view(shape)))
            elif gates is not None:
                found.append(part * gates[:, used : used + entry.number])
                used += entry.number
        return torch.cat([part.flatten(1, 2) for part in found], 1)

    def extra_repr(self) -> str:
        """What it maps."""
        return f"{self.gates} -> {self.fields}"


class NormRelu(nn.Module):
    """`relu(|f| - beta) f / |f|` for every field, scalars through a relu with a bias.

    The thresholds beta > 0 are learned and start evenly between 0.5 and 2.

    Args:
        fields: those that go in and come out.
    """

    fields: FieldType
    gates: FieldType

    def __init__(self, fields: Given) -> None:
        super().__init__()
        self.fields = self.gates = FieldType.of(fields)
        _only_even_scalars(self.fields)
        self.bias = nn.Parameter(torch.zeros(self.fields.count))

    def draw_parameters(self, source: torch.Generator) -> None:
        """Biases of scalars are zero, thresholds uniform."""
        low, high = _NORM_BIAS
        start = 0
        with torch.no_grad():
            for entry in self.fields.entries:
                draws = torch.rand(entry.number, generator=source, dtype=torch.float64)
                values = low + (high - low) * draws if entry.order else torch.zeros_like(draws)
                self.bias[start : start + entry.number].copy_(values)
                start += entry.number

    def forward(self, field: Tensor) -> Tensor:
        """A field of the type to one of the type."""
        shape = (-1, 1) + (1,) * (field.ndim - 2)
        biases = self.bias.split([entry.number for entry in self.fields.entries])
        found = []
        for entry, part, bias in zip(
            self.fields.entries, self.fields.split(field), biases, strict=True
        ):
            if entry.order == 0:
                found.append(torch.relu(part + bias.view(shape)))
                continue
            size = part.square().sum(2, keepdim=True)
            norm = size.where(size > 0, 1).sqrt()  # a gradient also where the field is zero
            found.append(part * torch.relu(1 - bias.abs().view(shape) / norm))
        return torch.cat([part.flatten(1, 2) for part in found], 1)

    def extra_repr(self) -> str:
        """Its fields."""
        return str(self.fields)


class ProductOfFields(nn.Module):
    """Tensor products of fields pairwise, taken apart into irreducible fields.

    The u-th field of an entry meets the u-th field of the same entry of a second field; orders l
    and l give 0 to 2l, of which those up to `max_order` are kept.

    Args:
        fields: of both fields that go in.
        max_order: the highest order that comes out.

    Attributes:
        type_out: of what comes out.

    Example:
        >>> ProductOfFields("4x1o", max_order=1).type_out
        FieldType('4x0e + 4x1e')
    """

    def __init__(self, fields: Given, max_order: int = 2) -> None:
        super().__init__()
        self.fields = FieldType.of(fields)
        self._paths: list[tuple[int, Tensor]] = []
        entries = []
        for k, entry in enumerate(self.fields.entries):
            for order in range(min(2 * entry.order, max_order) + 1):
                # times sqrt(2J+1) the components of the product have the size of those going in
                tensor = three_j(entry.order, entry.order, order) * (2 * order + 1) ** 0.5
                self._paths.append((k, tensor))
                entries.append(Fields(entry.number, order, entry.parity**2))
        self.type_out = FieldType(tuple(entries))

    def forward(self, one: Tensor, two: Tensor) -> Tensor:
        """Two fields of the type to one of type `type_out`."""
        first, second = self.fields.split(one), self.fields.split(two)
        found = [
            torch.einsum("abc,nua...,nub...->nuc...", tensor.to(one), first[k], second[k])
            for k, tensor in self._paths
        ]
        return torch.cat([part.flatten(1, 2) for part in found], 1)

    def extra_repr(self) -> str:
        """What it maps."""
        return f"{self.fields} x {self.fields} -> {self.type_out}"
