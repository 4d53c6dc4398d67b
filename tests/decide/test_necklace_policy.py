"""The necklace policy: its exits, and its wrong plays in the order of limits."""

from itertools import pairwise

import pytest
import torch

from regimes.decide import (
    Memento,
    Ram,
    TwoArms,
    gray_chain,
    necklace,
    necklace_exits,
    necklace_policy,
)
from regimes.theory import q_necklace


def table(m):
    return [(each.word, each.rewards, each.arm) for each in necklace_exits(gray_chain(m))]


def test_exits_of_three_and_four_plays():
    assert table(3) == [
        ("AAA", "---", "B"),
        ("BAA", "-++", "A"),
        ("ABA", "-+-", "B"),
        ("BAB", "-+-", "A"),
        ("ABB", "-++", "B"),
        ("BBB", "---", "A"),
    ]
    assert table(4) == [
        ("AAAA", "----", "B"),
        ("BAAA", "-+++", "A"),
        ("ABAA", "-+--", "B"),
        ("BAAB", "-++-", "A"),
        ("ABBA", "-++-", "B"),
        ("BABB", "-+--", "A"),
        ("ABBB", "-+++", "B"),
        ("BBBB", "----", "A"),
    ]


@pytest.mark.parametrize("m", [1, 2, 5, 6])
def test_every_exit_leads_to_a_neighbour_and_mirrors_another(m):
    chain, exits = gray_chain(m), necklace_exits(gray_chain(m))
    steps = {(necklace(each.word), necklace(each.word[1:] + each.arm)) for each in exits}
    assert steps == {pair for one, two in pairwise(chain) for pair in ((one, two), (two, one))}
    assert len(exits) == 2 * len(chain) - 2
    assert [each.end for each in exits] == [True] + [False] * (len(exits) - 2) + [True]
    assert all(each.arm != each.word[0] for each in exits)


def wrong(m, eps0, eps1, rotation="last", **arms):
    policy = necklace_policy(Memento(m), eps0, eps1, rotation=rotation, stray=0.5)
    problem = TwoArms(Memento(m), reset=0.0, **(arms or {"gap": 0.1}))
    return problem.q_played(policy.actions, solver="gth")


@pytest.mark.parametrize("m", [3, 4])
def test_limit_of_rare_exits(m):
    # POM-20
    share = float(wrong(m, 1e-8, 1e-3) / q_necklace(m, 0.1))
    assert 1 <= share < 1.004


def test_never_below_the_limit():
    # POM-21
    eps = torch.logspace(-6, 0, 5, dtype=torch.float64)
    found = wrong(3, eps[:, None], eps)
    assert found.shape == (5, 5)
    assert float((found / q_necklace(3, 0.1)).min()) >= 1 - 1e-9


def test_both_limits_matter_and_their_order():
    # POM-22: the error is linear in eps1, less so where exits are not the words of entry
    eps1 = torch.tensor([0.1, 0.01, 0.001], dtype=torch.float64)
    for rotation, expected in (("first", [0.098, 0.01, 0.001]), ("last", [0.0393, 0.004, 0.0004])):
        excess = wrong(3, eps1**2 / 100, eps1, rotation=rotation) / q_necklace(3, 0.1) - 1
        torch.testing.assert_close(
            excess, torch.tensor(expected, dtype=torch.float64), rtol=0.05, atol=0
        )
    memory = Memento(3)
    policy = necklace_policy(memory, 0.01, 0.01)
    problem = TwoArms(memory, gap=0.1, reset=0.0)
    p = problem.steady_state(policy.actions, solver="gth").mean(0)
    inner = [o for o in range(memory.observations) if "A" in memory.label(o)[:3]]
    inner = [o for o in inner if "B" in memory.label(o)[:3]]
    assert float(p[inner].sum()) == pytest.approx(0.68, abs=0.005)
    assert float(problem.q_played(policy.actions, solver="gth")) == pytest.approx(0.354, rel=0.01)


@pytest.mark.parametrize(("m", "eps0"), [(3, 1e-10), (3, 1e-30), (4, 1e-20)])
def test_any_two_arms(m, eps0):
    # POM-26
    found = float(wrong(m, eps0, 1e-4, arms=(0.7, 0.4)))
    assert found == pytest.approx(float(q_necklace(m, (0.7, 0.4))), rel=1e-3)


def test_a_chain_of_one_s_own():
    memory, around = Memento(4), ("AAAA", "AAAB", "ABAB", "ABBB", "BBBB")
    assert necklace_exits(around)[4].word == "ABAB"
    own = necklace_policy(memory, 0.1, 0.2, chain=around).actions
    assert not torch.equal(own, necklace_policy(memory, 0.1, 0.2).actions)
    assert bool((own[:, : memory.first(4)] == 0.5).all())  # short words


def test_necklaces_outside_the_chain_keep_who_begins_there():
    memory = Memento(4)
    problem = TwoArms(memory, gap=0.1, reset=0.0)
    turning = necklace_policy(memory, 1e-3, 1e-2).actions
    with pytest.raises(ValueError, match="one of 2 classes"):  # the chain, and ABAB for ever
        problem.q_played(turning, solver="gth")
    for label in ("ABAB++++", "BABA-+-+"):
        o = memory.observation(label)
        assert float(turning[int(label[0] == "B"), o]) == 1.0
        turning[:, o] = torch.tensor([0.3, 0.7])
    problem.q_played(turning, solver="gth")


@pytest.mark.parametrize(
    ("m", "r", "rotation", "expected"),
    [
        (3, 1e-3, "first", 0.2675),
        (3, 1e-5, "first", 0.1759),
        (4, 1e-3, "first", 0.2532),
        (3, 1e-3, "last", 0.2391),
        (3, 1e-5, "last", 0.1664),
        (4, 1e-3, "last", 0.2143),
    ],
)
def test_best_exits_at_finite_resets(m, r, rotation, expected):
    # POM-36: the minimum over both exits, near which q is flat
    eps0 = torch.logspace(-3, -1, 17, dtype=torch.float64)[:, None]
    eps1 = torch.logspace(-1.2, 0, 13, dtype=torch.float64)
    policy = necklace_policy(Memento(m), eps0, eps1, rotation=rotation)
    q = TwoArms(Memento(m), gap=0.1, reset=r).q(policy.actions)
    assert float(q.min()) == pytest.approx(expected, abs=4e-4)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: necklace_policy(Ram(2), 0.1, 0.1), r"memory must be Memento\(depth\)"),
        (lambda: necklace_policy(Memento(2), 0.1, -1), r"eps1 must lie in \[0, 1\], got -1"),
        (lambda: necklace_policy(Memento(2), 0.1, 0.1, chain=gray_chain(3)), "words of 3 letters"),
        (lambda: necklace_exits(("AAA", "BBB")), "but not by one letter"),
        (lambda: necklace_exits(("AAB", "ABB", "BBB")), "from AA...A to BB...B"),
        (lambda: necklace_exits(()), "from AA...A to BB...B"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
