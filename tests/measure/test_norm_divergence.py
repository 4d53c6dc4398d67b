"""Divergences with a known N* and exponent."""

import numpy as np
import pytest

from regimes.measure import norm_divergence, power_law

N = np.geomspace(103, 3000, 40)


@pytest.mark.parametrize("alpha", [0.5, 1.0, 1.7])
def test_the_exponent_and_n_star_are_found(alpha):
    f = 3 * (N / 90 - 1) ** (-2 * alpha)
    free, given = norm_divergence(N, f), norm_divergence(N, f, 90.0)
    assert given.alpha == pytest.approx(alpha, abs=1e-9)
    assert free.alpha == pytest.approx(alpha, rel=0.02)
    assert free.n_star == pytest.approx(90, rel=0.01)
    assert len(given.scan) == 1
    assert given.points == ((N / 90 - 1 > 0.1) & (N / 90 - 1 < 3)).sum()


def test_a_wrong_n_star_changes_the_exponent_as_in_the_scan():
    noise = np.exp(0.05 * np.random.default_rng(0).normal(size=len(N)))
    f = (N / 90 - 1) ** -2.0 * noise
    fit = norm_divergence(N, f)
    stars, alphas, residuals = fit.scan.T
    assert (np.diff(stars) >= 0).all()
    assert residuals.min() == residuals[stars == fit.n_star][0]
    low, high = (alphas[np.abs(stars - at).argmin()] for at in (80, 97))
    assert low > 1.1 > 0.95 > high


def test_the_given_line_is_that_of_power_law():
    f = (N / 90 - 1) ** -2.0 * np.exp(0.3 * np.random.default_rng(1).normal(size=len(N)))
    window = (N / 100 - 1 > 0.1) & (N / 100 - 1 < 3)
    other = power_law(N[window] / 100 - 1, f[window] ** 0.5)
    fit = norm_divergence(N, f, 100.0)
    assert (fit.alpha, fit.error) == pytest.approx((-other.exponent, other.error))
    assert fit.r2 == pytest.approx(other.r2)


def test_bad_input():
    with pytest.raises(ValueError, match="the divergence needs 3 N"):
        norm_divergence(N, N, 1e6)
    with pytest.raises(ValueError, match="parameters must increase"):
        norm_divergence(N[::-1], N)
    with pytest.raises(ValueError, match="0 <= low < high"):
        norm_divergence(N, N, window=(3.0, 0.1))
