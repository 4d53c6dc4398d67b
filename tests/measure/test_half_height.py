"""Half heights of curves whose middle is known."""

import numpy as np
import pytest

from regimes.measure import half_height


def test_a_step_on_a_logarithmic_axis_is_found_where_it_is():
    x = np.logspace(-2, 4, 61)
    curves = [1 / (1 + x / place) for place in (2.9, 3.0, 3.1)]
    found = half_height(x, curves)
    assert found.x == pytest.approx(3.0, rel=0.02)
    assert 0 < found.error < 0.1


def test_scale_and_offset_of_the_values_do_not_matter():
    x = np.array([1.0, 10.0, 100.0])
    values = np.array([[0.3, 0.1, 0.1], [0.3, 0.1, 0.1]])
    assert half_height(x, values).x == pytest.approx(10**0.5)
    assert half_height(x, 5 - 7 * values).x == pytest.approx(10**0.5)
    assert half_height(x, values).error == pytest.approx(0.0, abs=1e-12)


def test_the_error_is_the_spread_of_the_place_over_seeds():
    rng = np.random.default_rng(1)
    x, shifts = np.logspace(-3, 3, 121), np.exp(0.3 * rng.normal(size=200))
    found = half_height(x, [np.tanh(np.log(x / shift)) for shift in shifts])
    assert found.error / found.x == pytest.approx(0.3 / 200**0.5, rel=0.2)


def test_a_curve_that_comes_back_has_none():
    found = half_height([1.0, 10.0, 100.0], [[0.1, 0.3, 0.1]] * 3)
    assert np.isnan([found.x, found.error]).all()
    assert np.isnan(half_height([1.0], [[0.1], [0.2]]).x)


def test_noise_that_crosses_thrice_is_taken_in_the_middle():
    found = half_height([1.0, 10.0, 100.0, 1000.0], [[0.0, 1.0, 0.0, 1.0]] * 2)
    assert found.x == pytest.approx(10**1.5)


@pytest.mark.parametrize(
    ("x", "values", "message"),
    [
        ([1.0, 2.0], [0.1, 0.2], "values \\(seeds, n\\)"),
        ([2.0, 1.0], [[0.1, 0.2]], "in increasing order"),
        ([0.0, 1.0], [[0.1, 0.2]], "positive"),
    ],
)
def test_bad_input(x, values, message):
    with pytest.raises(ValueError, match=message):
        half_height(x, values)
