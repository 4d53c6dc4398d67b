"""The linear policy of Hellman and Cover, and what bounds every memory that alone says the arm."""

from __future__ import annotations

import torch
from torch import Tensor

from regimes._check import instance
from regimes.decide._arms import Number, number
from regimes.decide._memories import Ram
from regimes.decide._policy import Policy
from regimes.decide._two_arms import TwoArms


def linear(memory: Ram, eps: Number) -> Policy:
    """Memories on a line from sure of A to sure of B [Geiger 2022, sec. 3].

    An outcome that speaks for A (A won or B lost) moves the memory one step to the left, one that
    speaks for B to the right; the ends are left with probability eps alone. The arm is that of the
    new memory: A in the left half, B in the right one. The player starts in the middle.

    Args:
        memory: `Ram(M)`.
        eps: probability to leave an end when the outcome says so, in [0, 1]; a tensor (...) makes
            as many policies.

    Returns:
        actions (..., 2M, 5M) and start (..., M), float64.

    >>> memory = Ram(4)
    >>> policy = linear(memory, 1e-8)
    >>> problem = TwoArms(memory, gap=0.2, reset=0.0)
    >>> problem.q_played(policy.actions, policy.start, solver="gth")  # alpha^3/(1 + alpha^3)
    tensor(0.2286, dtype=torch.float64)
    """
    instance("memory", memory, Ram, "Ram(states)")
    exit_ = number("eps", eps, 0, 1, closed=(True, True))
    M = memory.states
    actions = exit_.new_zeros(*exit_.shape, memory.actions, memory.observations)

    def play(place: int) -> int:
        return memory.action(place, arm=int(place >= M // 2))

    for place in range(M):
        actions[..., play(place), memory.observation(place)] = 1.0
        for arm, reward in ((0, 0), (0, 1), (1, 0), (1, 1)):
            seen = memory.observation(place, arm, reward)
            to = place - 1 if arm == reward else place + 1
            to = min(max(to, 0), M - 1)
            leave = exit_ if place in (0, M - 1) else torch.ones_like(exit_)
            actions[..., play(place), seen] = 1 - leave
            actions[..., play(to), seen] += leave
    start = exit_.new_zeros(*exit_.shape, M)
    start[..., (M - 1) // 2] += 0.5
    start[..., M // 2] += 0.5
    return Policy(actions, start)


def likelihood_ratios(policy: Policy, gap: Number) -> Tensor:
    """How much each memory speaks for arm A, the one that says most first, without resets.

    `l_i = P(memory i | A is better)/P(memory i | B is better)`. If the arm depends on the memory
    alone, neighbours differ by a factor `alpha^-2` at most, `alpha = (1-gap)/(1+gap)`, so that the
    gain of M memories is bounded; the linear policy reaches the bound everywhere.
    [Geiger 2022, footnote 3] prints `alpha^-1` (docs/themes/pomdp.md, "Misprints").

    Args:
        policy: of a random access memory, actions (..., 2M, 5M).
        gap: mu, in (0, 1).

    Returns:
        (..., M), decreasing; infinite where a memory is seen under one hypothesis alone, NaN, and
        last, where it is never seen.

    >>> likelihood_ratios(linear(Ram(3), 1e-8), gap=0.2)  # alpha^-2, 1, alpha^2
    tensor([2.2500, 1.0000, 0.4444], dtype=torch.float64)
    """
    instance("policy", policy, Policy, "a Policy")
    actions, observations = policy.actions.shape[-2:]
    memory = Ram(max(actions // 2, 1))
    if (actions, observations) != (memory.actions, memory.observations):
        raise ValueError(
            "policy must be of a random access memory, with actions (..., 2M, 5M), got "
            f"{tuple(policy.actions.shape)}"
        )
    problem = TwoArms(memory, gap=number("gap", gap, 0, 1), reset=0.0)
    p = problem.steady_state(policy.actions, policy.start, solver="gth")
    seen = p[..., memory.blanks :].unflatten(-1, (memory.states, 4)).sum(-1)
    ratios = seen[..., 0, :] / seen[..., 1, :]
    ratios = torch.where(ratios.isnan(), -1.0, ratios).sort(dim=-1, descending=True).values
    return torch.where(ratios < 0, torch.nan, ratios)
