"""Correlation on the group, and on the homogeneous space with its twist [Cohen 2019, eq. 14]."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from regimes._check import instance, shown
from regimes._groups import Cosets, FiniteGroup, Representation, of_space


def group_correlation(G: FiniteGroup, kernel: ArrayLike, F: ArrayLike) -> np.ndarray:
    """`[k * F](g) = mean over g' of k(g^-1 g') F(g')` [Cohen 2019, eq. 7].

    Args:
        G: a finite group.
        kernel: (|G|, d2, d1), a matrix for each element.
        F: (|G|, d1), a function on the group.

    Returns:
        (|G|, d2).

    Example:
        On the group of two elements, one that picks the other element swaps.

        >>> from regimes.theory import cyclic_group
        >>> group_correlation(cyclic_group(2), [[[0.0]], [[2.0]]], [[1.0], [5.0]]).tolist()
        [[5.0], [1.0]]
    """
    instance("G", G, FiniteGroup, "a FiniteGroup")
    n = len(G)
    k, values = _kernel(kernel, n), np.asarray(F, dtype=float)
    if values.shape != (n, k.shape[2]) or not np.isfinite(values).all():
        raise ValueError(f"F must have shape ({n}, {k.shape[2]}) and finite values, got {shown(F)}")
    return np.einsum("gkba,ka->gb", k[G.table[G.inverse]], values) / n


def twist(space1: Cosets, space2: Cosets) -> np.ndarray:
    """`h1(s2(x)^-1 s1(y))`, what turns the fibre in a correlation on G/H1 [Cohen 2019, eq. 14].

    For a semidirect product with the section in the normal subgroup it is the identity throughout.

    Args:
        space1: G/H1, where fields come from.
        space2: G/H2, where they go; the same group.

    Returns:
        Numbers of G's elements, all in H1, (|G/H2|, |G/H1|).

    Example:
        The rotations of a square are no product of those of a half-turn and others; of its
        symmetries the mirror can be split off.

        >>> from regimes.theory import cosets, cyclic_group, dihedral_group
        >>> C, D = cyclic_group(4), dihedral_group(4)
        >>> half = cosets(C, C.subgroup([2]))
        >>> bool((twist(half, half) == 0).all())
        False
        >>> turns = D.subgroup(D.generators[:1])
        >>> mirror = cosets(D, D.subgroup(D.generators[1:]), section=turns.elements)
        >>> bool((twist(mirror, mirror) == 0).all())
        True
    """
    for name, space in (("space1", space1), ("space2", space2)):
        instance(name, space, Cosets, "what cosets(G, H) gives")
    if space1.group is not space2.group:
        raise ValueError("space1 and space2 must be cosets of the same group")
    G = space1.group
    back = G.inverse[space2.section]
    return space1.within[G.table[np.ix_(back, space1.section)]]


def twisted_correlation(
    G: FiniteGroup,
    H1: FiniteGroup,
    rho1: Representation,
    H2: FiniteGroup,
    kernel: ArrayLike,
    f: ArrayLike,
    *,
    spaces: tuple[Cosets, Cosets] | None = None,
) -> np.ndarray:
    """`mean over y of k(s2(x)^-1 y) rho1(h1(s2(x)^-1 s1(y))) f(y)` [Cohen 2019, eq. 14].

    For kernels of `kernel_space(..., how="coset")` it is what lifting the field to the group,
    `group_correlation` with the lifted kernel, and going back give.

    Args:
        G: a finite group.
        H1: the subgroup of the fields that go in.
        rho1: a representation of H1.
        H2: the subgroup of the fields that come out.
        kernel: (|G/H1|, d2, d1), a matrix for each point.
        f: (|G/H1|, d1), a field.
        spaces: the cosets of H1 and of H2, with sections of one's own.

    Returns:
        (|G/H2|, d2), a field.

    Example:
        >>> from regimes.theory import cyclic_group, representation
        >>> C = cyclic_group(4)
        >>> H = C.subgroup([2])
        >>> odd = representation(H, "odd", generators=[[[-1.0]]])
        >>> twisted_correlation(C, H, odd, H, [[[0.0]], [[2.0]]], [[1.0], [5.0]]).tolist()
        [[5.0], [-1.0]]
    """
    space1, space2 = spaces or (None, None)
    place, space1 = of_space(G, H1, rho1, space1, "1")
    _, space2 = of_space(G, H2, _trivial(H2), space2, "2")
    k, field = _kernel(kernel, len(space1)), np.asarray(f, dtype=float)
    if k.shape[2] != rho1.dim:
        raise ValueError(f"kernel must have {rho1.dim} columns, as rho1 has, got {k.shape[2]}")
    if field.shape != (len(space1), rho1.dim) or not np.isfinite(field).all():
        raise ValueError(
            f"f must have shape ({len(space1)}, {rho1.dim}) and finite values, got {shown(f)}"
        )
    return np.einsum("xyba,ya->xb", blocks(space1, space2, rho1.matrices[place], k), field) / len(
        space1
    )


def blocks(space1: Cosets, space2: Cosets, rho1: np.ndarray, kernel: np.ndarray) -> np.ndarray:
    """`k(s2(x)^-1 y) rho1(h1(s2(x)^-1 s1(y)))`, (|G/H2|, |G/H1|, d2, d1); rho1 by elements of G."""
    back = space1.group.inverse[space2.section]
    seen = kernel[space1.moved[back]]  # (x, y, d2, d1)
    return seen @ rho1[twist(space1, space2)]


def _trivial(H: Any) -> Representation:
    instance("H2", H, FiniteGroup, "a FiniteGroup")
    return Representation(H, np.ones((len(H), 1, 1)), "trivial")


def _kernel(kernel: Any, rows: int) -> np.ndarray:
    found = np.asarray(kernel, dtype=float)
    if found.ndim != 3 or len(found) != rows or not np.isfinite(found).all():
        raise ValueError(
            f"kernel must have shape ({rows}, d2, d1) and finite values, got {shown(kernel)}"
        )
    return found
