"""A game that is played: the gymnasium side of a decision problem."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, final

import gymnasium
import numpy as np

from regimes._check import shown

if TYPE_CHECKING:
    from torch import Tensor

    from regimes.decide._memories import Memento, Ram
    from regimes.decide._pomdp import TabularPOMDP
    from regimes.decide._two_arms import TwoArms

Info = dict[str, Any]


class World(Protocol):
    """What happens, apart from when it ends. A state may be anything."""

    @property
    def reset(self) -> float:
        """The probability that a step is the last."""
        ...

    def begin(self, rng: np.random.Generator) -> tuple[Any, int, Info]:
        """A first state, what is seen of it, and what is not."""
        ...

    def act(
        self, rng: np.random.Generator, state: Any, action: int
    ) -> tuple[Any, int, float, Info]:
        """The next state, what is seen of it, the reward, and what is not seen."""
        ...

    def label(self, observation: int) -> str:
        """An observation in letters."""
        ...


@final
class Game(gymnasium.Env[Any, Any]):
    """A world as gymnasium plays it; `render` says the last observation in letters."""

    def __init__(self, world: World, observations: int, actions: int) -> None:
        self._world, self._over = world, True
        self._state, self._seen = None, 0
        self.observation_space = gymnasium.spaces.Discrete(observations)
        self.action_space = gymnasium.spaces.Discrete(actions)
        # words have no pace; gymnasium asks for one all the same
        self.metadata, self.render_mode = {"render_modes": ["ansi"], "render_fps": 1}, "ansi"

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[int, Info]:
        """Start anew, from the seed if one is given; there are no options."""
        super().reset(seed=seed)
        self._state, self._seen, info = self._world.begin(self.np_random)
        self._over = False
        return self._seen, info

    def step(self, action: int) -> tuple[int, float, bool, bool, Info]:
        """Act once: observation, reward, whether that was the last step, False, what is hidden."""
        if self._over:
            raise ValueError("no game has begun, or it has ended; call reset first")
        if not self.action_space.contains(action):
            raise ValueError(f"action must be in {self.action_space}, got {shown(action)}")
        rng = self.np_random
        self._state, seen, reward, info = self._world.act(rng, self._state, int(action))
        ended = bool(rng.random() < self._world.reset)
        self._seen, self._over = seen, ended
        return seen, reward, ended, False, info

    def render(self) -> str:
        """The last observation in letters."""
        return self._world.label(self._seen)


@final
@dataclass(frozen=True)
class ArmsWorld:
    """Two arms and a memory; a state is (hypothesis, observation)."""

    memory: Ram | Memento
    following: np.ndarray
    won: np.ndarray  # probabilities, [hypothesis, arm]
    start: np.ndarray  # of the blank observations, summed up
    reset: float

    def begin(self, rng: np.random.Generator) -> tuple[tuple[int, int], int, Info]:
        """A hypothesis by a fair coin, a blank memory by the start."""
        hypothesis, seen = int(rng.integers(2)), _draw(rng, self.start)
        return (hypothesis, seen), seen, {"hypothesis": hypothesis}

    def act(
        self, rng: np.random.Generator, state: tuple[int, int], action: int
    ) -> tuple[tuple[int, int], int, float, Info]:
        """A pull, won or lost."""
        hypothesis, seen = state
        play = int(self.following[seen, action])
        arm = play % 2
        lost = int(rng.random() >= self.won[hypothesis, arm])
        seen = self.memory.blanks + 2 * play + lost
        info = {"hypothesis": hypothesis, "worse": arm != hypothesis}
        return (hypothesis, seen), seen, 1.0 - 2.0 * lost, info

    def label(self, observation: int) -> str:
        """As the memory writes it."""
        return self.memory.label(observation)


def arms_world(problem: TwoArms, start: Tensor | None) -> ArmsWorld:
    """The world of a two-armed problem."""
    won, first, reset = problem.numbers(start)
    following = problem.memory.following.numpy()
    return ArmsWorld(problem.memory, following, won.numpy(), _summed(first), reset)


@final
@dataclass(frozen=True)
class TabularWorld:
    """A problem as arrays; the state is its number."""

    start: np.ndarray
    transition: np.ndarray  # summed up along the next state, [s', s, a]
    observation: np.ndarray  # summed up along the observation, [o, s]
    rewards: np.ndarray
    reset: float

    def begin(self, rng: np.random.Generator) -> tuple[int, int, Info]:
        """A state by the start, and a look at it."""
        state = _draw(rng, self.start)
        return state, _draw(rng, self.observation[:, state]), {"state": state}

    def act(
        self, rng: np.random.Generator, state: int, action: int
    ) -> tuple[int, int, float, Info]:
        """The reward of the state that is left; the next one, and a look at it."""
        after = _draw(rng, self.transition[:, state, action])
        seen = _draw(rng, self.observation[:, after])
        return after, seen, float(self.rewards[state]), {"state": after}

    def label(self, observation: int) -> str:
        """Its number."""
        return str(observation)


def tabular_world(problem: TabularPOMDP, start: Tensor | None) -> TabularWorld:
    """The world of a tabular problem."""
    first, T, seen = problem.first(start), problem.transition, problem.observation
    rewards = problem.rewards.cpu().double().numpy()
    return TabularWorld(_summed(first), _summed(T), _summed(seen), rewards, problem.reset)


def _summed(x: Tensor) -> np.ndarray:
    """Probabilities summed up along the first axis, the last sum exactly one."""
    sums = x.detach().cpu().double().cumsum(0)
    return (sums / sums[-1]).numpy()


def _draw(rng: np.random.Generator, summed: np.ndarray) -> int:
    """A number drawn with these probabilities, summed up."""
    return int(np.searchsorted(summed, rng.random(), side="right"))
