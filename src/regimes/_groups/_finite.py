"""Finite groups as tables of products, made from matrices."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from regimes._check import instance, positive_int, shown

LARGEST = 10_000  # elements; a table of products has their square
_DIGITS = 6  # two matrices that agree to so many are one element

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FiniteGroup:
    """A finite group of matrices; its elements are the numbers 0, 1, ... and 0 is the identity.

    A subgroup knows the numbers that its elements have in the group it was taken from.

    Attributes:
        matrices: (n, d, d), one for each element.
        table: (n, n), `table[g, k]` is the number of the product g k.
        inverse: (n,), the inverse of each element.
        generators: numbers of elements whose products are all others.
        elements: (n,), numbers in the group this is a subgroup of; its own if it is none.
        modulo: entries of products are taken modulo this number; None for real matrices.

    Example:
        >>> D = finite_group([[[0, -1], [1, 0]], [[1, 0], [0, -1]]])
        >>> D
        FiniteGroup(8 elements, 2x2 matrices)
        >>> rotations = D.subgroup(D.generators[:1])
        >>> len(rotations), len(D) // len(rotations)
        (4, 2)
    """

    matrices: Floats
    table: Integers
    inverse: Integers
    generators: tuple[int, ...]
    elements: Integers
    modulo: int | None = None

    def __len__(self) -> int:
        return len(self.table)

    def __repr__(self) -> str:
        d = self.matrices.shape[-1]
        end = "" if self.modulo is None else f" modulo {self.modulo}"
        return f"FiniteGroup({len(self)} elements, {d}x{d} matrices{end})"

    def number(self, matrix: ArrayLike) -> int:
        """The number of the element with this matrix.

        Raises:
            ValueError: if it is not in the group.

        Example:
            >>> finite_group([[[-1]]]).number([[-1.0]])
            1
        """
        given = np.asarray(matrix, dtype=float)
        if self.modulo is not None:
            given = given % self.modulo
        if given.shape == self.matrices.shape[1:]:
            found = np.flatnonzero(np.abs(self.matrices - given).max((1, 2)) < 10.0**-_DIGITS)
            if len(found):
                return int(found[0])
        raise ValueError(f"the matrix {shown(matrix)} is none of {self}")

    def subgroup(self, generators: Iterable[int]) -> FiniteGroup:
        """The products of some elements, given by their numbers; of none, the identity alone.

        Example:
            >>> C = finite_group([[[0, -1], [1, 0]]])
            >>> C.subgroup([int(C.table[1, 1])]).elements.tolist()
            [0, 2]
        """
        chosen: list[int] = []
        found = {0}
        for g in (_element(self, each) for each in generators):
            if g not in found:  # those that are products of others are no generators
                chosen.append(g)
                new = found = {0}
                while new:
                    new = {int(self.table[k, g]) for k in new for g in chosen} - found
                    found = found | new
        kept = np.array(sorted(found), dtype=np.int64)
        place = np.full(len(self), -1, dtype=np.int64)
        place[kept] = np.arange(len(kept))
        return FiniteGroup(
            self.matrices[kept],
            place[self.table[np.ix_(kept, kept)]],
            place[self.inverse[kept]],
            tuple(int(place[g]) for g in chosen),
            kept,
            self.modulo,
        )

    def stabiliser(self, point: ArrayLike) -> FiniteGroup:
        """The elements whose matrices leave a point where it is.

        Example:
            >>> D = finite_group([[[0, -1], [1, 0]], [[1, 0], [0, -1]]])
            >>> len(D.stabiliser([1, 0])), len(D.stabiliser([0, 0]))
            (2, 8)
        """
        x = np.asarray(point, dtype=float)
        d = self.matrices.shape[-1]
        if x.shape != (d,) or not np.isfinite(x).all():
            raise ValueError(f"point must have {d} finite coordinates, got {shown(point)}")
        moved = np.abs(self.matrices @ x - x).max(-1)
        return self.subgroup(np.flatnonzero(moved < 10.0**-_DIGITS).tolist())


def finite_group(generators: ArrayLike, modulo: int | None = None) -> FiniteGroup:
    """The finite group of all products of some matrices.

    Args:
        generators: (m, d, d), invertible matrices of finite order.
        modulo: multiply integer matrices modulo this number, as shifts on a torus want it.

    Returns:
        The group; elements are numbered by how many generators they take.

    Raises:
        ValueError: for no square matrices, or if they make no finite group.

    Example:
        The triangle's symmetries, and the shifts and turns of a torus of 4 x 4 points.

        >>> c, s = -0.5, 0.75**0.5
        >>> finite_group([[[c, -s], [s, c]], [[1, 0], [0, -1]]])
        FiniteGroup(6 elements, 2x2 matrices)
        >>> turn, shift = np.eye(3), np.eye(3)
        >>> turn[:2, :2], shift[0, 2] = [[0, -1], [1, 0]], 1
        >>> finite_group([turn, shift], modulo=4)
        FiniteGroup(64 elements, 3x3 matrices modulo 4)
    """
    made = np.asarray(generators, dtype=float)
    if made.ndim != 3 or made.shape[1] != made.shape[2] or not made.shape[1]:
        raise ValueError(
            "generators must be square matrices of one size, shape (m, d, d), got "
            f"{shown(generators)}"
        )
    if not np.isfinite(made).all():
        raise ValueError("generators hold NaN or infinite values")
    if modulo is not None:
        modulo = positive_int("modulo", modulo, least=2)
        if np.abs(made - made.round()).max(initial=0) > 0:
            raise ValueError("modulo is for integer matrices; round the generators or leave it out")
        made = made % modulo
    identity = np.eye(made.shape[1])
    matrices, numbers = [identity], {_key(identity): 0}
    at = 0
    while at < len(matrices):
        for step in made:
            product = _times(matrices[at], step, modulo)
            key = _key(product)
            if key not in numbers:
                if len(matrices) == LARGEST or np.abs(product).max() > 1e6:
                    raise ValueError(
                        "the generators make no finite group, or one of more than "
                        f"{LARGEST} elements; check that a power of each is the identity"
                    )
                numbers[key] = len(matrices)
                matrices.append(product)
        at += 1
    every = np.stack(matrices)
    table = np.empty((len(every), len(every)), dtype=np.int64)
    steps = [numbers[_key(step)] for step in made]
    table[:, 0] = np.arange(len(every))
    right = {g: [numbers[_key(_times(m, every[g], modulo))] for m in matrices] for g in set(steps)}
    known = {0}
    queue = [0]
    for k in queue:  # every element is one that is known, times a generator
        for g in steps:
            reached = int(right[g][k])
            if reached not in known:
                known.add(reached)
                queue.append(reached)
                table[:, reached] = np.array(right[g])[table[:, k]]
    inverse = np.argmin(table, axis=1)  # where the product is the identity, number 0
    if (table[np.arange(len(every)), inverse] != 0).any():
        raise ValueError("the generators must be invertible matrices")
    return FiniteGroup(
        every, table, inverse, tuple(dict.fromkeys(steps)), np.arange(len(every)), modulo
    )


def part_of(group: FiniteGroup, subgroup: FiniteGroup, name: str = "H") -> Integers:
    """The place of each element of a group in its subgroup, -1 outside; an error if it is none."""
    instance("G", group, FiniteGroup, "a FiniteGroup")
    instance(name, subgroup, FiniteGroup, "a FiniteGroup")
    same = len(subgroup) <= len(group) and int(subgroup.elements.max()) < len(group)
    if not (same and np.array_equal(group.matrices[subgroup.elements], subgroup.matrices)):
        raise ValueError(
            f"{name} must be a subgroup of G, got {subgroup} and {group}; take it from G with "
            "G.subgroup or G.stabiliser"
        )
    place = np.full(len(group), -1, dtype=np.int64)
    place[subgroup.elements] = np.arange(len(subgroup))
    return place


def words(group: FiniteGroup) -> Sequence[tuple[int, int, int]]:
    """Every element but the identity as (element, earlier element, generator), in order."""
    known, queue, found = {0}, [0], []
    for k in queue:
        for g in group.generators:
            product = int(group.table[k, g])
            if product not in known:
                known.add(product)
                queue.append(product)
                found.append((product, k, g))
    return found


def _element(group: FiniteGroup, given: Any) -> int:
    number = positive_int("an element", given, least=0)
    if number >= len(group):
        raise ValueError(f"elements of {group} are 0 to {len(group) - 1}, got {number}")
    return number


def _times(a: Floats, b: Floats, modulo: int | None) -> Floats:
    product = a @ b
    return product if modulo is None else product % modulo


def _key(matrix: Floats) -> bytes:
    return (np.round(matrix, _DIGITS) + 0.0).tobytes()  # + 0.0 makes -0.0 the same


def block_sum(parts: Sequence[Floats]) -> Floats:
    """Block-diagonal matrices (n, d, d) of the parts' (n, d_i, d_i)."""
    sizes = [part.shape[-1] for part in parts]
    out = np.zeros((len(parts[0]), sum(sizes), sum(sizes)))
    starts = itertools.accumulate(sizes, initial=0)
    for start, part in zip(starts, parts, strict=False):
        stop = start + part.shape[-1]
        out[:, start:stop, start:stop] = part
    return out
