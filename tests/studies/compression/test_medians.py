"""Medians over seeds, their ratios and exponents."""

import numpy as np
import plotly.graph_objects as go
import pytest
import xarray as xr

from regimes.studies.compression import _medians


def test_the_error_of_a_ratio_is_that_of_its_medians():
    rng = np.random.default_rng(1)
    above, below = 2 + 0.1 * rng.normal(size=400), 1 + 0.1 * rng.normal(size=400)
    ratio = _medians.median_ratio(above, below)
    assert ratio.value == pytest.approx(2.0, rel=0.02)
    # standard error of a median is sqrt(pi/2) sigma/sqrt(n)
    expected = 2 * np.sqrt(np.pi / 2 / 400) * np.hypot(0.05, 0.1)
    assert ratio.error == pytest.approx(expected, rel=0.4)


def test_seeds_that_vary_together_cancel():
    shared = np.exp(np.random.default_rng(0).normal(size=9))
    assert _medians.median_ratio(3 * shared, shared).error == pytest.approx(0.0, abs=1e-12)


def test_one_seed_has_no_error():
    assert np.isnan(_medians.median_ratio(np.array([2.0]), np.array([1.0])).error)


def test_the_exponent_is_that_of_the_medians_in_the_window():
    p = np.array([10, 100, 1000, 10_000])
    values = np.array([0.5, 1.0, 4.0])[:, None] * p**-0.4
    values[:, 0] = 1.0  # outside the window
    values = np.hstack([values, np.full((3, 1), np.nan)])  # a size that was not run
    curve = xr.DataArray(values, dims=("seed", "n_train"), coords={"n_train": [*p, 99_999]})
    fit = _medians.exponent(curve, 100, 10_000)
    assert fit.exponent == pytest.approx(-0.4)
    assert fit.points == 3


def test_bars_hold_the_middle_half_and_guides_have_their_slope():
    figure, x = go.Figure(), np.array([1.0, 10.0, 100.0])
    values = np.arange(1.0, 6.0)[:, None] * np.ones(3)
    _medians.add_medians(figure, x, values, "line", color="red")
    _medians.add_slope(figure, x, 5.0, -0.5, "guide")
    line, guide = figure.data
    np.testing.assert_array_equal(line.y, [3.0, 3.0, 3.0])
    np.testing.assert_array_equal(line.error_y.array, [1.0, 1.0, 1.0])
    np.testing.assert_allclose(guide.y, [50.0, 5.0])
