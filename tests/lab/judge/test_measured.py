"""Numbers with errors over draws, against plain formulas."""

import math
from operator import sub, truediv

import numpy as np
import pytest
import xarray as xr

from regimes.lab.judge import (
    Measured,
    Missing,
    jackknifed,
    largest_ratio,
    log_mean,
    log_slope,
    mean_of,
    median_of,
    median_ratio,
    power_law,
    resampled,
    slope_of,
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


def law(p=(10, 100, 1000, 10_000), prefactors=(0.5, 1.0, 4.0)):
    """Values of three seeds that fall as p^-0.4."""
    p = np.array(p)
    values = np.array(prefactors)[:, None] * p**-0.4
    return xr.DataArray(values, dims=("seed", "p"), coords={"p": p})


def test_the_error_of_a_ratio_is_that_of_its_medians():
    rng = np.random.default_rng(1)
    above, below = 2 + 0.1 * rng.normal(size=400), 1 + 0.1 * rng.normal(size=400)
    ratio = median_ratio(above, below)
    assert ratio.value == pytest.approx(2.0, rel=0.02)
    # standard error of a median is sqrt(pi/2) sigma/sqrt(n)
    expected = 2 * np.sqrt(np.pi / 2 / 400) * np.hypot(0.05, 0.1)
    assert ratio.error == pytest.approx(expected, rel=0.4)


def test_seeds_that_vary_together_cancel():
    shared = np.exp(np.random.default_rng(0).normal(size=9))
    assert median_ratio(3 * shared, shared).error == pytest.approx(0.0, abs=1e-12)


def test_the_exponent_is_that_of_the_medians_in_the_window():
    curve = law().where(law().p > 10, 1.0)  # outside the window
    curve = curve.reindex(p=[*curve.p.values, 99_999])  # a size that was not run
    fit = power_law(curve, "p", (100, 10_000))
    assert fit.exponent == pytest.approx(-0.4)
    assert fit.points == 3


def test_an_exponent_says_what_it_lacks():
    for curve, reason in (
        (law().sel(p=[10, 100]), "needs two values of p from 100 to 1000, 1 ran"),
        (law().where(False), "0 ran"),
        (law(prefactors=[1.0]), "needs two values of seed, one ran"),
        (
            law().where(xr.DataArray([0, 1, 1], dims="seed") > 0),
            "not every value over p is a positive number",
        ),
    ):
        with pytest.raises(Missing, match=reason):
            power_law(curve, "p", (100, 1000))


def test_the_jackknife_of_a_mean_is_the_standard_error():
    values = DRAWS.normal(size=(30, 2))
    found = jackknifed(values, lambda rows: float(rows[:, 0].mean() / 2))
    assert found.value == pytest.approx(values[:, 0].mean() / 2)
    assert found.error == pytest.approx(standard_error(values[:, 0]) / 2)
    assert math.isnan(jackknifed([1.0], np.mean).error)


def test_errors_of_the_points_become_that_of_their_slope():
    x, errors = np.array([1.0, 2.0, 5.0, 9.0]), np.array([0.02, 0.01, 0.03, 0.02])
    drawn = 2 * x**-0.5 + errors * DRAWS.normal(size=(20_000, 4))
    slopes = np.polyfit(np.log(x), np.log(drawn).T, 1)[0]
    found = slope_of(x, 2 * x**-0.5, errors)
    assert found.value == pytest.approx(-0.5)
    assert found.error == pytest.approx(slopes.std(), rel=0.03)


def test_differences_and_ratios_of_independent_numbers():
    rng = np.random.default_rng(0)
    one, other = rng.normal(3.0, 0.03, 100_000), rng.normal(2.0, 0.04, 100_000)
    gap, ratio = (f(Measured(3.0, 0.03), Measured(2.0, 0.04)) for f in (sub, truediv))
    assert (gap.value, ratio.value) == (1.0, 1.5)
    assert gap.error == pytest.approx((one - other).std(), rel=0.02)
    assert ratio.error == pytest.approx((one / other).std(), rel=0.02)
    negative = Measured(3.0, 0.03) / Measured(-2.0, 0.04)
    assert negative == Measured(-1.5, ratio.error)


def test_exact_numbers_stay_exact_and_unknown_errors_unknown():
    assert Measured(3.0) - Measured(1.0) == Measured(2.0)
    assert Measured(3.0) / Measured(2.0) == Measured(1.5)
    assert math.isnan((Measured(3.0, math.nan) / Measured(2.0, 0.1)).error)
    assert Measured(0.0, 0.1) / Measured(2.0) == Measured(0.0, 0.05)
