"""The exponent that a Gram's spectrum foretells."""

import numpy as np
import pytest
import torch

from regimes.curves import Pool, learning_curve, spaced_ranks, spectral_tail
from regimes.kernels import Laplace
from regimes.measure import kernel_pca


def circle(n=800):
    """A rough periodic target: coefficients that fall as 1/k, so that tails fall as 1/rank."""
    draws = np.random.default_rng(0)
    angle = 2 * np.pi * draws.random(n)
    k = np.arange(1, 400)
    phase = 2 * np.pi * draws.random(399)
    y = (np.cos(angle[:, None] * k + phase) / k).sum(1)
    return np.stack([np.cos(angle), np.sin(angle)], 1), y


def test_powers_are_those_of_all_eigenvectors():
    x, y = circle(120)
    tail = spectral_tail((x, y), Laplace(1.0), 100, 2, top=30, seed=3)
    pool = Pool(torch.from_numpy(x), torch.from_numpy(y), None, None, 0)
    for repeat in range(2):
        drawn = pool.drawn(100, 0, 3, repeat)
        pca = kernel_pca(Laplace(1.0)(drawn.x))
        powers = pca.projections(drawn.y).numpy()
        assert np.allclose(tail.power[repeat], powers[::-1].cumsum()[::-1][:30], atol=1e-10)
        assert np.allclose(tail.eigenvalues[repeat], pca.values[:30], rtol=1e-9)
    assert tail.ranks.tolist() == list(range(1, 31))
    assert (tail.points, tail.duplicates) == (100, 0)


def test_it_foretells_the_exponent_of_a_known_target():
    x, y = circle()
    foretold = spectral_tail((x, y), Laplace(2.0), 700, 2).fit((6, 60))
    measured = learning_curve((x, y), Laplace(2.0), (40, 80, 160, 320), 4, n_test=300).fit()
    assert -foretold.exponent == pytest.approx(1.0, abs=0.2)
    assert -measured.exponent == pytest.approx(-foretold.exponent, abs=0.25)


def test_ranks_are_spaced_evenly_on_a_logarithmic_axis():
    ranks = spaced_ranks((10, 1000), 1000)
    assert (ranks[0], ranks[-1]) == (10, 1000)
    assert len(ranks) == 41
    assert np.abs(np.diff(np.log10(ranks))[10:] - 0.05).max() < 0.02
    assert spaced_ranks((1, 10), 10).tolist() == list(range(1, 11))


@pytest.mark.parametrize("window", [(0, 10), (10, 10), (20, 10), (10, 101)])
def test_bad_windows_are_told(window):
    with pytest.raises(ValueError, match="two ranks between 1 and 100, got"):
        spaced_ranks(window, 100)


def test_bad_input_is_told():
    task = circle(60)
    with pytest.raises(ValueError, match="asks for 61 points and 6 ranks, and there are 60"):
        spectral_tail(task, Laplace(1.0), 61)
    with pytest.raises(ValueError, match="50 points and 51 ranks"):
        spectral_tail(task, Laplace(1.0), 50, top=51)
    with pytest.raises(ValueError, match="n must"):
        spectral_tail(task, Laplace(1.0), 5)
    with pytest.raises(ValueError, match="sigma, the length"):
        spectral_tail(task, Laplace(-1.0), 50)
