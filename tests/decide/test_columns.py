"""The column of confidence, against dense solves, exact fractions and searches."""

from fractions import Fraction

import numpy as np
import pytest
import torch
from scipy.optimize import minimize_scalar

from regimes.decide import ccp_opt, ccp_q
from regimes.theory import q_bayes, q_ccp


def steps(levels, k_a, k_b, eps):
    """Probabilities of steps towards MA and towards MB at the positions MA..1A, 1B..MB."""
    down = [k_a] * levels + [1 - k_b] * levels
    up = [1 - k_a] * levels + [k_b] * levels
    down[0], up[0], down[-1], up[-1] = 0 * k_a, up[0] * eps, down[-1] * eps, 0 * k_a
    return down, up


def dense(levels, k_a, k_b, r, eps):
    """q' by a solve of the whole walk."""
    down, up = steps(levels, k_a, k_b, eps)
    walk = np.diag(up[:-1], -1) + np.diag(down[1:], 1)
    walk += np.diag(1 - walk.sum(axis=0))
    start = np.zeros(2 * levels)
    start[levels - 1 : levels + 1] = 0.5
    p = np.linalg.solve(np.eye(2 * levels) - (1 - r) * walk, r * start)
    return p[levels:].sum()


@pytest.mark.parametrize("levels", [1, 2, 3, 8])
@pytest.mark.parametrize("arms", [0.2, (0.8, 0.5), (0.6, 0.2)])
def test_the_walk_is_solved(levels, arms):
    k_a, k_b = arms if isinstance(arms, tuple) else ((1 + arms) / 2, (1 - arms) / 2)
    r, eps = torch.tensor([0.5, 0.01, 1e-3])[:, None].double(), torch.tensor([0.0, 0.03, 1.0])
    found = ccp_q(levels, arms, r, eps.double())
    assert found.shape == (3, 3)
    for i, reset in enumerate(r[:, 0].tolist()):
        for j, exit_ in enumerate(eps.double().tolist()):
            expected = dense(levels, k_a, k_b, reset, exit_)
            assert float(found[i, j]) == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize(
    "arms", [("11/20", "9/20"), ("3/5", "2/5"), ("4/5", "1/2"), ("3/5", "1/5")]
)
def test_without_resets_no_digit_is_lost(arms):
    # POM-07, POM-15: detailed balance in fractions, at exits that ruin a solve in float64
    k_a, k_b = map(Fraction, arms)
    eps = Fraction(1, 10**14)
    for levels in range(1, 11):
        down, up = steps(levels, k_a, k_b, eps)
        p = [Fraction(1)]
        for i in range(2 * levels - 1):
            p.append(p[-1] * up[i] / down[i + 1])
        exact = sum(p[levels:]) / sum(p)
        found = float(ccp_q(levels, (float(k_a), float(k_b)), 0.0, float(eps)))
        assert found == pytest.approx(float(exact), rel=1e-13)
        limit = float(q_ccp(levels, (float(k_a), float(k_b))))
        assert found == pytest.approx(limit, rel=1e-5)


@pytest.mark.parametrize(
    ("levels", "mu", "r", "expected"),
    [
        (5, 0.1, 1e-4, 0.15594),
        (10, 0.1, 1e-4, 0.03802),
        (20, 0.1, 1e-4, 0.00754),
        (5, 0.2, 1e-2, 0.12721),
        (20, 0.2, 1e-2, 0.09280),
    ],
)
def test_best_exits_are_those_of_a_search(levels, mu, r, expected):
    eps, q = ccp_opt(levels, mu, r)
    assert float(q) == pytest.approx(expected, abs=6e-6)
    searched = minimize_scalar(
        lambda log: dense(levels, (1 + mu) / 2, (1 - mu) / 2, r, np.exp(log)),
        bounds=(np.log(r), 0),
        method="bounded",
    )
    assert float(q) == pytest.approx(searched.fun, rel=1e-9)
    assert float(eps) == pytest.approx(np.exp(searched.x), rel=1e-3)


def test_a_best_exit_is_a_point_of_rest():
    # the grid of [Geiger 2022, fig. 2] on the right, at once and one by one
    levels = torch.tensor([1, 2, 3, 4, 5, 7, 9, 11, 14, 17, 20, 23, 26, 29, 33, 37])
    mu = torch.tensor([0.1, 0.2], dtype=torch.float64)[:, None, None]
    r = torch.tensor([1e-6, 1e-4, 1e-2], dtype=torch.float64)
    eps, q = ccp_opt(levels, mu, r[:, None])
    assert eps.shape == (2, 3, 16)
    inner = eps.clone().requires_grad_()
    (slope,) = torch.autograd.grad(ccp_q(levels, mu, r[:, None], inner).sum(), inner)
    rest = (slope * eps / q).abs() < 1e-9
    assert bool((rest | ((eps == 1) & (slope < 0))).all())
    assert bool((eps[..., 0] == 1).all())  # one level is best left at once
    alone = ccp_opt(9, 0.2, 1e-4)
    assert torch.equal(alone.eps, eps[1, 1, 6])
    assert torch.equal(alone.q, q[1, 1, 6])


def test_more_levels_and_rarer_resets_help_down_to_the_bound_of_all():
    # POM-37 for columns
    levels = torch.arange(1, 30)
    r = torch.logspace(-6, -0.1, 12, dtype=torch.float64)[:, None]
    q = ccp_opt(levels, 0.2, r).q
    assert bool((q.diff(dim=1) < 1e-12).all())
    assert bool((q.diff(dim=0) > 0).all())
    assert bool((q >= q_bayes(0.2, r) * (1 - 1e-12)).all())
    many = ccp_q(400, 0.2, r, 1.0)  # the bound is reached by a column without top, left at once
    torch.testing.assert_close(many, q_bayes(0.2, r).expand(12, 1), rtol=1e-12, atol=0)


def test_high_columns_do_not_overflow():
    eps, q = ccp_opt(2000, 0.9, 1e-3)
    assert 0 < float(eps) <= 1
    assert float(q) == pytest.approx(float(q_bayes(0.9, 1e-3)), rel=1e-3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ccp_q(0, 0.1, 0.1, 0.1), "M must be an integer >= 1, got 0"),
        (lambda: ccp_q(2.5, 0.1, 0.1, 0.1), "M must be an integer >= 1, got 2.5"),
        (lambda: ccp_q(2, 1.0, 0.1, 0.1), r"gap mu between the arms must lie in \(0, 1\), got 1.0"),
        (lambda: ccp_q(2, (0.3, 0.4), 0.1, 0.1), "k_A must be above k_B"),
        (lambda: ccp_q(2, (0.3, 0.2, 0.1), 0.1, 0.1), "the pair"),
        (lambda: ccp_q(2, 0.1, 1.0, 0.1), r"r must lie in \[0, 1\), got 1.0"),
        (lambda: ccp_q(2, 0.1, 0.1, 1.1), r"eps must lie in \[0, 1\], got 1.1"),
        (lambda: ccp_q(2, 0.1, 0.0, 0.0), "make one positive"),
        (lambda: ccp_opt(2, 0.1, 0.0), r"r must lie in \(0, 1\), got 0.0"),
        (lambda: ccp_opt(2, torch.tensor([torch.nan]), 0.1), "gap mu"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
