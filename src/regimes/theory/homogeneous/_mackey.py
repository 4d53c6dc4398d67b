"""Fields lifted to functions on the group [Cohen 2019, section 2.3]."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from regimes._check import shown
from regimes._groups import Cosets, FiniteGroup, Representation, of_space


class Mackey:
    """Functions on a group with `f(gh) = rho(h^-1) f(g)`, which are fields on G/H, and back.

    Args:
        G: a finite group.
        H: a subgroup.
        rho: a representation of H.
        space: the cosets with a section of one's own; None: `cosets(G, H)`.

    Attributes:
        space: the cosets.
        matrix: lifting as a matrix, (|G| d, |G/H| d); its columns are orthogonal, of length
            sqrt(|H|).

    Example:
        Vectors on the corners of a square, turned by a quarter: the two pictures agree.

        >>> from regimes.theory import dihedral_group, induced, representation
        >>> D = dihedral_group(4)
        >>> H = D.subgroup(D.generators[1:])
        >>> rho = representation(H, "vector")
        >>> lifting = Mackey(D, H, rho)
        >>> f = np.arange(8.0).reshape(4, 2)
        >>> F = lifting.lift(f)
        >>> F.shape, lifting.deviation(F), bool((lifting.unlift(F) == f).all())
        ((8, 2), 0.0, True)
        >>> on_fields = induced(D, H, rho).matrices[1]
        >>> moved = lifting.lift((on_fields @ f.ravel()).reshape(4, 2))
        >>> bool(abs(moved - lifting.moved(1, F)).max() < 1e-12)
        True
    """

    def __init__(
        self, G: FiniteGroup, H: FiniteGroup, rho: Representation, *, space: Cosets | None = None
    ) -> None:
        place, self.space = of_space(G, H, rho, space)
        self.group, self.rho, self._place = G, rho, place

    def lift(self, f: ArrayLike) -> np.ndarray:
        """`[Lambda f](g) = rho(h(g)^-1) f(gH)` [Cohen 2019, eq. 2], (|G/H|, d) to (|G|, d)."""
        field = self._shaped("f", f, len(self.space))
        turns = self.rho.matrices[self._place[self.space.within]]
        return np.einsum("gba,gb->ga", turns, field[self.space.of])

    def unlift(self, F: ArrayLike) -> np.ndarray:
        """`f(x) = F(s(x))`, (|G|, d) to (|G/H|, d); F is taken to fulfil the condition."""
        return self._shaped("F", F, len(self.group))[self.space.section]

    def moved(self, g: int, F: ArrayLike) -> np.ndarray:
        """`F(g^-1 k)`, the group acting on functions [Cohen 2019, eq. 3]."""
        if not isinstance(g, int | np.integer) or not 0 <= g < len(self.group):
            raise ValueError(f"g must be an element 0 to {len(self.group) - 1}, got {shown(g)}")
        values = self._shaped("F", F, len(self.group))
        return values[self.group.table[self.group.inverse[g]]]

    def deviation(self, F: ArrayLike) -> float:
        """The largest entry of `F(gh) - rho(h^-1) F(g)` over g in G and h in H; 0 for a lift."""
        values = self._shaped("F", F, len(self.group))
        worst = 0.0
        for h, turn in zip(self.space.subgroup.elements, self.rho.matrices, strict=True):
            change = values[self.group.table[:, h]] - values @ turn  # rho(h^-1) = rho(h)^T
            worst = max(worst, float(np.abs(change).max()))
        return worst

    @property
    def matrix(self) -> np.ndarray:
        """Lifting as a matrix."""
        size = len(self.space) * self.rho.dim
        columns = [
            self.lift(row.reshape(len(self.space), self.rho.dim)).ravel() for row in np.eye(size)
        ]
        return np.stack(columns, 1)

    def _shaped(self, name: str, values: Any, rows: int) -> np.ndarray:
        found = np.asarray(values, dtype=float)
        if found.shape != (rows, self.rho.dim) or not np.isfinite(found).all():
            raise ValueError(
                f"{name} must have shape ({rows}, {self.rho.dim}) and finite values, got "
                f"{shown(values)}"
            )
        return found
