"""The published architectures, built and tried with elements of their groups."""

from __future__ import annotations

import numpy as np

from regimes.lab import Array


def cases() -> list[tuple[int, str]]:
    """Rows and examples of the table, by their places in the arrays."""
    from regimes import nets

    return [(number, case) for number, row in enumerate(nets.taxonomy()) for case in row.cases]


def errors(precisions: tuple[str, ...], seed: int) -> dict[str, Array]:
    """EQU-56: the largest relative error of each, in each precision; rows without an example."""
    import torch

    from regimes import measure, nets

    rows = nets.taxonomy()
    found = np.zeros((len(precisions), len(cases())))
    for p, precision in enumerate(precisions):
        for k, (number, case) in enumerate(cases()):
            given = rows[number].example(case, seed=seed, dtype=getattr(torch, precision))
            found[p, k] = measure.equivariance_error(
                given.network, given.samples, given.elements, given.act_in, given.act_out
            ).worst
    built = [bool(row.constructors) for row in rows]
    missing = [bool(row.constructors) and not row.cases for row in rows]
    return {
        "architecture_error": Array(("precision", "architecture"), found),
        "rows_built": Array("row", np.array(built, dtype=float)),
        "rows_untried": Array("row", np.array(missing, dtype=float)),
    }
