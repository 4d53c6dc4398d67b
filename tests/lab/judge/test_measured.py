"""Numbers over draws: ratios of medians and exponents, and when there are none."""

import numpy as np
import pytest
import xarray as xr

from regimes.lab.judge import Missing, median_ratio, power_law


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


def test_one_seed_has_no_error():
    assert np.isnan(median_ratio(np.array([2.0]), np.array([1.0])).error)


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
