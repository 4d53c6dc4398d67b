"""Linear references, against linear programs and draws."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest

from regimes.theory import min_norm_square, separable_probability


@pytest.mark.parametrize(("points", "dims"), [(1, 1), (5, 2), (40, 20), (60, 11), (7, 9)])
def test_the_chance_is_the_sum_of_cover(points, dims):
    exact = Fraction(sum(comb(points - 1, k) for k in range(dims)), 2 ** (points - 1))
    assert separable_probability(points, dims) == pytest.approx(float(exact), rel=1e-12)


def test_linear_programs_agree():
    from scipy.optimize import linprog

    draw, dims, trials = np.random.default_rng(0), 4, 30
    for points in (6, 11):
        fits = 0
        for _ in range(trials):
            signed = draw.normal(size=(points, dims)) * draw.choice([-1, 1], (points, 1))
            found = linprog(
                np.zeros(dims), A_ub=-signed, b_ub=-np.ones(points), bounds=(None, None)
            )
            fits += found.status == 0
        chance = separable_probability(points, dims)
        assert fits / trials == pytest.approx(
            chance, abs=3.5 * (chance * (1 - chance) / trials) ** 0.5
        )


@pytest.mark.parametrize(("points", "dims"), [(10, 30), (30, 10)])
def test_the_norm_of_least_squares(points, dims):
    draw = np.random.default_rng(1)
    x = draw.normal(size=(4000, points, dims))
    y = draw.choice([-1.0, 1.0], (4000, points, 1))
    squares = np.square(np.linalg.pinv(x) @ y).sum((1, 2))
    error = squares.std() / 4000**0.5
    assert squares.mean() == pytest.approx(min_norm_square(points, dims), abs=4 * error)


def test_it_peaks_where_points_equal_parameters():
    norms = [min_norm_square(20, n) for n in range(1, 60)]
    assert np.argmax(norms) + 1 in (19, 20, 21)
    assert norms[19] == float("inf")
