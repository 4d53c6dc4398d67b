"""Orthogonal representations of finite groups."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from regimes._check import choose, instance, positive_int, shown
from regimes._groups._finite import FiniteGroup, Floats, block_sum, part_of, words

_CLOSE = 1e-9


@dataclass(frozen=True, eq=False)
class Representation:
    """An orthogonal matrix for every element of a finite group; `+` is the direct sum.

    Attributes:
        group: what it represents.
        matrices: (n, d, d), in the order of the group's elements.
        name: how it is called.

    Raises:
        ValueError: if the matrices are not orthogonal or do not multiply as the group does.

    Example:
        >>> from regimes._groups import cyclic_group, representation
        >>> C = cyclic_group(4)
        >>> both = representation(C, "trivial") + representation(C, "vector")
        >>> both
        Representation(trivial + vector of 4 elements, dimension 3)
        >>> both.character.round().tolist()
        [3.0, 1.0, -1.0, 1.0]
    """

    group: FiniteGroup
    matrices: Floats
    name: str = "given"

    def __post_init__(self) -> None:
        instance("group", self.group, FiniteGroup, "a FiniteGroup")
        matrices = np.asarray(self.matrices, dtype=float)
        object.__setattr__(self, "matrices", matrices)
        n = len(self.group)
        if matrices.ndim != 3 or len(matrices) != n or matrices.shape[1] != matrices.shape[2]:
            raise ValueError(
                f"matrices must have shape ({n}, d, d), one for each element, got "
                f"{shown(self.matrices)}"
            )
        one = np.eye(matrices.shape[1])
        if not np.abs(matrices @ matrices.transpose(0, 2, 1) - one).max() < _CLOSE:
            raise ValueError("a representation has orthogonal matrices here; change its basis")
        for g in self.group.generators or (0,):
            change = matrices[self.group.table[:, g]] - matrices @ matrices[g]
            if not np.abs(change).max() < _CLOSE:
                raise ValueError(
                    f"the matrices do not multiply as the group does: rho(g) rho({g}) is not "
                    f"rho(g {g}) for some g"
                )

    @property
    def dim(self) -> int:
        """Rows of a matrix."""
        return int(self.matrices.shape[1])

    @property
    def character(self) -> Floats:
        """The traces of the matrices, (n,)."""
        return np.einsum("gii->g", self.matrices)

    @property
    def is_permutation(self) -> bool:
        """Whether every matrix only permutes, so that it commutes with functions of one number."""
        entries = np.abs(self.matrices - self.matrices.round())
        return bool(entries.max() < _CLOSE and self.matrices.min() > -_CLOSE)

    def on_generators(self) -> Floats:
        """The matrices of the group's generators, (m, d, d); of the identity if it has none."""
        return self.matrices[list(self.group.generators) or [0]]

    def restricted(self, subgroup: FiniteGroup) -> Representation:
        """The same on a subgroup of its group."""
        part_of(self.group, subgroup, "subgroup")
        return Representation(subgroup, self.matrices[subgroup.elements], self.name)

    def __add__(self, other: Representation) -> Representation:
        if not isinstance(other, Representation) or other.group is not self.group:
            raise ValueError(f"only representations of one group have a sum, got {shown(other)}")
        both = block_sum([self.matrices, other.matrices])
        return Representation(self.group, both, f"{self.name} + {other.name}")

    def __repr__(self) -> str:
        return f"Representation({self.name} of {len(self.group)} elements, dimension {self.dim})"


def representation(
    group: FiniteGroup, kind: str | int = "regular", *, generators: ArrayLike | None = None
) -> Representation:
    """A representation by name, by frequency, or by the matrices of the generators.

    Args:
        group: a finite group.
        kind: "trivial"; "sign", the determinant of the element; "vector", the element's own
            matrix; "regular", the permutations `k -> g k` of the group itself; or a number k, the
            plane turned k times as fast (groups of 2x2 matrices), irreducible for 0 < k < n/2.
        generators: matrices (m, d, d) of the elements `group.generators`, in their order; then
            `kind` only names the result.

    Returns:
        The representation, orthogonal.

    Raises:
        ValueError: for unknown names, or generators that do not define a representation.

    Example:
        >>> from regimes._groups import dihedral_group
        >>> D = dihedral_group(3)
        >>> [representation(D, kind).dim for kind in ("trivial", "sign", "vector", "regular", 2)]
        [1, 1, 2, 6, 2]
        >>> representation(D, "flip", generators=[[[1.0]], [[-1.0]]]).character[D.generators[1]]
        np.float64(-1.0)
    """
    instance("group", group, FiniteGroup, "a FiniteGroup")
    if generators is not None:
        return _from_generators(group, np.asarray(generators, dtype=float), str(kind))
    if isinstance(kind, str):
        return Representation(group, choose(kind, _KINDS, "representation")(group), kind)
    return _planar(group, positive_int("kind", kind, least=0))


def _from_generators(group: FiniteGroup, given: Floats, name: str) -> Representation:
    m = len(group.generators)
    if given.ndim != 3 or len(given) != m or given.shape[1] != given.shape[2]:
        raise ValueError(
            f"generators must have shape ({m}, d, d), a matrix for each of the group's "
            f"{m} generators, got {shown(given)}"
        )
    of = dict(zip(group.generators, given, strict=True))
    matrices = np.empty((len(group), *given.shape[1:]))
    matrices[0] = np.eye(given.shape[1])
    for element, before, step in words(group):
        matrices[element] = matrices[before] @ of[step]
    return Representation(group, matrices, name)


def _planar(group: FiniteGroup, k: int) -> Representation:
    if group.matrices.shape[1:] != (2, 2):
        raise ValueError(f"a frequency is for groups of 2x2 matrices, got {group}")
    return Representation(group, planar_frequency(group.matrices, k), f"frequency {k}")


def planar_frequency(matrices: Floats, k: int) -> Floats:
    """Orthogonal 2x2 matrices (..., 2, 2) that turn k times as fast; mirrors stay mirrors."""
    a, c = matrices[..., 0, 0], matrices[..., 1, 0]  # the first axis goes to (a, c)
    proper = np.sign(np.linalg.det(matrices))
    angle = k * np.arctan2(c, a)
    cosine, sine = np.cos(angle), np.sin(angle)
    return np.stack(
        [np.stack([cosine, -proper * sine], -1), np.stack([sine, proper * cosine], -1)], -2
    )


def _regular(group: FiniteGroup) -> Floats:
    n = len(group)
    out = np.zeros((n, n, n))
    for g in range(n):
        out[g, group.table[g], np.arange(n)] = 1.0
    return out


_KINDS = {
    "trivial": lambda group: np.ones((len(group), 1, 1)),
    "sign": lambda group: np.linalg.det(group.matrices).round()[:, None, None],
    "vector": lambda group: group.matrices,
    "regular": _regular,
}
