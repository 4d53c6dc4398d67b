"""Sums of powers, against least squares written out."""

import numpy as np
import pytest
import torch

from regimes.measure import offset_power, power_sum

N = np.geomspace(50, 5000, 12)


def test_coefficients_and_errors_are_those_of_least_squares():
    y = 7.6 * N**-0.5 - 59 * N**-0.75 + 1e-3 * np.random.default_rng(0).normal(size=12)
    fit = power_sum(N, y, [-0.5, -0.75])
    a = np.stack([N**-0.5, N**-0.75], 1)
    c, (rest,), _, _ = np.linalg.lstsq(a, y, rcond=None)
    np.testing.assert_allclose(fit.coefficients, c, rtol=1e-8)
    covariance = rest / 10 * np.linalg.inv(a.T @ a)
    np.testing.assert_allclose(fit.errors, np.sqrt(np.diag(covariance)), rtol=1e-6)
    assert fit.r2 == pytest.approx(1 - rest / np.square(y - y.mean()).sum())
    np.testing.assert_allclose(fit(torch.as_tensor(N)).numpy(), a @ c)


def test_seeds_give_the_spread_of_the_coefficients():
    draw = np.random.default_rng(1)
    limits = 0.05 + 0.01 * draw.normal(size=(60, 1))
    fit = power_sum(N, limits + 2 * N**-0.5, [0, -0.5])
    assert fit.coefficients[0] == pytest.approx(limits.mean())
    assert fit.errors[0] == pytest.approx(0.01 / 60**0.5, rel=0.25)
    assert fit.errors[1] < 1e-10


@pytest.mark.parametrize("power", [-1.3, -0.5, -0.25])
def test_a_free_power_is_found(power):
    fit = offset_power(N, 2.1 + 51 * N**power)
    assert (fit.power, fit.limit, fit.size) == pytest.approx((power, 2.1, 51), rel=2e-3)
    assert fit.r2 == pytest.approx(1)
    assert offset_power(N, 4 - 3 * N**power).power == pytest.approx(power, rel=2e-3)
    rising = offset_power(N, 1 + 3 * N**-power, falling=False)
    assert rising.power == pytest.approx(-power, rel=2e-3)


def test_no_other_power_leaves_less():
    y = 0.1 + N**-0.6 + 0.003 * np.random.default_rng(2).normal(size=(20, 12))
    fit = offset_power(N, y)

    def residual(p):
        a = np.stack([np.ones(12), N**p], 1)
        return np.linalg.lstsq(a, y.mean(0), rcond=None)[1][0]

    grid = -np.geomspace(0.1, 3, 2000)
    assert fit.power == pytest.approx(grid[np.argmin([residual(p) for p in grid])], rel=3e-3)
    assert 0.005 < fit.error < 0.2


def test_bad_input():
    with pytest.raises(ValueError, match="powers be different"):
        power_sum(N, N, [1, 1])
    with pytest.raises(ValueError, match="as many different x"):
        power_sum([1.0, 1.0], [1.0, 2.0], [0, 1])
    with pytest.raises(ValueError, match="four different"):
        offset_power(N[:3], N[:3])
