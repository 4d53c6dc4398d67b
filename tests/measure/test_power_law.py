import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regimes.measure import local_slopes, power_law

X = torch.logspace(0, 3, 7, dtype=torch.float64)


@given(st.floats(-3, 3), st.floats(1e-3, 1e3))
def test_an_exact_law_is_recovered(exponent, prefactor):
    fit = power_law(X, prefactor * X**exponent)
    assert fit.exponent == pytest.approx(exponent, abs=1e-12)
    assert fit.prefactor == pytest.approx(prefactor, rel=1e-10)
    assert fit.error < 1e-10
    assert fit.range == (1.0, 1000.0)
    assert math.isnan(fit.r2) or fit.r2 == pytest.approx(1)
    torch.testing.assert_close(fit(X), prefactor * X**exponent)


def test_scatter_gives_the_error_of_ordinary_regression():
    from scipy.stats import linregress

    noise = torch.tensor([0.1, -0.2, 0.05, 0.15, -0.1, 0.0, -0.05]).double()
    y = 2 * X**-0.4 * noise.exp()
    fit, expected = power_law(X, y), linregress(X.log().numpy(), y.log().numpy())
    assert fit.exponent == pytest.approx(expected.slope, rel=1e-10)
    assert fit.error == pytest.approx(expected.stderr, rel=1e-10)
    assert fit.r2 == pytest.approx(expected.rvalue**2, rel=1e-10)
    assert fit.prefactor == pytest.approx(math.exp(expected.intercept), rel=1e-10)


def test_sigma_weights_the_points_and_sets_the_error():
    from scipy.optimize import curve_fit

    noise = torch.tensor([0.02, -0.02, 0.01, 0.05, -0.04, 0.0, -0.3]).double()
    y = 2 * X**-0.4 * noise.exp()
    relative = torch.tensor([0.02, 0.02, 0.02, 0.05, 0.05, 0.05, 0.5]).double()
    fit = power_law(X, y, sigma=relative * y)
    u, v = X.log().numpy(), y.log().numpy()
    best, covariance = curve_fit(
        lambda u, a, b: a * u + b, u, v, sigma=relative.numpy(), absolute_sigma=True
    )
    assert fit.exponent == pytest.approx(best[0], rel=1e-6)
    assert fit.error == pytest.approx(covariance[0, 0] ** 0.5, rel=1e-6)
    # scatter ten times the claimed error enlarges the error bar
    small = power_law(X, y, sigma=relative * y / 10)
    chi2 = sum(((v - best[0] * u - best[1]) / (relative.numpy() / 10)) ** 2)
    assert chi2 / 5 > 1
    expected = (covariance[0, 0] ** 0.5 / 10) * float(chi2 / 5) ** 0.5
    assert small.error == pytest.approx(expected, rel=1e-6)


def test_seeds_are_reduced_and_bootstrapped():
    numbers = torch.Generator().manual_seed(0)
    scatter = 0.3 * torch.randn(40, 7, generator=numbers, dtype=torch.float64)
    y = 5 * X**-0.7 * scatter.exp()
    for center, reduced in (("median", np.median(y, axis=0)), ("mean", y.mean(0))):
        fit = power_law(X, y, center=center)
        assert fit.exponent == pytest.approx(power_law(X, reduced).exponent, rel=1e-10)
        assert abs(fit.exponent + 0.7) < 4 * fit.error
    # the mean's error is that of propagated standard errors, .3/sqrt(40) in each log
    u = X.log()
    expected = 0.3 / 40**0.5 / float(((u - u.mean()) ** 2).sum()) ** 0.5
    assert power_law(X, y, center="mean").error == pytest.approx(expected, rel=0.25)
    assert power_law(X, y) == power_law(X, y)
    assert power_law(X, y, seed=1).error != power_law(X, y).error


def test_only_the_window_counts():
    y = torch.where(X < 50, X**-1.0, 50 * X**-2.0)
    fit = power_law(X, y, window=(50, 2000))
    assert fit.exponent == pytest.approx(-2)
    assert fit.range == (100.0, 1000.0)
    assert fit.points == 3
    seeds = torch.stack([y, 1.1 * y, 0.9 * y])
    assert power_law(X, seeds, window=(50, 2000)).exponent == pytest.approx(-2)


def test_what_cannot_be_known_is_nan():
    two = power_law([1.0, 10.0], [1.0, 0.1])
    assert two.exponent == pytest.approx(-1)
    assert math.isnan(two.error)
    known = power_law([1.0, math.e], [1.0, 1.0], sigma=[0.1, 0.1])
    assert known.error == pytest.approx(0.1 * 2**0.5)
    assert math.isnan(power_law(X, torch.full((7,), 3.0)).r2)


def test_any_array_is_taken(draw):
    y = (2 * X**-0.5).float()
    expected = power_law(X, y)
    assert power_law(X.tolist(), y.tolist()).exponent == pytest.approx(expected.exponent)
    assert power_law(X.numpy(), y.numpy()) == expected


def test_local_slopes_between_neighbours():
    middle, slope = local_slopes(X, X**-0.3)
    torch.testing.assert_close(slope, torch.full((6,), -0.3).double())
    torch.testing.assert_close(middle, (X[1:] * X[:-1]).sqrt())


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="y must be positive on logarithmic axes"):
        power_law(X, X - 5)
    with pytest.raises(ValueError, match="1 NaN or infinite; drop those first"):
        power_law([1.0, 2.0], [1.0, math.nan])
    with pytest.raises(ValueError, match="0 of 7 points lie in the window"):
        power_law(X, X, window=(2000, 3000))
    with pytest.raises(ValueError, match="one seed"):
        power_law(X, X[None])
    with pytest.raises(ValueError, match=r"shape \(7,\) or \(seeds, 7\), got \(6,\)"):
        power_law(X, X[1:])
    with pytest.raises(ValueError, match="unknown center 'mode'"):
        power_law(X, torch.stack([X, X]), center="mode")
    with pytest.raises(ValueError, match="sigma must have shape"):
        power_law(X, X, sigma=[1.0])
    with pytest.raises(ValueError, match="x must be an array of numbers"):
        power_law("abc", X)
    with pytest.raises(ValueError, match="increasing"):
        local_slopes([2.0, 1.0], [1.0, 1.0])
