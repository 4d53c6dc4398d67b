"""Kernels on the points of a lattice that commute with its rotations and mirrors."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from regimes._check import instance, shown
from regimes._groups._finite import FiniteGroup, Floats, Integers
from regimes._groups._null_space import intertwining_maps
from regimes._groups._representation import Representation


def lattice_action(H: FiniteGroup, basis: ArrayLike | None = None) -> Integers:
    """The elements of a group as integer matrices on the coordinates of a lattice.

    Args:
        H: a group of d x d matrices.
        basis: (d, d), the lattice's basis vectors as columns; None: the points with integer
            coordinates.

    Returns:
        Integer matrices (n, d, d), `B^-1 h B`.

    Raises:
        ValueError: if an element takes a point of the lattice off it.

    Example:
        A sixth of a turn on the hexagonal lattice, in axial coordinates.

        >>> from regimes._groups import cyclic_group
        >>> hexagonal = [[1.0, 0.5], [0.0, 0.75**0.5]]
        >>> lattice_action(cyclic_group(6), hexagonal)[1].tolist()
        [[0, -1], [1, 1]]
    """
    instance("H", H, FiniteGroup, "a FiniteGroup")
    d = H.matrices.shape[-1]
    B = np.eye(d) if basis is None else np.asarray(basis, dtype=float)
    if B.shape != (d, d) or not np.isfinite(B).all() or abs(np.linalg.det(B)) < 1e-9:
        raise ValueError(
            f"basis must be {d} independent vectors, the columns of a matrix, got {shown(basis)}"
        )
    found = np.linalg.solve(B, H.matrices @ B)
    whole = found.round()
    if np.abs(found - whole).max() > 1e-6:
        raise ValueError(
            f"{H} takes points of this lattice off it; sixths of a turn want the hexagonal lattice"
        )
    return whole.astype(np.int64)


def kernel_space_grid(
    H: FiniteGroup,
    rho1: Representation,
    rho2: Representation,
    offsets: ArrayLike,
    basis: ArrayLike | None = None,
) -> Floats:
    """All kernels on lattice offsets with `k(hx) = rho2(h) k(x) rho1(h)^-1`, orthonormal.

    The constraint for shifts with rotations [Cohen 2019, eq. 9]: the group is a semidirect
    product, so that h(x, g) does not depend on x [Cohen 2019, eq. 32]. Solved on one point of
    each orbit, where only its stabiliser binds, and carried to the others.

    Args:
        H: rotations and mirrors of the lattice, a group of d x d matrices.
        rho1: a representation of H, the fields that go in.
        rho2: the fields that come out.
        offsets: (m, d), integers; with an offset all that H makes of it.
        basis: the lattice, as in `lattice_action`.

    Returns:
        A basis (dimension, m, d2, d1), each kernel of norm 1.

    Raises:
        ValueError: for offsets that H does not keep together, or a lattice that it leaves.

    Example:
        From numbers to functions of the 8 symmetries of the square, all of 3 x 3 weights are free.

        >>> from regimes._groups import dihedral_group, representation
        >>> D = dihedral_group(4)
        >>> scalar, regular = representation(D, "trivial"), representation(D, "regular")
        >>> offsets = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1)]
        >>> len(kernel_space_grid(D, scalar, regular, offsets))
        9
        >>> len(kernel_space_grid(D, regular, regular, offsets))
        72
    """
    orbits = list(orbit_kernels(H, rho1, rho2, offsets, basis))
    points = sum(len(places) for places, _ in orbits)
    found = np.zeros((sum(len(each) for _, each in orbits), points, rho2.dim, rho1.dim))
    start = 0
    for places, kernels in orbits:
        found[start : start + len(kernels), places] = kernels
        start += len(kernels)
    return found


def orbit_kernels(
    H: FiniteGroup,
    rho1: Representation,
    rho2: Representation,
    offsets: ArrayLike,
    basis: ArrayLike | None = None,
) -> Iterator[tuple[Integers, Floats]]:
    """The same orbit by orbit: places among the offsets (n,), kernels there (k, n, d2, d1)."""
    action = lattice_action(H, basis)
    for name, rho in (("rho1", rho1), ("rho2", rho2)):
        instance(name, rho, Representation, "a Representation")
        if rho.group is not H:
            raise ValueError(f"{name} must represent H, {H}; got {rho}")
    points, d = np.asarray(offsets), H.matrices.shape[-1]
    if points.ndim != 2 or points.shape[1] != d or not len(points):
        raise ValueError(f"offsets must have shape (m, {d}), m > 0, got {shown(offsets)}")
    if points.dtype.kind not in "iu":
        raise ValueError(f"offsets are integers, coordinates on the lattice; got {shown(offsets)}")
    number = {tuple(point): i for i, point in enumerate(points.tolist())}
    if len(number) != len(points):
        raise ValueError("offsets holds a point twice")
    moved = np.empty((len(H), len(points)), dtype=np.int64)
    for h, A in enumerate(action):
        for i, image in enumerate((points @ A.T).tolist()):
            if tuple(image) not in number:
                raise ValueError(
                    f"offsets holds {tuple(points[i].tolist())} but not {tuple(image)}, where H "
                    "takes it; give whole orbits, such as a full square or hexagon"
                )
            moved[h, i] = number[tuple(image)]
    seen = np.zeros(len(points), dtype=bool)
    for i in range(len(points)):
        if seen[i]:
            continue
        keeps = np.flatnonzero(moved[:, i] == i)
        images, first = np.unique(moved[:, i], return_index=True)
        seen[images] = True
        stabiliser = H.subgroup(keeps.tolist())
        bind = stabiliser.elements[list(stabiliser.generators) or [0]]
        free = intertwining_maps(rho2.matrices[bind], rho1.matrices[bind])
        turned = [rho2.matrices[h] @ free @ rho1.matrices[h].T for h in first]
        yield images, np.stack(turned, 1) / np.sqrt(len(images))
