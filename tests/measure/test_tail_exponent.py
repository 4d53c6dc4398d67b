"""Exponents of samples whose law is known, and the likelihood maximised by brute force."""

import math

import numpy as np
import pytest
import torch

from regimes.measure import gaps_and_overlaps, log_density, tail_exponent


def power_samples(exponent, low, high, shape, seed=0):
    u = np.random.default_rng(seed).random(shape)
    a = exponent + 1
    if a == 0:
        return low * (high / low) ** u
    return (low**a + u * (high**a - low**a)) ** (1 / a)


@pytest.mark.parametrize("exponent", [-1.7, -1.0, -0.2, 0.0, 0.42, 3.0])
def test_the_exponent_of_the_law_is_found(exponent):
    runs = power_samples(exponent, 1e-2, 0.5, (40, 200))
    fit = tail_exponent(runs, (1e-2, 0.5))
    assert abs(fit.exponent - exponent) < 4 * fit.error
    assert fit.error == pytest.approx(fit.likelihood_error, rel=0.35)  # runs are independent here
    assert (fit.samples, fit.runs) == (8000, 40)


def test_no_other_exponent_is_more_likely():
    z = power_samples(0.3, 0.05, 2.0, 300)
    fit = tail_exponent([z], (0.05, 2.0))

    def likelihood(a):
        return a * np.log(z).sum() - len(z) * math.log((2.0 ** (a + 1) - 0.05 ** (a + 1)) / (a + 1))

    grid = np.linspace(-0.9, 2, 2901)
    best = grid[np.argmax([likelihood(a) for a in grid])]
    assert fit.exponent == pytest.approx(best, abs=1e-3)
    bend = (likelihood(best + 1e-2) - 2 * likelihood(best) + likelihood(best - 1e-2)) / 1e-4
    assert fit.likelihood_error == pytest.approx((-bend) ** -0.5, rel=1e-3)
    assert math.isnan(fit.error)


def test_samples_outside_do_not_count_and_runs_may_be_empty():
    inside = power_samples(-0.2, 1e-2, 1.0, (5, 50))
    runs = [np.append(row, [1e-9, 5.0]) for row in inside] + [np.array([])]
    assert tail_exponent(runs, (1e-2, 1.0)).exponent == tail_exponent(inside, (1e-2, 1.0)).exponent


def test_runs_that_differ_widen_the_error():
    runs = [power_samples(e, 1e-2, 1.0, 400, seed=i) for i, e in enumerate([-0.5, 0.5] * 10)]
    fit = tail_exponent(runs, (1e-2, 1.0))
    assert fit.error > 2.5 * fit.likelihood_error


def test_gaps_and_overlaps_follow_their_definition():
    draw = torch.Generator().manual_seed(0)
    F, y = torch.randn(3, 30, generator=draw).double(), torch.ones(30).double()
    active, own = (torch.rand(3, 30, generator=draw) < 0.8 for _ in range(2))
    found = gaps_and_overlaps(F, y, margin=0.5, active=active, own=own)
    for i in range(3):
        delta = [(0.5 - float(F[i, m]), bool(active[i, m])) for m in range(30) if own[i, m]]
        unmet = np.array([d for d, reached in delta if d > 0 and reached])
        loss = (unmet**2).sum() / 2 / len(delta)
        np.testing.assert_allclose(found.overlaps[i], unmet / loss**0.5)
        np.testing.assert_allclose(found.gaps[i], [-d for d, _ in delta if d < 0])


def test_the_density_of_a_power_law_is_one():
    z, density = log_density(power_samples(-0.5, 1e-4, 1.0, (10, 20_000)), (1e-4, 1.0))
    assert (density * np.diff(np.geomspace(1e-4, 1, len(z) + 1))).sum() == pytest.approx(1)
    slope = np.polyfit(np.log(z[10:]), np.log(density[10:]), 1)[0]
    assert slope == pytest.approx(-0.5, abs=0.02)


def test_bad_input():
    with pytest.raises(ValueError, match="two different samples"):
        tail_exponent([[0.5]], (0.1, 1.0))
    with pytest.raises(ValueError, match="0 < low < high"):
        tail_exponent([[0.5, 0.6]], (1.0, 0.1))
    with pytest.raises(ValueError, match=r"samples\[0\]"):
        tail_exponent([[0.5, math.nan]], (0.1, 1.0))
