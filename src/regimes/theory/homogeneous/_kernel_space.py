"""All equivariant linear maps between fields, in four ways [Cohen 2019, theorems 3.1 to 3.4]."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from regimes._check import choose
from regimes._groups import (
    Cosets,
    FiniteGroup,
    Representation,
    fits,
    fixed_vectors,
    induced,
    intertwining_maps,
    of_space,
)
from regimes.theory.homogeneous._correlation import blocks
from regimes.theory.homogeneous._double_cosets import double_cosets


@dataclass(frozen=True, eq=False)
class KernelSpace:
    """The equivariant linear maps from fields on G/H1 to fields on G/H2.

    Attributes:
        how: the way they were found.
        kernels: (dimension, ..., d2, d1), the kernels as that way knows them: "full" maps of all
            points to all, (k, |G/H2|, |G/H1|, d2, d1); "group" functions on G; "coset" functions
            on G/H1; "double_coset" one matrix for each double coset.
        maps: (dimension, |G/H2| d2, |G/H1| d1), the maps themselves, orthonormal.
    """

    how: str
    kernels: np.ndarray
    maps: np.ndarray

    @property
    def dimension(self) -> int:
        """How many numbers an equivariant map has."""
        return len(self.maps)

    def __repr__(self) -> str:
        _, rows, columns = self.maps.shape
        return f"KernelSpace({self.dimension} maps of {columns} to {rows} numbers, {self.how})"


def kernel_space(
    G: FiniteGroup,
    H1: FiniteGroup,
    rho1: Representation,
    H2: FiniteGroup,
    rho2: Representation,
    how: str = "double_coset",
) -> KernelSpace:
    """A basis of the linear maps of fields that commute with a finite group.

    Args:
        G: a finite group.
        H1: the subgroup of the fields that go in, which live on G/H1.
        rho1: a representation of H1, how those fields turn.
        H2: the subgroup of the fields that come out.
        rho2: a representation of H2.
        how: "full", the null space of `pi2(g) X - X pi1(g)`; "group", kernels on G with
            `k(h2 g h1) = rho2(h2) k(g) rho1(h1)` [Cohen 2019, eq. 8]; "coset", kernels on G/H1
            with `k(h2 x) = rho2(h2) k(x) rho1(h1(x, h2))^-1` [Cohen 2019, eq. 9]; or
            "double_coset", one matrix for each double coset that commutes with its stabiliser
            [Cohen 2019, eq. 12]. They give the same maps; the last solves the smallest equations.

    Returns:
        The space, with kernels and maps.

    Raises:
        ValueError: for subgroups or representations that do not fit, or more than 6000 unknowns.

    Example:
        From numbers on a cube's faces to vectors tangent to them.

        >>> from regimes.theory import Representation, polyhedral_group, representation
        >>> O = polyhedral_group("cube")
        >>> H = O.stabiliser([0, 0, 1])
        >>> tangent = Representation(H, H.matrices[:, :2, :2], "tangent")
        >>> kernel_space(O, H, representation(H, "trivial"), H, tangent)
        KernelSpace(2 maps of 6 to 12 numbers, double_coset)
        >>> [kernel_space(O, H, tangent, H, tangent, how).dimension for how in ("full", "group")]
        [8, 8]
    """
    solve = choose(how, _WAYS, "way (how)")
    place1, space1 = of_space(G, H1, rho1, end="1")
    place2, space2 = of_space(G, H2, rho2, end="2")
    case = _Case(space1, space2, rho1.matrices[place1], rho2.matrices[place2], rho1, rho2)
    kernels, found = solve(case)
    rows, columns = len(space2) * rho2.dim, len(space1) * rho1.dim
    maps = found.transpose(0, 1, 3, 2, 4).reshape(len(found), rows, columns)
    # kernels of different double cosets never meet, and within one lengths are in proportion
    lengths = np.linalg.norm(maps, axis=(1, 2), keepdims=True)
    return KernelSpace(how, kernels, maps / lengths)


def kernel_dimension(
    G: FiniteGroup,
    H1: FiniteGroup,
    rho1: Representation,
    H2: FiniteGroup,
    rho2: Representation,
) -> int:
    """The dimension of that space from characters alone, `1/|G| sum_g chi1(g) chi2(g)`.

    The characters are those of the induced representations:
    `chi(g) = 1/|H| sum_k tr rho(k^-1 g k)` over the k that take g into H.

    Args:
        G: a finite group.
        H1: the subgroup of the fields that go in.
        rho1: a representation of H1.
        H2: the subgroup of the fields that come out.
        rho2: a representation of H2.

    Returns:
        The number of equivariant maps in a basis.

    Example:
        >>> from regimes.theory import dihedral_group, representation
        >>> D = dihedral_group(3)
        >>> flip = D.subgroup(D.generators[1:])
        >>> one, regular = representation(flip, "trivial"), representation(flip, "regular")
        >>> kernel_dimension(D, flip, one, flip, one)
        2
        >>> kernel_dimension(D, flip, regular, flip, regular)
        6
    """
    chi = []
    for end, H, rho in (("1", H1, rho1), ("2", H2, rho2)):
        place, _ = of_space(G, H, rho, end=end)
        own = np.append(rho.character, 0.0)[place]  # place is -1 outside of H
        k = np.arange(len(G))
        conjugate = G.table[G.table[G.inverse[k]], k[:, None]]  # k^-1 g k, (k, g)
        chi.append(own[conjugate].sum(0) / len(H))
    return round(float(chi[0] @ chi[1]) / len(G))


@dataclass(frozen=True, eq=False)
class _Case:
    """What all ways start from; rho1 and rho2 by elements of G, of meaning within H1 and H2."""

    space1: Cosets
    space2: Cosets
    rho1: np.ndarray
    rho2: np.ndarray
    given1: Representation
    given2: Representation

    @property
    def group(self) -> FiniteGroup:
        return self.space1.group

    @property
    def dims(self) -> tuple[int, int]:
        return self.rho2.shape[-1], self.rho1.shape[-1]

    def generators(self, space: Cosets) -> list[int]:
        """Generators of a subgroup as numbers of G."""
        return [int(space.subgroup.elements[g]) for g in space.subgroup.generators]

    def maps(self, kernels: np.ndarray) -> np.ndarray:
        """What correlation with kernels on G/H1 does, (k, x, y, d2, d1)."""
        made = [blocks(self.space1, self.space2, self.rho1, kernel) for kernel in kernels]
        shape = (0, len(self.space2), len(self.space1), *self.dims)
        return np.stack(made) if made else np.zeros(shape)


def _full(case: _Case) -> tuple[np.ndarray, np.ndarray]:
    G = case.group
    pi1 = induced(G, case.space1.subgroup, case.given1, space=case.space1)
    pi2 = induced(G, case.space2.subgroup, case.given2, space=case.space2)
    found = intertwining_maps(pi2.on_generators(), pi1.on_generators())
    d2, d1 = case.dims
    shaped = found.reshape(-1, len(case.space2), d2, len(case.space1), d1).transpose(0, 1, 3, 2, 4)
    return shaped, shaped


def _group(case: _Case) -> tuple[np.ndarray, np.ndarray]:
    """Fixed points of `k(g) -> rho2(h)^-1 k(hg)` and of `k(g) -> k(gh) rho1(h)^-1`."""
    G, (d2, d1) = case.group, case.dims
    n, size = len(G), len(G) * d2 * d1
    fits(size)
    maps = []
    for moved, turn in [
        *((G.table[h], np.kron(case.rho2[h].T, np.eye(d1))) for h in case.generators(case.space2)),
        *((G.table[:, h], np.kron(np.eye(d2), case.rho1[h])) for h in case.generators(case.space1)),
    ]:
        A = np.zeros((n, d2 * d1, n, d2 * d1))
        A[np.arange(n), :, moved, :] = turn
        maps.append(A.reshape(size, size))
    kernels = fixed_vectors(maps, size).reshape(-1, n, d2, d1)
    return kernels, case.maps(kernels[:, case.space1.section])  # k(g) = k(s(gH)) rho1(h(g))


def _coset(case: _Case) -> tuple[np.ndarray, np.ndarray]:
    """Fixed points of `k(x) -> rho2(h)^-1 k(hx) rho1(h1(x, h))`."""
    (d2, d1), points = case.dims, len(case.space1)
    size = points * d2 * d1
    fits(size)
    maps = []
    for h in case.generators(case.space2):
        A = np.zeros((points, d2 * d1, points, d2 * d1))
        for x in range(points):
            turn = case.rho1[case.space1.cocycle[x, h]]
            A[x, :, case.space1.moved[h, x], :] = np.kron(case.rho2[h].T, turn.T)
        maps.append(A.reshape(size, size))
    kernels = fixed_vectors(maps, size).reshape(-1, points, d2, d1)
    return kernels, case.maps(kernels)


def _double_coset(case: _Case) -> tuple[np.ndarray, np.ndarray]:
    """`rho2(h) K = K rho1(gamma^-1 h gamma)`, carried over the orbit [Cohen 2019, eq. 43]."""
    G, points = case.group, len(case.space1)
    kinds = double_cosets(G, case.space2.subgroup, case.space1.subgroup)
    small, large = [], []
    for number, kind in enumerate(kinds):
        keeps = kind.stabiliser.elements[list(kind.stabiliser.generators) or [0]]
        gamma = kind.representative
        inner = G.table[G.table[G.inverse[gamma], keeps], gamma]
        for K in intertwining_maps(case.rho2[keeps], case.rho1[inner]):
            alone = np.zeros((len(kinds), *case.dims))
            alone[number] = K
            whole = np.zeros((points, *case.dims))
            first = kind.points[0]
            for x, h in zip(kind.points, kind.reached, strict=True):
                whole[x] = case.rho2[h] @ K @ case.rho1[case.space1.cocycle[first, h]].T
            small.append(alone)
            large.append(whole)
    shape = (-1, points, *case.dims)
    kernels = np.array(large).reshape(shape)
    return np.array(small).reshape(-1, len(kinds), *case.dims), case.maps(kernels)


_WAYS = {"full": _full, "group": _group, "coset": _coset, "double_coset": _double_coset}
