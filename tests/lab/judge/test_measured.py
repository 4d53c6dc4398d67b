"""Numbers with errors over draws, against plain formulas."""

import numpy as np
import pytest
import xarray as xr

from regimes.lab.judge import (
    largest_ratio,
    log_mean,
    log_slope,
    mean_of,
    median_of,
    median_ratio,
    power_law,
    resampled,
    standard_error,
)

DRAWS = np.random.default_rng(0)


def test_the_standard_error_is_that_of_the_mean():
    values = DRAWS.normal(size=(2000, 25))
    found = standard_error(values.T)
    assert found.shape == (2000,)
    assert np.isclose(found.mean(), values.mean(1).std(), rtol=0.05)
    assert np.isnan(standard_error(np.ones((1, 3)))).all()


def test_means_in_both_scales():
    values = np.exp(DRAWS.normal(size=50))
    assert mean_of(values).value == pytest.approx(values.mean())
    found = log_mean(values)
    assert found.value == pytest.approx(np.exp(np.log(values).mean()))
    assert found.error == pytest.approx(found.value * standard_error(np.log(values)))


def test_a_ratio_of_medians_resamples_pairs():
    below = np.exp(DRAWS.normal(size=40))
    same = median_ratio(2 * below, below)
    assert (same.value, same.error) == (pytest.approx(2), pytest.approx(0, abs=1e-12))
    assert median_ratio(below, np.ones(40)) == median_of(below)
    assert median_ratio(np.exp(DRAWS.normal(size=40)), below).error > 0.05
    assert np.isnan(median_ratio([1.0], [2.0]).error)


def test_slopes_and_laws():
    x = np.array([1.0, 4.0, 16.0, 64.0])
    values = x**-0.5 * np.exp(0.1 * DRAWS.normal(size=(12, 4)))
    found = log_slope(x, values)
    assert abs(found.value + 0.5) < 4 * found.error
    curve = xr.DataArray(values, dims=("seed", "p"), coords={"p": x})
    fit = power_law(curve.transpose(), "p", (4, 64))
    assert fit.range == (4.0, 64.0)
    assert abs(fit.exponent + 0.5) < 4 * fit.error
    assert power_law(curve.mean("seed"), "p").points == 4


def test_the_largest_ratio_takes_the_ends():
    groups = [np.full(3, 2.0), np.full(3, 8.0), np.full(3, 4.0)]
    assert largest_ratio(groups).value == pytest.approx(4.0)


def test_any_statistic_can_be_resampled():
    values = DRAWS.normal(size=100)
    found = resampled(values, np.mean)
    assert found.error == pytest.approx(standard_error(values), rel=0.15)
