"""The implicit ridge solves its equation."""

import numpy as np
import pytest

from regimes.theory import implicit_ridge


@pytest.mark.parametrize("width", [3, 40, 1000])
def test_the_root_solves_its_equation(width):
    values = np.linspace(0.0, 3.0, 40)
    r = implicit_ridge(values, 0.01, width)
    assert r == pytest.approx(0.01 + r / width * (values / (values + r)).sum(), rel=1e-9)
    assert r > 0.01


def test_equal_eigenvalues_have_a_closed_form():
    n, h, lam = 30, 50, 0.2  # r^2 + r (1 - lam - n/h) - lam = 0
    b = 1 - lam - n / h
    assert implicit_ridge(np.ones(n), lam, h) == pytest.approx((-b + (b * b + 4 * lam) ** 0.5) / 2)


def test_rounding_below_zero_counts_as_zero():
    assert implicit_ridge([-1e-17, 1.0], 0.1, 5) == implicit_ridge([0.0, 1.0], 0.1, 5)


@pytest.mark.parametrize(("ridge", "width"), [(0.0, 5), (0.1, 0)])
def test_bad_input(ridge, width):
    with pytest.raises(ValueError, match="must be"):
        implicit_ridge([1.0], ridge, width)
