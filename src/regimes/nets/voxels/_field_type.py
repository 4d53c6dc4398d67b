"""What the channels of a voxel field are: scalars, vectors and tensors of higher order."""

from __future__ import annotations

import operator
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor

from regimes._check import positive_int, shown
from regimes._grids import move_grid, orthogonal
from regimes.nets.voxels._harmonics import wigner

_PART = re.compile(r"(?:(\d+)\s*x\s*)?(\d+)([eo]?)")
_PARITIES = {"": 0, "e": 1, "o": -1}


class Fields(NamedTuple):
    """`number` fields of one order; parity is 1 (even), -1 (odd) or 0 (no word on mirrors)."""

    number: int
    order: int
    parity: int = 0

    @property
    def width(self) -> int:
        """Channels of one of them."""
        return 2 * self.order + 1

    def __str__(self) -> str:
        """As in "4x1" or, with a parity, "4x1o"."""
        return f"{self.number}x{self.order}{ {0: '', 1: 'e', -1: 'o'}[self.parity] }"


@dataclass(frozen=True)
class FieldType:
    """The fields of a voxel grid and their channels [Weiler 2018, sec. 4.1].

    Channels are ordered by entry; within one all components of the first field, then of the second.
    Components and signs are e3nn's, with x, y, z along the three axes of the grid.

    Attributes:
        entries: kinds of fields.

    Example:
        >>> FieldType.of((4, 4, 1)), FieldType.of((4, 4, 1)).dim
        (FieldType('4x0 + 4x1 + 1x2'), 21)
        >>> FieldType.of("8x0e + 2x1o").dim
        14
    """

    entries: tuple[Fields, ...]

    @staticmethod
    def of(given: FieldType | str | Sequence[int]) -> FieldType:
        """From numbers of fields of order 0, 1, ..., or from a text such as "4x0e + 2x1o".

        Raises:
            ValueError: for anything else, and for entries with a parity beside some without.
        """
        if isinstance(given, FieldType):
            return given
        if isinstance(given, str):
            entries = [_entry(part, given) for part in given.split("+")]
        elif isinstance(given, Sequence):
            counts = [positive_int("numbers of fields", count, least=0) for count in given]
            entries = [Fields(count, order) for order, count in enumerate(counts)]
        else:
            raise ValueError(
                "a field type is numbers of fields by order such as (4, 4, 1), or a text such as "
                f'"4x0e + 2x1o", got {shown(given)}'
            )
        kept = tuple(entry for entry in entries if entry.number)
        if not kept:
            raise ValueError(f"a field type needs at least one field, got {shown(given)}")
        if len({entry.parity == 0 for entry in kept}) > 1:
            raise ValueError(
                f"either all fields have a parity (e or o) or none has, got {shown(given)}"
            )
        return FieldType(kept)

    @property
    def dim(self) -> int:
        """Number of channels."""
        return sum(entry.number * entry.width for entry in self.entries)

    @property
    def count(self) -> int:
        """Number of fields."""
        return sum(entry.number for entry in self.entries)

    @property
    def has_parity(self) -> bool:
        """Whether mirrors act on it too."""
        return self.entries[0].parity != 0

    @property
    def irreps(self) -> Any:
        """The same as `e3nn.o3.Irreps`; what has no parity is called even there."""
        from regimes._e3nn import e3nn

        text = "+".join(str(entry) + ("" if entry.parity else "e") for entry in self.entries)
        return e3nn().o3.Irreps(text)

    def slices(self) -> list[slice]:
        """Channels of every entry."""
        found, start = [], 0
        for entry in self.entries:
            found.append(slice(start, start + entry.number * entry.width))
            start = found[-1].stop
        return found

    def split(self, field: Tensor) -> list[Tensor]:
        """Parts (n, count, 2l+1, ...) of a field (n, dim, ...), one for every entry."""
        self.check(field)
        parts = field.split([entry.number * entry.width for entry in self.entries], 1)
        return [
            part.unflatten(1, (entry.number, entry.width))
            for part, entry in zip(parts, self.entries, strict=True)
        ]

    def check(self, field: Tensor) -> None:
        """Raise a ValueError unless a tensor has the channels of this type."""
        if field.ndim < 2 or field.shape[1] != self.dim:
            raise ValueError(
                f"a field of type {self} has shape (n, {self.dim}, ...), got {tuple(field.shape)}"
            )

    def matrix(self, rotation: Tensor) -> Tensor:
        """rho(R), block-diagonal and orthogonal, (dim, dim) in float64.

        Raises:
            ValueError: if R is not orthogonal, or a mirror where fields have no parity.
        """
        R = orthogonal(rotation)
        mirrored = bool(torch.linalg.det(R) < 0)
        if mirrored and not self.has_parity:
            raise ValueError(
                f"{self} says nothing about mirrors; give its fields parities, as in '2x0e + 1x1o'"
            )
        blocks = []
        for entry in self.entries:
            D = wigner(entry.order, -R if mirrored else R)
            blocks += [entry.parity * D if mirrored else D] * entry.number
        return torch.block_diag(*blocks)

    def transform(
        self, field: Tensor, rotation: Tensor, shift: Tensor | None = None, *, spline: int = 3
    ) -> Tensor:
        """The field carried along: `rho(R) f(R^-1 (x - t))` [Weiler 2018, eq. 1].

        Exact for the symmetries of the cube and whole voxels, with splines otherwise.

        Args:
            field: (n, dim, s, s, s).
            rotation: R, (3, 3), about the centre of the grid.
            shift: t in voxels.
            spline: order of the splines.

        Returns:
            The field afterwards, shaped like the given one.

        Example:
            >>> arrow = torch.zeros(1, 3, 3, 3, 3); arrow[0, 0, 2, 1, 1] = 1.0  # along x, at x
            >>> quarter = torch.tensor([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])
            >>> FieldType.of("1x1").transform(arrow, quarter)[0, :, 1, 2, 1].round().tolist()
            [0.0, 1.0, 0.0]
        """
        self.check(field)
        moved = move_grid(field, rotation, shift, spline=spline)
        return torch.einsum("ij,nj...->ni...", self.matrix(rotation).to(moved), moved)

    def __str__(self) -> str:
        return " + ".join(map(str, self.entries))

    def __repr__(self) -> str:
        return f"FieldType({str(self)!r})"


def _entry(part: str, whole: str) -> Fields:
    found = _PART.fullmatch(part.strip())
    if found is None:
        raise ValueError(
            f'a field type is written like "4x0 + 2x1" or "4x0e + 2x1o", got {part.strip()!r} in '
            f"{whole!r}"
        )
    count, order, parity = found.groups()
    return Fields(operator.index(int(count or 1)), int(order), _PARITIES[parity])
