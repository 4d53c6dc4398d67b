"""Closed forms of what finite memories can do, against each other and against exact minima."""

import math

import pytest
import torch

from regimes.decide import ccp_opt, gray_chain, necklace_count
from regimes.theory import (
    compare_memories,
    exit_rate,
    exit_rate_printed,
    longest_chain,
    q_ccp,
    q_linear,
    q_necklace,
    two_end,
)

LEVELS = torch.arange(1, 31)
ALPHA = 0.9 / 1.1


def odds(q):
    return (1 - q) / q


@pytest.mark.parametrize("mu", [0.1, 0.2, 0.7])
def test_columns_are_worth_a_line_twice_as_long(mu):
    # POM-08, with [Geiger 2022, eq. 7]
    alpha = (1 - mu) / (1 + mu)
    lost = alpha ** (2 * LEVELS.double() - 1)
    torch.testing.assert_close(q_ccp(LEVELS, mu), lost / (1 + lost), rtol=1e-12, atol=0)
    torch.testing.assert_close(q_ccp(LEVELS, mu), q_linear(2 * LEVELS, mu), rtol=1e-12, atol=0)
    pair = ((1 + mu) / 2, (1 - mu) / 2)
    torch.testing.assert_close(q_ccp(LEVELS, pair), q_ccp(LEVELS, mu), rtol=1e-12, atol=0)
    assert bool((q_linear(4 * LEVELS, mu) < q_ccp(LEVELS, mu)).all())  # the bound of their memory


def test_necklace_values_of_the_paper_s_formula():
    assert float(q_necklace(3, 0.1)) == pytest.approx(0.14112, abs=5e-6)
    assert float(q_necklace(4, 0.1)) == pytest.approx(0.03876, abs=5e-6)
    assert float(q_necklace(5, 0.1)) == pytest.approx(8.90e-4, abs=5e-7)
    for m in (3, 4, 5):
        exponent = m * (longest_chain(m) - 1)
        assert float(odds(q_necklace(m, 0.1))) == pytest.approx(ALPHA**-exponent, rel=1e-12)
        assert float(q_necklace(m, (0.55, 0.45))) == pytest.approx(float(q_necklace(m, 0.1)))


@pytest.mark.parametrize("m", [2, 3, 4, 5])
def test_a_chain_of_necklaces_is_a_walk_between_two_ends(m):
    # [Geiger 2022, eqs. 34 to 39], with the letters of the chain itself
    k_a, k_b = 0.7, 0.4
    a = torch.tensor([word.count("A") for word in gray_chain(m)[1:-1]], dtype=torch.float64)
    left = k_a**a * (1 - k_b) ** (m - a)
    right = (1 - k_a) ** a * k_b ** (m - a)
    walked = two_end(left, right, L=(1 - k_b) ** m, R=(1 - k_a) ** m)
    assert float(q_necklace(m, (k_a, k_b))) == pytest.approx(float(walked), rel=1e-12)


def test_longest_chains():
    # searched up to m = 13; for primes all necklaces
    assert [longest_chain(m) for m in (2, 3, 4, 5, 6, 7)] == [3, 4, 5, 8, 13, 20]
    assert longest_chain(31) == necklace_count(31) == 2 + (2**31 - 2) // 31


def test_exponent_of_necklaces_is_two_to_the_m():
    # POM-23
    ratios = [m * (longest_chain(m) - 1) / 2**m for m in (3, 5, 7, 11)]
    assert ratios == pytest.approx([1.125, 1.094, 1.039, 1.004], abs=6e-4)
    for m, ratio in zip((3, 5, 7), ratios, strict=False):
        measured = math.log(float(odds(q_necklace(m, 0.3)))) / (-(2**m) * math.log(0.7 / 1.3))
        assert measured == pytest.approx(ratio, rel=1e-9)


def test_equal_memory():
    # POM-24
    table = [compare_memories(states) for states in (16, 64, 256)]
    assert [row.necklace_exponent for row in table] == [4, 9, 16]
    assert [row.ccp_exponent for row in table] == [7, 31, 127]
    assert [(row.levels, row.depth, row.bits) for row in table] == [
        (4, 2, 4.0),
        (16, 3, 6.0),
        (64, 4, 8.0),
    ]
    assert [row.necklace_leading for row in table] == [4.0, 8.0, 16.0]


@pytest.mark.parametrize("mu", [0.1, 0.2, 0.6])
def test_exit_law_is_that_of_the_minimum(mu):
    levels, r = torch.arange(2, 31), torch.tensor([1e-8, 1e-10], dtype=torch.float64)[:, None]
    law, exact = exit_rate(levels, mu, r), ccp_opt(levels, mu, r).eps
    off = (law / exact - 1).abs()
    assert float(off.max()) < 1e-3
    torch.testing.assert_close(off[0] / off[1], torch.full_like(off[0], 10), rtol=0.1, atol=0)
    limit = math.sqrt(2 / (1 - mu**2))  # of many levels, eq. 23
    assert float(exit_rate(200, mu, 1e-8)) / 1e-4 == pytest.approx(limit, rel=1e-12)


def test_printed_exit_law_misses_its_own_limit():
    assert float(exit_rate_printed(200, 0.2, 1e-8)) / 1e-4 == pytest.approx(math.sqrt(1.6 / 1.2))
    assert float(exit_rate_printed(10, 0.2, 1e-8) / ccp_opt(10, 0.2, 1e-8).eps) < 0.9


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: compare_memories(32), "power of 4"),
        (lambda: exit_rate(1, 0.1, 0.1), "M must be an integer >= 2"),
        (lambda: exit_rate(2, 1e-4, 0.1), r"mu must lie in \[0.001, 1\)"),
        (lambda: q_necklace(3, 0.1, n=1), "n must be an integer >= 2"),
        (lambda: q_necklace(3, 0.1, n=5), "n must be at most 4, the number of necklaces of 3"),
        (lambda: longest_chain(16), "from 1 to 15, and 17; got 16"),
        (lambda: q_linear(2, 1.5), r"mu must lie in \(0, 1\)"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
