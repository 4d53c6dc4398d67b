"""Starts of training: structure, seeds, and what they are worth."""

import pytest
import torch

from regimes.decide import (
    Memento,
    Ram,
    TwoArms,
    ccp_q,
    initial_logits,
    necklace_policy,
)

RAM = TwoArms(Ram(4), gap=0.1, reset=1e-3)
MEMENTO = TwoArms(Memento(3), gap=0.1, reset=1e-3)
STARTS = {"random": RAM, "linear": RAM, "columns": RAM, "ccp": RAM} | {
    "cycles": MEMENTO,
    "necklace": MEMENTO,
}
LEAK = 1e-4


@pytest.mark.parametrize("name", STARTS)
def test_members_are_stacked_and_depend_on_their_seeds_alone(name):
    problem = STARTS[name]
    policy, start = initial_logits(name, problem, seeds=(5, 3, 4))
    assert policy.shape == (3, problem.actions, problem.observations)
    assert policy.dtype == torch.float64
    alone = initial_logits(name, problem, 3)
    assert torch.equal(alone.policy[0], policy[1])
    assert torch.equal(policy[0], policy[2]) == (name in ("ccp", "necklace"))
    if problem is MEMENTO:
        assert start is None
    else:
        assert start.shape == (3, 4)
        assert torch.equal(alone.start[0], start[1])
    policy[0] += 1  # members share no memory
    assert torch.equal(alone.policy[0], policy[1])


def test_random_logits_are_normal():
    policy, start = initial_logits("random", TwoArms(Ram(8), gap=0.1, reset=0.1), range(30))
    for drawn in (policy, start):
        assert float(drawn.mean()) == pytest.approx(0, abs=4 / drawn.numel() ** 0.5)
        assert float(drawn.std()) == pytest.approx(1, abs=4 / drawn.numel() ** 0.5)


def kept(name):
    """The probabilities of a start, with the leak taken off, and what is observed and done."""
    policy, _ = initial_logits(name, RAM, range(6))
    memory = RAM.memory
    return policy.exp() - LEAK, [
        (a, o, memory.action_label(a), memory.label(o))
        for a in range(memory.actions)
        for o in range(memory.observations)
    ]


@pytest.mark.parametrize("name", ["linear", "columns"])
def test_structured_starts_are_random_ones_without_some_actions(name):
    probabilities, cells = kept(name)
    drawn = initial_logits("random", RAM, range(6)).policy.softmax(1)
    expected = torch.zeros_like(drawn)
    for a, o, done, seen in cells:
        near = abs(int(done[0]) - int(seen[0])) <= 1
        repeats = name == "linear" or len(seen) == 1 or seen[0] == "1" or done[1] == seen[1]
        if near and repeats:
            expected[:, a, o] = drawn[:, a, o]
    expected /= expected.sum(1, keepdim=True)
    torch.testing.assert_close(probabilities, expected, rtol=1e-9, atol=1e-12)


def test_cycles_repeat_the_oldest_arm_but_where_all_outcomes_agree():
    probabilities = initial_logits("cycles", MEMENTO, range(6)).policy.exp() - LEAK
    drawn = initial_logits("random", MEMENTO, range(6)).policy.softmax(1)
    memory = MEMENTO.memory
    for o in range(memory.observations):
        label = memory.label(o)
        m = len(label) // 2
        speak = {
            (arm == "A") == (sign == "+") for arm, sign in zip(label[:m], label[m:], strict=True)
        }
        if m == 3 and len(speak) == 2:
            expected = torch.eye(2, dtype=torch.float64)["AB".index(label[0])].expand(6, 2)
        else:
            expected = drawn[:, :, o]
        torch.testing.assert_close(probabilities[:, :, o], expected, rtol=1e-9, atol=1e-12)


def test_best_known_policies_leak():
    # a leak of 1e-4 on each of 2M actions: [Geiger 2022, fig. 4] has curves that start above
    problem = TwoArms(Ram(8), gap=0.1, reset=1e-3)
    policy, start = initial_logits("ccp", problem, seeds=0)
    q = problem.q(policy.softmax(1), start.softmax(1))
    assert float(q) == pytest.approx(0.172, abs=5e-4)
    policy, start = initial_logits("ccp", problem, seeds=0, leak=1e-300)
    q = problem.q_played(policy.softmax(1), start.softmax(1))
    exit_ = policy.exp()[0, problem.memory.action(6, 0), problem.memory.observation(7, 0, 1)]
    assert float(q) == pytest.approx(float(ccp_q(8, 0.1, 1e-3, exit_)), rel=1e-12)
    exact = necklace_policy(Memento(3), 1e-3**0.5, 1e-3**0.25).actions
    torch.testing.assert_close(
        initial_logits("necklace", MEMENTO).policy.exp()[0] - LEAK, exact, rtol=1e-12, atol=1e-15
    )


def test_members_with_problems_of_their_own():
    reset = torch.tensor([1e-2, 1e-3], dtype=torch.float64)
    policy, start = initial_logits("ccp", TwoArms(Ram(4), gap=0.1, reset=reset), seeds=(0, 1))
    assert torch.equal(policy[1], initial_logits("ccp", RAM).policy[0])
    assert not torch.equal(policy[0], policy[1])
    assert start.shape == (2, 4)
    other = TwoArms(Ram(4), arms=(0.8, 0.5), reset=1e-3)
    assert not torch.equal(initial_logits("ccp", other).policy[0], policy[1])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: initial_logits("cycles", RAM), "unknown start for Ram"),
        (lambda: initial_logits("ccp", MEMENTO), "use one of: .*necklace"),
        (lambda: initial_logits("random", Ram(4)), "problem must be a TwoArms problem"),
        (lambda: initial_logits("random", RAM, []), "seeds must be an integer or some"),
        (lambda: initial_logits("random", RAM, 0.5), "seeds must be an integer or some"),
        (lambda: initial_logits("linear", RAM, leak=0.0), "leak must be a finite number"),
        (
            lambda: initial_logits(
                "ccp", TwoArms(Ram(4), gap=0.1, reset=torch.tensor([0.1, 0.2])), range(3)
            ),
            "needs as many seeds, got 3",
        ),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
