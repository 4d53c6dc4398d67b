"""Kernels on one orbit of a compact group: what the stabiliser of a point leaves free."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from regimes._check import shown
from regimes._groups._finite import Floats
from regimes._groups._null_space import intertwining_maps

OfMatrix = Callable[[Floats], ArrayLike]


def kernel_space_compact(
    stabiliser: ArrayLike,
    rho1: OfMatrix,
    rho2: OfMatrix,
    *,
    representative: ArrayLike | None = None,
) -> Floats:
    """The kernels at one point of a homogeneous space: all K with `rho2(h) K = K rho1^x(h)`.

    Here h runs over the stabiliser of the point and `rho1^x(h) = rho1(gamma^-1 h gamma)`
    [Cohen 2019, eqs. 12 and 13]. At every other point of the orbit the kernel follows from it.
    Of a continuous stabiliser a few elements in general position are enough: those whose powers
    and products come near all others.

    Args:
        stabiliser: (m, n, n), generators of the stabiliser; m = 0 leaves everything free.
        rho1: from a matrix of H to an orthogonal matrix, the fields that go in.
        rho2: the same for the fields that come out.
        representative: gamma; None where it does not matter, as when it is a shift.

    Returns:
        An orthonormal basis (dimension, d2, d1).

    Raises:
        ValueError: for shapes that do not fit, or matrices that are not orthogonal.

    Example:
        Space, from vectors to vectors: off the centre the identity, the curl, and one more.

        >>> def about_z(a):
        ...     return np.array([[np.cos(a), -np.sin(a), 0], [np.sin(a), np.cos(a), 0], [0, 0, 1]])
        >>> vector = lambda h: h
        >>> len(kernel_space_compact([about_z(1.0)], vector, vector))
        3
        >>> mirror = np.diag([-1.0, 1.0, 1.0])  # with it the curl goes
        >>> len(kernel_space_compact([about_z(1.0), mirror], vector, vector))
        2
    """
    elements = np.asarray(stabiliser, dtype=float)
    if elements.ndim != 3 or elements.shape[1] != elements.shape[2]:
        raise ValueError(
            f"stabiliser must be square matrices of shape (m, n, n), got {shown(stabiliser)}; for "
            "a trivial one give np.eye(n)[None]"
        )
    if not np.isfinite(elements).all():
        raise ValueError("stabiliser holds NaN or infinite values")
    inner = elements
    if representative is not None:
        gamma = np.asarray(representative, dtype=float)
        if gamma.shape != elements.shape[1:] or not np.isfinite(gamma).all():
            raise ValueError(
                f"representative must be a finite matrix of shape {elements.shape[1:]}, got "
                f"{shown(representative)}"
            )
        inner = np.linalg.solve(gamma, elements @ gamma)
    one = np.eye(elements.shape[1])
    left = _matrices("rho2", rho2, [one, *elements])
    right = _matrices("rho1", rho1, [one, *inner])
    return intertwining_maps(left[1:], right[1:])


def _matrices(name: str, rho: OfMatrix, elements: list[Floats]) -> Floats:
    found = np.stack([np.atleast_2d(np.asarray(rho(h), dtype=float)) for h in elements])
    d = found.shape[-1]
    square = found.ndim == 3 and found.shape[1] == d
    if not (square and np.abs(found @ found.transpose(0, 2, 1) - np.eye(d)).max() < 1e-8):
        raise ValueError(f"{name} must give orthogonal matrices of one size for the stabiliser")
    return found
