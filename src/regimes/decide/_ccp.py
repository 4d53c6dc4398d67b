"""The column of confidence: a memory that says how sure the player is of its last arm."""

from __future__ import annotations

import torch

from regimes._check import instance
from regimes.decide._arms import Number, number
from regimes.decide._memories import Ram
from regimes.decide._policy import Policy


def ccp(memory: Ram, eps: Number) -> Policy:
    """The column-of-confidence policy of a random access memory [Geiger 2022, Definition 3.1].

    The memory is a level. After a win the player goes one level up, after a loss one down, and
    plays the same arm again; at the bottom a loss makes it change arms. The top is left with
    probability eps alone. It starts at the bottom, with either arm. A single level is top and
    bottom at once: a loss changes the arm with probability eps. `ccp_q` and `ccp_opt` say how good
    it is and which eps is best.

    Args:
        memory: `Ram(M)`, M levels.
        eps: probability to step down from the top after a loss, in [0, 1]; a tensor (...) makes as
            many policies.

    Returns:
        actions (..., 2M, 5M) and start (..., M), float64.

    >>> memory = Ram(3)
    >>> policy = ccp(memory, 0.1)
    >>> top, down = memory.observation(2, arm=1, reward=1), memory.action(1, arm=1)
    >>> float(policy.actions[down, top])
    0.1
    """
    instance("memory", memory, Ram, "Ram(states)")
    exit_ = number("eps", eps, 0, 1, closed=(True, True))
    top = memory.states - 1
    actions = exit_.new_zeros(*exit_.shape, memory.actions, memory.observations)
    for level in range(memory.states):
        # where the memory is still blank it moves to the bottom, with either arm
        for arm in (0, 1):
            actions[..., memory.action(0, arm), memory.observation(level)] = 0.5
            stay = memory.action(level, arm)
            won, lost = (memory.observation(level, arm, reward) for reward in (0, 1))
            actions[..., memory.action(min(level + 1, top), arm), won] = 1.0
            down = memory.action(level - 1, arm) if level else memory.action(0, 1 - arm)
            leave = exit_ if level == top else torch.ones_like(exit_)
            actions[..., down, lost] = leave
            actions[..., stay, lost] = 1 - leave
    start = exit_.new_zeros(*exit_.shape, memory.states)
    start[..., 0] = 1.0
    return Policy(actions, start)
