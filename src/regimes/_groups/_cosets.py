"""Cosets, their representatives, and the twist of the fibre [Cohen 2019, appendix A]."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from regimes._check import shown
from regimes._groups._finite import FiniteGroup, Integers, part_of


@dataclass(frozen=True, eq=False)
class Cosets:
    """The points x of G/H with a representative s(x) of each; point 0 is H itself.

    Elements are numbers of G everywhere, those of H too.

    Attributes:
        group: G.
        subgroup: H.
        of: (|G|,), the point gH of each element.
        section: (|G/H|,), s(x), with s(H) = e [Cohen 2019, eq. 16].
        moved: (|G|, |G/H|), the point gx.
        cocycle: (|G/H|, |G|), `h(x, g) = s(gx)^-1 g s(x)` [Cohen 2019, eq. 19].
        within: (|G|,), `h(g) = h(H, g) = s(gH)^-1 g` [Cohen 2019, eq. 25].
    """

    group: FiniteGroup
    subgroup: FiniteGroup
    of: Integers
    section: Integers
    moved: Integers
    cocycle: Integers
    within: Integers

    def __len__(self) -> int:
        return len(self.section)


def cosets(G: FiniteGroup, H: FiniteGroup, section: ArrayLike | None = None) -> Cosets:
    """The homogeneous space G/H: its points, a section, and how G moves and twists fibres.

    Args:
        G: a finite group.
        H: a subgroup of it, from `G.subgroup` or `G.stabiliser`.
        section: one element of each coset, in any order, among them the identity; None: the
            element of least number.

    Returns:
        The space.

    Raises:
        ValueError: if H is no subgroup of G, or the section misses a coset.

    Example:
        The mirrors of a triangle and the section of [Cohen 2019, fig. 7]: h(rH, r) = f.

        >>> from regimes._groups import dihedral_group
        >>> D = dihedral_group(3)
        >>> r, f = D.generators
        >>> r2f = int(D.table[D.table[r, r], f])
        >>> space = cosets(D, D.subgroup([f]), section=[0, r, r2f])
        >>> int(space.cocycle[space.of[r], r]) == f
        True
    """
    place = part_of(G, H)
    members = G.table[:, H.elements]  # (|G|, |H|): the coset of every element
    least = members.min(1)
    firsts = [0, *(g for g in np.unique(least).tolist() if g != 0)]
    numbers = {first: x for x, first in enumerate(firsts)}
    of = np.array([numbers[int(first)] for first in least])
    chosen = np.array(firsts) if section is None else _section(G, of, section, len(firsts))
    moved = of[G.table[:, chosen]]
    products = G.table[:, chosen]  # g s(x)
    cocycle = G.table[G.inverse[chosen[moved]], products].T
    within = cocycle[0]
    assert (place[cocycle] >= 0).all()
    return Cosets(G, H, of, chosen, moved, cocycle, within)


def _section(G: FiniteGroup, of: Integers, given: ArrayLike, points: int) -> Integers:
    chosen = np.asarray(given)
    if chosen.ndim != 1 or chosen.dtype.kind not in "iu":
        raise ValueError(f"section must be numbers of elements, got {shown(given)}")
    fits = len(chosen) == points and (chosen >= 0).all() and (chosen < len(G)).all()
    if not fits or len(set(of[chosen].tolist())) != points or 0 not in chosen:
        raise ValueError(
            f"section must hold one element of each of the {points} cosets, among them the "
            f"identity 0, got {shown(given)}"
        )
    out = np.empty(points, dtype=np.int64)
    out[of[chosen]] = chosen
    return out
