"""Fields on the points of a lattice, and how shifts, rotations and mirrors move them."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from regimes._check import choose, instance, positive_int, shown
from regimes._groups import (
    FiniteGroup,
    Representation,
    cyclic_group,
    dihedral_group,
    lattice_action,
    polyhedral_group,
    representation,
)

HEXAGONAL = ((1.0, 0.5), (0.0, 0.75**0.5))  # columns: the two axes, 60 degrees apart
Basis = tuple[tuple[float, ...], ...]

_PLANE = {
    "p1": (1, False, None),
    "p2": (2, False, None),
    "p4": (4, False, None),
    "p4m": (4, True, None),
    "p3": (3, False, HEXAGONAL),
    "p6": (6, False, HEXAGONAL),
    "p6m": (6, True, HEXAGONAL),
}
_SPACE = {
    "V": ("box", False),
    "D4": ("prism", False),
    "D4h": ("prism", True),
    "T": ("tetrahedron", False),
    "O": ("cube", False),
    "Oh": ("cube", True),
}


def symmetry_names() -> list[str]:
    """Names that `LatticeFields.of` knows: of the plane p1 to p6m, of space V to Oh.

    >>> symmetry_names()
    ['p1', 'p2', 'p4', 'p4m', 'p3', 'p6', 'p6m', 'V', 'D4', 'D4h', 'T', 'O', 'Oh']
    """
    return [*_PLANE, *_SPACE]


@functools.cache
def symmetry(name: str) -> tuple[FiniteGroup, Basis | None]:
    """The rotations and mirrors of that name, and the lattice they belong to; one object each."""
    if name in _PLANE:
        n, mirrors, basis = _PLANE[name]
        return dihedral_group(n) if mirrors else cyclic_group(n), basis
    solid, mirrors = choose(name, {**dict.fromkeys(_PLANE, ("", False)), **_SPACE}, "symmetry")
    return polyhedral_group(solid, mirrors=mirrors), None


@dataclass(frozen=True, eq=False)
class LatticeFields:
    """`number` fields of one representation on the points of a lattice.

    Tensors are (n, channels, *sides) with the field's components next to each other: all of the
    first field, then of the second. Axes are the lattice's: on the hexagonal one the two axes are
    60 degrees apart (axial coordinates). Rotations are about the middle of the array.

    Attributes:
        representation: how a field's components turn, with its group of rotations and mirrors.
        number: how many of them.
        basis: basis vectors of the lattice as columns; None: the points of integer coordinates.
        actions: (elements, axes, axes), integers, what each element does to coordinates.

    Example:
        >>> LatticeFields.of("p4", "regular", 3).dim
        12
        >>> arrows = LatticeFields.of("p4", "vector")
        >>> x = torch.zeros(1, 2, 3, 3); x[0, 0, 2, 1] = 1.0  # along the first axis, there
        >>> arrows.act(x, 1)[0, :, 1, 2].round().tolist()  # a quarter turn
        [0.0, 1.0]
    """

    representation: Representation
    number: int = 1
    basis: Basis | None = None
    actions: np.ndarray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        instance("representation", self.representation, Representation, "a Representation")
        object.__setattr__(self, "number", positive_int("number", self.number))
        object.__setattr__(self, "actions", lattice_action(self.representation.group, self.basis))

    @staticmethod
    def of(name: str, kind: str | int = "regular", number: int = 1) -> LatticeFields:
        """Fields by the name of a symmetry (`symmetry_names`) and of a representation.

        Args:
            name: "p4", "p6m", "O", ...
            kind: as in `theory.representation`, or several joined by "+", such as "trivial+vector".
            number: how many.
        """
        group, basis = symmetry(name) if isinstance(name, str) else symmetry(shown(name))
        kinds = kind.split("+") if isinstance(kind, str) else [kind]
        parts = [representation(group, each.strip() if isinstance(each, str) else each)
                 for each in kinds]  # fmt: skip
        return LatticeFields(functools.reduce(lambda a, b: a + b, parts), number, basis)

    @property
    def dim(self) -> int:
        """Channels in all."""
        return self.number * self.representation.dim

    @property
    def axes(self) -> int:
        """Axes of the lattice, 2 or 3."""
        return int(self.representation.group.matrices.shape[-1])

    def offsets(self, size: int) -> np.ndarray:
        """The points of a kernel of odd side, (m, axes): those that no element takes out of it.

        A square or a cube; on the hexagonal lattice a hexagon.
        """
        side = positive_int("size", size)
        if side % 2 == 0:
            raise ValueError(f"a kernel has an odd number of points a side, got {side}")
        reach = range(-(side // 2), side // 2 + 1)
        points = np.array(list(itertools.product(reach, repeat=self.axes)))
        images = points @ self.actions.transpose(0, 2, 1)
        return points[(np.abs(images) <= side // 2).all((0, 2))]

    def act(
        self, field: Tensor, element: int, shift: Sequence[int] | None = None, *, wrap: bool = False
    ) -> Tensor:
        """The field carried along, `rho(h) f(h^-1 (x - t))`.

        Args:
            field: (n, dim, *sides), equal sides.
            element: number of h in the group.
            shift: t, along the axes.
            wrap: whether what leaves on one side comes back on the other, as on a torus; else
                zeros come in.

        Returns:
            The field afterwards, shaped like the given one.

        Raises:
            ValueError: if points would come to lie between points: the hexagonal lattice wants odd
                sides.
        """
        self.check(field)
        sides, n = field.shape[2:], len(self.representation.group)
        if len(set(sides)) != 1:
            raise ValueError(f"rotations want equal sides, got {tuple(sides)}")
        if not isinstance(element, int | np.integer) or not 0 <= element < n:
            raise ValueError(f"element must be a number from 0 to {n - 1}, got {shown(element)}")
        t = np.zeros(self.axes) if shift is None else np.asarray(shift, dtype=float)
        if t.shape != (self.axes,) or (t != t.round()).any():
            raise ValueError(f"shift must be {self.axes} whole numbers, got {shown(shift)}")
        source, inside = self._sources(int(element), tuple(t), sides[0], wrap)
        moved = field.flatten(2)[..., torch.from_numpy(source).to(field.device)]
        moved = moved * torch.from_numpy(inside).to(moved)
        rho = torch.from_numpy(self.representation.matrices[element]).to(moved)
        parts = moved.unflatten(1, (self.number, self.representation.dim))
        return torch.einsum("ij,nkjx->nkix", rho, parts).flatten(1, 2).view(field.shape)

    def _sources(
        self, element: int, shift: tuple[float, ...], side: int, wrap: bool
    ) -> tuple[np.ndarray, np.ndarray]:
        """For each point where its value comes from, and whether that is inside."""
        middle = (side - 1) / 2
        points = np.indices((side,) * self.axes).reshape(self.axes, -1).T - middle
        back = self.actions[self.representation.group.inverse[element]]
        found = (points - np.array(shift)) @ back.T + middle
        whole = found.round().astype(np.int64)
        if np.abs(found - whole).max() > 1e-9:
            raise ValueError(
                f"about the middle of {side} points this lattice turns into points between its "
                "own; give an odd side"
            )
        inside = ((whole >= 0) & (whole < side)).all(1)
        whole = whole % side
        return np.ravel_multi_index(tuple(whole.T), (side,) * self.axes), inside | wrap

    def check(self, field: Tensor) -> None:
        """Raise a ValueError unless a tensor has the channels and axes of these fields."""
        shape = tuple(getattr(field, "shape", ()))
        if len(shape) != 2 + self.axes or shape[1] != self.dim:
            raise ValueError(
                f"fields of {self} have shape (n, {self.dim}, {', '.join(['s'] * self.axes)}), "
                f"got {shape or shown(field)}"
            )

    def __str__(self) -> str:
        return f"{self.number} x {self.representation.name}"

    def __repr__(self) -> str:
        return f"LatticeFields({self} of {len(self.representation.group)} elements)"
