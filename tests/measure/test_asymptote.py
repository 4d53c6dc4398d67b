"""Curves with a limit."""

import numpy as np
import pytest

from regimes.measure import asymptote


@pytest.mark.parametrize("power", [-0.5, -1.0, -2.0])
def test_limit_and_size_are_found_through_noise(power):
    x = np.geomspace(10, 1000, 200)
    y = 0.3 + 4 * x**power + 1e-3 * np.random.default_rng(0).normal(size=200)
    fit = asymptote(x, y, power)
    assert fit.limit == pytest.approx(0.3, abs=1e-3)
    assert fit.size == pytest.approx(4, rel=0.1)


def test_it_says_how_well_it_fits():
    x = np.array([100.0, 200.0, 400.0, 800.0])
    assert asymptote(x, [0.1, 0.3, 0.1, 0.3]).r2 < 0.5
    assert asymptote(x, 1 + x**-0.5).r2 == pytest.approx(1.0)
    assert np.isnan(asymptote(x, np.ones(4)).r2)


@pytest.mark.parametrize(("x", "y"), [([1.0, 1.0], [1.0, 2.0]), ([0.0, 1.0], [1.0, 2.0])])
def test_bad_input(x, y):
    with pytest.raises(ValueError, match="two different values"):
        asymptote(x, y)
