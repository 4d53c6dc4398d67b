"""The bound of unbounded memory: closed form, value iteration, limits."""

import pytest
import torch

from regimes.theory import q_bayes, q_bayes_iteration


@pytest.mark.parametrize(
    ("mu", "r", "expected"),
    [(0.1, 1e-2, 0.2127767), (0.2, 0.05, 0.2400916), (0.7, 0.6, None), (0.05, 0.9, None)],
)
def test_closed_form_is_what_value_iteration_finds(mu, r, expected):
    # POM-37
    closed = float(q_bayes(mu, r))
    assert q_bayes_iteration(mu, r) == pytest.approx(closed, abs=1e-10)
    if expected:
        assert closed == pytest.approx(expected, abs=5e-8)


def test_rare_resets_and_many():
    mu = torch.tensor([0.1, 0.3, 0.6], dtype=torch.float64)
    torch.testing.assert_close(q_bayes(mu, 1e-12) / 1e-12, 1 / (2 * mu**2), rtol=1e-8, atol=0)
    torch.testing.assert_close(q_bayes(mu, 1 - 1e-12), torch.full_like(mu, 0.5))
    assert bool((q_bayes(0.2, torch.logspace(-8, -0.01, 50)).diff() > 0).all())


def test_bad_input():
    with pytest.raises(ValueError, match=r"mu must lie in \(0, 1\), got 0"):
        q_bayes(0, 0.1)
    with pytest.raises(ValueError, match=r"r must lie in \(0, 1\), got 1"):
        q_bayes(0.1, 1)
    with pytest.raises(ValueError, match="outcomes to be sure"):
        q_bayes_iteration(1e-9, 0.1)
    with pytest.raises(ValueError, match="is not done after 10 steps"):
        q_bayes_iteration(0.1, 0.01, max_steps=10)
