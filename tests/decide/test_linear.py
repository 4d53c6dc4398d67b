"""The linear policy and the bound that it reaches."""

import pytest
import torch

from regimes._random import generator
from regimes.decide import Memento, Policy, Ram, TwoArms, likelihood_ratios, linear
from regimes.theory import q_linear


@pytest.mark.parametrize("mu", [0.1, 0.3])
def test_wrong_plays_are_those_of_hellman_and_cover(mu):
    # POM-05
    for states in range(2, 9):
        policy = linear(Ram(states), 1e-8)
        problem = TwoArms(Ram(states), gap=mu, reset=0.0)
        found = float(problem.q_played(policy.actions, policy.start, solver="gth"))
        assert found == pytest.approx(float(q_linear(states, mu)), rel=1e-6)


def test_neighbours_differ_by_the_square_of_alpha():
    # POM-06
    found = likelihood_ratios(linear(Ram(6), 1e-8), gap=0.2)
    ratios = found[:-1] / found[1:]
    torch.testing.assert_close(ratios, torch.full_like(ratios, 1.5**2), rtol=1e-5, atol=0)
    assert float(found[0]) == pytest.approx(1 / float(q_linear(6, 0.2)) - 1, rel=1e-5)


def random_lines(draws, states):
    """Policies with random moves of the memory, whose arm depends on the memory alone."""
    source = generator(0, "moves")
    moves = torch.randn(draws, states, states, 2, 2, generator=source, dtype=torch.float64)
    moves = (5 * moves).softmax(1)  # draw, next memory, memory, arm, reward
    actions = torch.zeros(draws, 2 * states, 5 * states, dtype=torch.float64)
    arm = torch.arange(states) // (states // 2)
    play = 2 * torch.arange(states) + arm
    actions[:, play, :states] = torch.eye(states, dtype=torch.float64)
    actions[:, play, states:] = moves.flatten(2)
    return Policy(actions)


def test_random_memories_stay_below_the_bound_but_not_below_the_printed_one():
    # POM-06: alpha^-2 = 2.25, printed alpha^-1 = 1.5
    found = likelihood_ratios(random_lines(300, 4), gap=0.2)
    assert found.shape == (300, 4)
    ratios = (found[:, :-1] / found[:, 1:])[(found[:, 1:] > 0) & found[:, :-1].isfinite()]
    assert len(ratios) > 800
    assert float(ratios.max()) <= 2.25 * (1 + 1e-9)
    assert float(ratios.max()) > 1.5


def test_a_memory_never_seen_has_no_ratio():
    actions = torch.zeros(4, 10, dtype=torch.float64)
    actions[0] = 1.0  # write memory 1, pull A
    found = likelihood_ratios(Policy(actions), gap=0.2)
    assert float(found[0]) == pytest.approx(1.0)
    assert bool(found[1].isnan())


def test_bad_input():
    with pytest.raises(ValueError, match=r"memory must be Ram\(states\)"):
        linear(Memento(2), 0.1)
    with pytest.raises(ValueError, match="policy must be a Policy"):
        likelihood_ratios(torch.ones(4, 10), 0.1)
    with pytest.raises(ValueError, match=r"random access memory, .* got \(2, 21\)"):
        likelihood_ratios(Policy(torch.full((2, 21), 0.5)), 0.1)
