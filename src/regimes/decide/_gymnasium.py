"""Decision problems as environments of gymnasium, for players that learn by playing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from regimes._check import instance
from regimes.decide._pomdp import TabularPOMDP
from regimes.decide._two_arms import TwoArms

if TYPE_CHECKING:
    import gymnasium
    from torch import Tensor


def environment(problem: TwoArms | TabularPOMDP, start: Tensor | None = None) -> gymnasium.Env:
    """The problem as a `gymnasium.Env` with numbered observations and actions; extra `rl`.

    A step ends the episode ("terminated") with probability r, as a reset does, so that episodes
    one after the other sample the steady state that the exact methods compute:

    * `TwoArms` pays for a pull at once. The mean reward of a step is `problem.reward(policy)`
      over `1-r`, that of an episode `problem.value(policy)` over `1-r`: the blank memory, which
      the exact steady state counts as a step, is only shown by `reset`. `info` tells what the
      player must not see: the hypothesis, and whether the arm was the worse one; the mean of the
      latter is `problem.q_played(policy)`.
    * `TabularPOMDP` pays the reward of the state that a step leaves, so that the mean reward of
      an episode is `problem.value(policy)`; `info` tells the state.

    Args:
        problem: with numbers, not tensors, as gap and reset.
        start: distribution of the blank memories of `Ram`, or of the first state.

    >>> from regimes.decide import Ram
    >>> env = environment(TwoArms(Ram(3), gap=0.2, reset=0.01))
    >>> env.observation_space, env.action_space
    (Discrete(15), Discrete(6))
    >>> observation, info = env.reset(seed=0)
    >>> observation, reward, terminated, truncated, info = env.step(4)  # write 3, pull A
    >>> env.render(), reward
    ('3A+', 1.0)
    """
    instance("problem", problem, TwoArms | TabularPOMDP, "TwoArms or a TabularPOMDP")
    try:
        from regimes.decide._game import Game, arms_world, tabular_world
    except ModuleNotFoundError as error:
        if error.name != "gymnasium":
            raise
        raise ModuleNotFoundError(
            "environments need gymnasium; install it with: pip install 'regimes[rl]'",
            name="gymnasium",
        ) from error
    if isinstance(problem, TwoArms):
        return Game(arms_world(problem, start), problem.observations, problem.actions)
    return Game(tabular_world(problem, start), problem.observations, problem.actions)
