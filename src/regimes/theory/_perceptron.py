"""Linear references of the jamming transition: one layer, random labels."""

from __future__ import annotations

import math

from regimes._check import positive_int


def separable_probability(points: int, dims: int) -> float:
    """Chance that a linear function fits the random labels of points in general position.

    `2^(1-P) sum_{k<n} binom(P-1, k)` [Cover 1965], n free weights: d, or d + 1 with a bias. It is 1
    for P <= n and 1/2 at P = 2 n, where the transition of the perceptron lies.

    Args:
        points: P.
        dims: n.

    >>> round(separable_probability(40, 20), 9), separable_probability(3, 3)
    (0.5, 1.0)
    """
    from scipy.special import bdtr

    count, free = positive_int("points", points), positive_int("dims", dims)
    return 1.0 if count <= free else float(bdtr(free - 1, count - 1, 0.5))


def min_norm_square(points: int, dims: int) -> float:
    """Mean of |w|^2 of least squares on random labels +-1 and inputs `x ~ N(0, I_N)`.

    `P/(N - P - 1)` for the least norm that fits, N > P + 1, and `N/(P - N - 1)` for the least
    squares of more points, P > N + 1; infinite in between. It peaks at N = P with exponent -1,
    while the inverse of the smallest eigenvalue has -2.

    Args:
        points: P.
        dims: N.

    >>> min_norm_square(10, 31), min_norm_square(31, 10), min_norm_square(10, 10)
    (0.5, 0.5, inf)
    """
    count, size = positive_int("points", points), positive_int("dims", dims)
    few, many = sorted((count, size))
    return few / (many - few - 1) if many > few + 1 else math.inf
