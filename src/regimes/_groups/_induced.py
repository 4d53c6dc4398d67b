"""Induced representations: how a group moves fields on a homogeneous space."""

from __future__ import annotations

import numpy as np

from regimes._check import choose, instance
from regimes._groups._cosets import Cosets, cosets
from regimes._groups._finite import FiniteGroup, Floats, part_of
from regimes._groups._representation import Representation


def induced(
    G: FiniteGroup,
    H: FiniteGroup,
    rho: Representation,
    picture: str = "field",
    *,
    space: Cosets | None = None,
) -> Representation:
    """`Ind rho`, as matrices on fields or on functions on the group.

    On fields, `[pi(g) f](x) = rho(h(g^-1, x)^-1) f(g^-1 x)` [Cohen 2019, eq. 4], rows ordered by
    point and then by component. On functions from G, `[pi(g) f](k) = f(g^-1 k)`
    [Cohen 2019, eq. 3], ordered by element; those with `f(gh) = rho(h^-1) f(g)` are carried to
    themselves, and lifting (`theory.Mackey`) takes the one picture to the other.

    Args:
        G: a finite group.
        H: a subgroup.
        rho: a representation of H.
        picture: "field" or "group".
        space: the cosets with a section of one's own; None: `cosets(G, H)`.

    Returns:
        A representation of G, of dimension |G/H| d or |G| d.

    Example:
        Induced from the identity alone, the trivial representation becomes the regular one.

        >>> from regimes._groups import dihedral_group, representation
        >>> D = dihedral_group(4)
        >>> one = D.subgroup([])
        >>> pi = induced(D, one, representation(one, "trivial"))
        >>> bool((pi.character == representation(D, "regular").character).all())
        True
    """
    place, space = of_space(G, H, rho, space)
    make = choose(picture, {"field": _on_fields, "group": _on_group}, "picture")
    return Representation(G, make(space, rho.matrices[place]), f"induced {rho.name}")


def of_space(
    G: FiniteGroup, H: FiniteGroup, rho: Representation, space: Cosets | None = None, end: str = ""
) -> tuple[np.ndarray, Cosets]:
    """Places of G's elements in H, and the cosets; errors unless rho represents H and H is in G."""
    place = part_of(G, H, f"H{end}")
    instance(f"rho{end}", rho, Representation, "a Representation")
    if rho.group is not H and not np.array_equal(rho.group.elements, H.elements):
        raise ValueError(f"rho{end} must represent H{end}, {H}; got {rho}")
    if space is None:
        return place, cosets(G, H)
    instance("space", space, Cosets, "what cosets(G, H) gives")
    if space.group is not G or not np.array_equal(space.subgroup.elements, H.elements):
        raise ValueError("space must be cosets(G, H) of the same G and H")
    return place, space


def _on_fields(space: Cosets, rho: Floats) -> Floats:
    """`pi(g)` takes the fibre at x to gx and turns it by rho(h(x, g))."""
    n, points, d = len(space.group), len(space), rho.shape[-1]
    out = np.zeros((n, points, d, points, d))
    for g in range(n):
        for x in range(points):
            out[g, space.moved[g, x], :, x, :] = rho[space.cocycle[x, g]]
    return out.reshape(n, points * d, points * d)


def _on_group(space: Cosets, rho: Floats) -> Floats:
    n, d = len(space.group), rho.shape[-1]
    out = np.zeros((n, n, d, n, d))
    k = np.arange(n)
    for g in range(n):
        for c in range(d):
            out[g, space.group.table[g, k], c, k, c] = 1.0
    return out.reshape(n, n * d, n * d)
