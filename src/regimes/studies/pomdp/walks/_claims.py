"""Verdicts on random walks along a chain."""

import numpy as np

from regimes.lab import Data, judge, ran

claim = judge.Claims()


@claim("POM-16", "formula and absorbing chain agree to 1e-10")
def _traversal(dataset: Data) -> judge.Parts:
    at = ran(dataset, "traversal")
    gap = np.abs(at.traverse_formula - at.traverse_solved) / at.traverse_solved
    yield judge.below("largest relative difference", gap.max(), 1e-10)
    return (
        f"{at.sizes['chain']} random chains of {int(at.traverse_sites)} sites, every start i and "
        f"end j: {gap.size} probabilities"
    )


@claim("POM-17", "formula and solved chain agree to 1e-6 for eps = 1e-9")
def _ends(dataset: Data) -> judge.Parts:
    at = ran(dataset, "ends")
    gap = np.abs(at.end_solved / at.end_formula - 1)
    mirrored = np.abs(at.balance_left / at.balance_right - 1)
    yield judge.below("largest relative difference", gap.max(), 1e-6)
    return (
        f"{at.sizes['end_chain']} random chains of {int(at.end_sites)} sites between two ends, "
        f"eps={float(at.end_exit):g}; the identity of both traversals holds to "
        f"{float(mirrored.max()):.1e}"
    )
