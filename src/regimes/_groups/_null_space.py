"""What linear maps leave as it is: null spaces, orthonormal."""

from __future__ import annotations

import numpy as np

from regimes._groups._finite import Floats, Integers

ZERO = 1e-9  # eigenvalues of the normal equations below it, per equation, are zero


LARGEST = 6000  # unknowns of a null space; the equations have their square


def fits(unknowns: int) -> None:
    """Raise a ValueError where the equations would fill the memory."""
    if unknowns > LARGEST:
        raise ValueError(
            f"{unknowns} unknowns at once are too many, up to {LARGEST} are solved for; take "
            'smaller fields, or how="double_coset" where there is a choice'
        )


def fixed_vectors(maps: list[Floats], size: int) -> Floats:
    """An orthonormal basis (k, size) of the vectors v with `A v = v` for all given A.

    From the eigenvectors of `sum (A - 1)^T (A - 1)`. For generators of a small group of orthogonal
    matrices its eigenvalues are 0 or far from it.
    """
    form = np.zeros((size, size))
    for A in maps:
        change = A - np.eye(size)
        form += change.T @ change
    values, vectors = np.linalg.eigh(form)
    found = vectors[:, values < ZERO * max(1, len(maps))].T
    return tidy(found)


def intertwining_maps(left: Floats, right: Floats) -> Floats:
    """All X with `left_i X = X right_i`, orthonormal: (k, p, q).

    Args:
        left: (n, p, p), orthogonal.
        right: (n, q, q), orthogonal.
    """
    p, q = left.shape[-1], right.shape[-1]
    if _permutes(left) and _permutes(right):
        return _on_pairs(left.argmax(1), right.argmax(1))
    fits(p * q)
    both = [np.kron(a, b) for a, b in zip(left, right, strict=True)]  # X -> a X b^T, row by row
    return fixed_vectors(both, p * q).reshape(-1, p, q)


def _permutes(matrices: Floats) -> bool:
    whole = matrices.round()
    return bool(np.abs(matrices - whole).max() < ZERO and whole.min() >= 0)


def _on_pairs(left: Integers, right: Integers) -> Floats:
    """The same for permutations: constant on each orbit of pairs, without any linear algebra."""
    (n, p), q = left.shape, right.shape[1]
    moved = (left[:, :, None] * q + right[:, None, :]).reshape(n, p * q)
    orbit = np.arange(p * q)
    while True:  # the least number in each orbit
        least = orbit.copy()
        for step in moved:
            np.minimum.at(least, step, orbit)
            least = np.minimum(least, least[step])
        if np.array_equal(least, orbit):
            break
        orbit = least
    found = (orbit == np.unique(orbit)[:, None]).astype(float)
    found /= np.linalg.norm(found, axis=1, keepdims=True)
    return found.reshape(-1, p, q)


def tidy(basis: Floats) -> Floats:
    """The same span in a basis that does not depend on how eigenvectors happened to turn.

    Gram-Schmidt of the projections of the unit vectors, in order; small entries become zero.
    """
    if not len(basis):
        return basis
    found: list[Floats] = []
    left = basis
    for k in range(basis.shape[1]):
        along = left[:, k] @ left  # the projection of the unit vector on what is left
        length = np.linalg.norm(along)
        if length > 1e-6:
            unit = along / length
            found.append(unit)
            if len(found) == len(basis):
                break
            inside = left @ unit  # rotate the rest of the span away from the new vector
            keep = np.linalg.svd(inside[None], full_matrices=True)[2][1:]
            left = keep @ left
    made = np.stack(found)
    made[np.abs(made) < 1e-12] = 0.0
    return made
