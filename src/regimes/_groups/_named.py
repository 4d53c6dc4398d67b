"""The groups that lattices and solids have."""

from __future__ import annotations

import math

import numpy as np

from regimes._check import choose, positive_int
from regimes._groups._finite import FiniteGroup, finite_group

_GOLDEN = (1 + math.sqrt(5)) / 2


def cyclic_group(n: int) -> FiniteGroup:
    """C_n, the n rotations of a regular polygon, as 2x2 matrices; element k turns by 2 pi k/n.

    Example:
        >>> cyclic_group(4).matrices[1].round().tolist()
        [[0.0, -1.0], [1.0, 0.0]]
    """
    return finite_group([_turn(2 * math.pi / positive_int("n", n))])


def dihedral_group(n: int) -> FiniteGroup:
    """D_n, the 2n symmetries of a regular polygon, as 2x2 matrices.

    Its generators are the turn by 2 pi/n and the mirror that keeps the first axis.

    Example:
        >>> len(dihedral_group(3))
        6
    """
    turn = _turn(2 * math.pi / positive_int("n", n))
    return finite_group([turn, np.diag([1.0, -1.0])])


def polyhedral_group(solid: str, *, mirrors: bool = False) -> FiniteGroup:
    """The symmetries of a solid in space, as 3x3 matrices.

    Args:
        solid: "cube" (O, 24 rotations), "tetrahedron" (T, 12), "icosahedron" (I, 60), "prism"
            (D_4, the 8 rotations of a square prism along z), or "box" (V, the 4 of a box).
        mirrors: the same times the inversion x -> -x: O_h, T_h, I_h, D_4h, D_2h.

    Example:
        >>> len(polyhedral_group("cube")), len(polyhedral_group("icosahedron", mirrors=True))
        (24, 120)
    """
    generators = list(choose(solid, _SOLIDS, "solid"))
    return finite_group([*generators, -np.eye(3)] if mirrors else generators)


def _turn(angle: float) -> np.ndarray:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s], [s, c]])


def _about(axis: tuple[float, float, float], angle: float) -> np.ndarray:
    """The rotation about an axis: Rodrigues' formula."""
    x, y, z = np.array(axis) / np.linalg.norm(axis)
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + math.sin(angle) * cross + (1 - math.cos(angle)) * cross @ cross


_QUARTER, _HALF = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]]), np.diag([1.0, -1.0, -1.0])
_DIAGONAL = np.array([[0.0, 0, 1], [1, 0, 0], [0, 1, 0]])
_SOLIDS = {
    "cube": (_QUARTER, _DIAGONAL),
    "tetrahedron": (_HALF, _DIAGONAL),
    "icosahedron": (_DIAGONAL, _about((0.0, 1.0, _GOLDEN), 2 * math.pi / 5)),
    "prism": (_QUARTER, _HALF),
    "box": (np.diag([-1.0, -1.0, 1.0]), _HALF),
}
