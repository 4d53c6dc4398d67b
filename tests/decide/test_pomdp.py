"""Tabular problems: values, steady states and slopes of random ones."""

import pytest
import torch

from regimes.decide import TabularPOMDP

S, A, O = 8, 3, 4


@pytest.fixture(params=[0.5, 0.9, 0.99])
def problem(request, random_start):
    return random_problem(random_start, request.param)


def random_problem(draw, gamma, seed=0):
    rewards = draw(S, seed=seed + 3).log()
    return TabularPOMDP(
        draw(S, A, S, seed=seed).movedim(-1, 0),
        draw(S, O, seed=seed + 1).mT,
        rewards,
        draw(S, seed=seed + 2),
        gamma,
    )


def test_policy_transition_is_the_sum_over_what_is_seen_and_done(problem, random_policy):
    policy = random_policy(problem)
    T = torch.zeros(S, S, dtype=torch.float64)
    for o in range(O):
        for a in range(A):
            for s in range(S):
                T[:, s] += problem.transition[:, s, a] * policy[a, o] * problem.observation[o, s]
    torch.testing.assert_close(problem.policy_transition(policy), T, rtol=1e-12, atol=0)


def test_value_is_that_of_the_steady_state_with_resets(random_start, random_policy):
    """The discounted sum is the mean reward over r [Geiger 2022, Lemma 2.1]; POM-01."""
    for seed in range(5):
        for gamma in (0.5, 0.9, 0.99):
            problem = random_problem(random_start, gamma, seed=10 * seed)
            policy = random_policy(problem, 2, seed=seed)
            mean = problem.reward(policy) / (1 - gamma)
            torch.testing.assert_close(problem.value(policy), mean, rtol=1e-10, atol=0)


def test_value_is_the_discounted_sum(random_start, random_policy):
    problem = random_problem(random_start, 0.5)
    policy = random_policy(problem)
    T, p, total = problem.policy_transition(policy), problem.start, 0.0
    for t in range(60):
        total, p = total + 0.5**t * p @ problem.rewards, T @ p
    torch.testing.assert_close(problem.value(policy), total, rtol=1e-12, atol=0)


def test_slope_is_that_of_autograd(problem, random_policy, random_start):
    policy = random_policy(problem, 5).requires_grad_()
    start = random_start(5, S).requires_grad_()
    slope = problem.gradient(policy, start)
    reward = problem.reward(policy, start)
    by_policy, by_start = torch.autograd.grad(reward.sum(), (policy, start))
    torch.testing.assert_close(slope.reward, reward.detach(), rtol=1e-10, atol=0)
    torch.testing.assert_close(slope.policy, by_policy, rtol=1e-8, atol=1e-12)
    torch.testing.assert_close(slope.start, by_start, rtol=1e-8, atol=1e-12)


def test_slope_of_one_policy_from_many_starts(problem, random_policy, random_start):
    policy, starts = random_policy(problem), random_start(3, S)
    slope = problem.gradient(policy, starts)
    each = [problem.gradient(policy, start) for start in starts]
    assert slope.start.shape == (3, S)
    torch.testing.assert_close(slope.policy, torch.stack([one.policy for one in each]))
    torch.testing.assert_close(slope.reward, torch.stack([one.reward for one in each]))


def test_value_is_differentiable(problem, random_policy):
    policy = random_policy(problem).requires_grad_()
    assert torch.autograd.gradcheck(
        lambda logits: problem.value(logits.softmax(-2)), policy, rtol=1e-5
    )


@pytest.mark.parametrize("solver", ["power", "series"])
def test_solvers_agree(problem, random_policy, solver):
    policy = random_policy(problem, 2)
    exact = problem.steady_state(policy)
    torch.testing.assert_close(
        problem.steady_state(policy, solver=solver), exact, atol=1e-7, rtol=0
    )


def good():
    return {
        "transition": torch.full((2, 2, 1), 0.5, dtype=torch.float64),
        "observation": [[1.0, 1.0]],
        "rewards": [0.0, 1.0],
        "start": [0.5, 0.5],
        "discount": 0.5,
    }


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"transition": torch.full((2, 2, 1), 0.6).double()},
            "transition must sum to one over s' .*, but a",
        ),
        (
            {"transition": [[[0.1], [0.9]], [[0.5], [0.5]]]},
            "but a sum is 0.6; over the other index they do, so exchange the two",
        ),
        ({"transition": torch.zeros(2, 3, 1)}, r"must have shape \(S, S, A\)"),
        ({"observation": [[1.0, 1.0, 1.0]]}, r"observation must have shape \(..., n, 2\)"),
        ({"observation": [[2.0, 2.0], [-1.0, -1.0]]}, "observation must not be negative"),
        ({"rewards": [1.0]}, r"rewards must have shape \(2,\) for 2 states, got \(1,\)"),
        ({"rewards": [1.0, float("nan")]}, "rewards holds NaN"),
        ({"rewards": torch.ones(2)}, "rewards is torch.float32 .* convert one with"),
        ({"start": [0.5, 0.6]}, "start must sum to one"),
        ({"discount": 1.0}, r"discount must be in \[0, 1\), got 1; .* take a discount near 1"),
        ({"start": "here"}, "start must be an array of numbers, got 'here'"),
    ],
)
def test_what_is_no_problem_is_refused(change, message):
    with pytest.raises(ValueError, match=message):
        TabularPOMDP(**(good() | change))


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (torch.ones(1, 2).double(), r"policy must have shape \(..., 1, 1\) \(of 1 actions at each"),
        (torch.full((1, 1), 0.5).double(), "policy must sum to one over the actions"),
        (torch.ones(1, 1), "policy is torch.float32 .* and the problem torch.float64"),
        (torch.ones(1, 1).double() * torch.nan, "policy holds NaN"),
    ],
)
def test_what_is_no_policy_is_refused(policy, message):
    with pytest.raises(ValueError, match=message):
        TabularPOMDP(**good()).value(policy)


def test_members_fit_together(problem, random_policy, random_start):
    policy, start = random_policy(problem, 3), random_start(2, problem.states)
    for number in (problem.value, problem.reward, problem.gradient):
        with pytest.raises(ValueError, match=r"policy has \(3,\), start has \(2,\)"):
            number(policy, start)
