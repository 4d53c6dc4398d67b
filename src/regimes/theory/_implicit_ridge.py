"""The ridge that averages over random features behave as if they had."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from regimes._check import positive_int, real


def implicit_ridge(eigenvalues: ArrayLike, ridge: float, width: int) -> float:
    """The positive root of `r = lambda + (r/h) tr K (K + r)^-1` [Jacot 2020].

    Ridge regression with `lambda` on h random features, averaged over their draws, is close to
    kernel ridge regression with the larger ridge r under the kernel of infinitely many features.

    Args:
        eigenvalues: of that kernel's Gram on the training points; below zero is rounding.
        ridge: lambda, the one that is used.
        width: h, the number of features.

    >>> round(implicit_ridge(np.ones(40), 1e-2, 10**9), 6)  # infinitely many features add nothing
    0.01
    """
    from scipy.optimize import brentq

    ridge, width = real("ridge", ridge, above=0), positive_int("width", width)
    spectrum = np.clip(np.asarray(eigenvalues, dtype=float), 0.0, None)

    def excess(r: float) -> float:
        return float(r - ridge - r / width * (spectrum / (spectrum + r)).sum())

    top = ridge + spectrum.sum() / width  # the trace term is at most tr K/h
    return float(brentq(excess, ridge, top * (1 + 1e-9), xtol=1e-15))
