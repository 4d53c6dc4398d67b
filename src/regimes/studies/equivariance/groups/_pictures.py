"""Kernels on lattices that make vectors of numbers, as arrows."""

from __future__ import annotations

import numpy as np

from regimes.lab import Array

SHOWN = {  # symmetry, field that goes in: what the panels say
    ("p4m", "trivial"): "square, number",
    ("p6m", "trivial"): "hexagons, number",
    ("p6m", "sign"): "hexagons, whirl",
}
SIZE = 5


def arrows() -> dict[str, Array]:
    """Points and vectors of all kernels along `arrow`, and which kernel each belongs to."""
    from regimes import theory
    from regimes.nets import lattice

    rows, kernels = [], []
    number = 0
    for name, kind in SHOWN:
        given, out = (lattice.LatticeFields.of(name, each) for each in (kind, "vector"))
        offsets = given.offsets(SIZE)
        group = given.representation.group
        basis = theory.kernel_space_grid(
            group, given.representation, out.representation, offsets, given.basis
        )
        at = offsets if given.basis is None else offsets @ np.array(given.basis).T
        for kernel in basis:
            vectors = kernel[:, :, 0]
            longest = np.linalg.norm(vectors, axis=1).max()
            rows.append(np.concatenate([at, vectors / longest], 1))
            kernels += [number] * len(at)
            number += 1
    return {
        "kernel_arrows": Array(("arrow", "xyuv"), np.concatenate(rows)),
        "kernel_number": Array("arrow", np.array(kernels, dtype=float)),
    }
