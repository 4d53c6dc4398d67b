"""The orbits of one subgroup on the cosets of another [Cohen 2019, appendix A.1]."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from regimes._groups import FiniteGroup, cosets, part_of


@dataclass(frozen=True, eq=False)
class DoubleCoset:
    """One double coset H2 gamma H1.

    Attributes:
        representative: gamma, a number of G.
        points: the points of G/H1 that it consists of, an orbit of H2.
        reached: (len(points),), an element of H2 that takes the first point to each.
        stabiliser: H2^x, the elements of H2 that keep the first point, `gamma H1 gamma^-1` and H2's
            common part [Cohen 2019, eq. 30]; a subgroup of G.
    """

    representative: int
    points: np.ndarray
    reached: np.ndarray
    stabiliser: FiniteGroup


def double_cosets(G: FiniteGroup, H2: FiniteGroup, H1: FiniteGroup) -> tuple[DoubleCoset, ...]:
    """The double cosets of two subgroups, the one of the identity first.

    Args:
        G: a finite group.
        H2: the subgroup on the left, that of the fields that come out.
        H1: the one on the right, that of the fields that go in.

    Returns:
        The double cosets; representatives are those of `cosets(G, H1)`.

    Example:
        Seen from a corner, the six faces of a cube are of two kinds: near and far.

        >>> from regimes.theory import polyhedral_group
        >>> O = polyhedral_group("cube")
        >>> face, corner = O.stabiliser([0, 0, 1]), O.stabiliser([1, 1, 1])
        >>> [(len(each.points), len(each.stabiliser)) for each in double_cosets(O, corner, face)]
        [(3, 1), (3, 1)]
    """
    part_of(G, H2, "H2")
    part_of(G, H1, "H1")
    space = cosets(G, H1)
    found, seen = [], np.zeros(len(space), dtype=bool)
    for x in range(len(space)):
        if not seen[x]:
            images = space.moved[H2.elements, x]
            points, first = np.unique(images, return_index=True)
            seen[points] = True
            order = np.argsort(points != x, kind="stable")  # x itself first
            keeps = H2.elements[images == x]
            found.append(
                DoubleCoset(
                    int(space.section[x]),
                    points[order],
                    H2.elements[first[order]],
                    G.subgroup(keeps.tolist()),
                )
            )
    return tuple(found)
