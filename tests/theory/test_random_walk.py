"""Crossings and ends of chains, against absorbing solves and exact fractions."""

from fractions import Fraction

import pytest
import torch

from regimes.theory import traverse, two_end

SITES, CHAINS = 10, 20


def chains(sites=SITES, seed=0):
    """Random probabilities of steps, (CHAINS, sites) each."""
    draw = torch.rand(
        3, CHAINS, sites, generator=torch.Generator().manual_seed(seed), dtype=torch.float64
    )
    left, right, _ = draw / draw.sum(0)
    return left, right


def absorbed(left, right, i, j):
    """P(j+1 before i-1 | start at i) by the absorbing chain of the sites i..j."""
    left, right = left[:, i : j + 1], right[:, i : j + 1]
    moves = torch.diag_embed(left + right)
    moves -= torch.diag_embed(right[:, :-1], offset=1) + torch.diag_embed(left[:, 1:], offset=-1)
    out = torch.zeros_like(left)
    out[:, -1] = right[:, -1]
    return torch.linalg.solve(moves, out)[:, 0]


@pytest.mark.parametrize(("i", "j"), [(0, 9), (3, 3), (2, 7)])
def test_crossing_is_that_of_the_absorbed_walk(i, j):
    # POM-16
    left, right = chains()
    torch.testing.assert_close(
        traverse(left, right, i, j), absorbed(left, right, i, j), rtol=1e-10, atol=0
    )


def test_there_and_back_differ_by_the_product_of_ratios():
    # [Geiger 2022, eq. 32]
    left, right = chains(seed=1)
    there = traverse(left, right, 0, SITES - 1)
    back = traverse(right.flip(-1), left.flip(-1), 0, SITES - 1)
    torch.testing.assert_close(back / there, (left / right).prod(-1), rtol=1e-12, atol=0)


def test_end_is_that_of_the_steady_state():
    # POM-17: detailed balance in fractions, with exits of 1e-9
    left, right = chains(sites=6, seed=2)
    ends = torch.rand(2, CHAINS, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    found = two_end(left, right, *ends)
    for chain in range(CHAINS):
        to_left = [*map(Fraction, left[chain].tolist()), Fraction(float(ends[0, chain])) / 10**9]
        to_right = [Fraction(float(ends[1, chain])) / 10**9, *map(Fraction, right[chain].tolist())]
        p = [Fraction(1)]
        for up, down in zip(to_right, to_left, strict=True):
            p.append(p[-1] * up / down)
        assert float(found[chain]) == pytest.approx(float(p[-1] / sum(p)), rel=1e-6)


def test_no_site_between_and_very_many():
    none = torch.empty(0, dtype=torch.float64)
    assert float(two_end(none, none, L=1.0, R=3.0)) == pytest.approx(0.75)
    many = torch.full((5000,), 0.2)  # the product of ratios is 2^5000
    assert float(two_end(2 * many, many, 1.0, 1.0)) == 0
    assert float(two_end(many, 2 * many, 1.0, 1.0)) == 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: traverse(torch.ones(3), torch.ones(2), 0, 1), "one and the same shape"),
        (lambda: traverse(torch.ones(3), torch.zeros(3), 0, 1), "must be positive"),
        (lambda: traverse(torch.ones(3), torch.ones(3), 2, 1), "i <= j < 3"),
        (lambda: traverse(torch.ones(3), torch.ones(3), 0, 3), "i <= j < 3"),
        (lambda: two_end(torch.ones(3), torch.ones(3), 0.0, 1.0), r"L must lie in \(0, inf\)"),
        (lambda: two_end(torch.ones(3), torch.ones(3), 1.0, "a"), "R must lie in .* got 'a'"),
        (lambda: traverse("one", [1.0], 0, 0), "left must be an array of numbers"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
