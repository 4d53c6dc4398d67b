"""Memories of a player of two arms: what it may remember, and which plays follow.

A play is an arm with what the player remembers as it is pulled. Observations are numbered so that
both memories look alike: first the blank ones, before any play, then two for each play x, won
(`blanks + 2x`) and lost (`blanks + 2x + 1`). The arm of play x is `x % 2`.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import torch

from regimes._check import positive_int, shown
from regimes.decide._probabilities import tensor

if TYPE_CHECKING:
    from torch import Tensor

ARMS, SIGNS = "AB", "+-"
_LONGEST = 10  # 1.4 million observations


@final
@dataclass(frozen=True)
class Ram:
    """Random access memory: M states, to be rewritten freely [Geiger 2022, Def. 2.5].

    An observation is a memory alone, before the first play, or a memory with the last arm and its
    reward. An action is the next memory with an arm. In labels memories count from 1, as in the
    literature: "3" is blank memory 3, "3B+" memory 3 after arm B won, "3B" the action that writes
    3 and pulls B. Numbers count from 0; arms are 0 = A and 1 = B, rewards 0 = plus and 1 = minus.

    Attributes:
        states: M, how many memories there are.

    >>> memory = Ram(4)
    >>> memory.observations, memory.actions
    (20, 8)
    >>> memory.observation(2), memory.observation(2, arm=1, reward=0), memory.label(14)
    (2, 14, '3B+')
    >>> memory.action(2, arm=1), memory.action_label(5)
    (5, '3B')
    """

    states: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "states", positive_int("states", self.states))

    @property
    def blanks(self) -> int:
        """How many observations there are before the first play: M."""
        return self.states

    @property
    def plays(self) -> int:
        """How many plays there are, arms with memories: 2M."""
        return 2 * self.states

    @property
    def observations(self) -> int:
        """How many observations there are: 5M."""
        return 5 * self.states

    @property
    def actions(self) -> int:
        """How many actions there are: 2M."""
        return 2 * self.states

    def observation(self, memory: int, arm: int | None = None, reward: int | None = None) -> int:
        """Number of an observation: of a blank one without arm and reward."""
        memory = within("memory", memory, self.states)
        if arm is None and reward is None:
            return memory
        e, y = within("arm", arm, 2), within("reward", reward, 2)
        return self.states + (memory * 2 + e) * 2 + y

    def action(self, memory: int, arm: int) -> int:
        """Number of the action that writes `memory` and pulls `arm`."""
        return within("memory", memory, self.states) * 2 + within("arm", arm, 2)

    def label(self, observation: int) -> str:
        """An observation in letters: "3" or "3B+"."""
        o = within("observation", observation, self.observations) - self.states
        return str(o + self.states + 1) if o < 0 else self.action_label(o // 2) + SIGNS[o % 2]

    def action_label(self, action: int) -> str:
        """An action in letters: "3B" writes memory 3 and pulls B."""
        a = within("action", action, self.actions)
        return f"{a // 2 + 1}{ARMS[a % 2]}"

    @functools.cached_property
    def following(self) -> Tensor:
        """The play (O, A) that each action leads to: the action's own number."""
        return torch.arange(self.actions).expand(self.observations, -1)


@final
@dataclass(frozen=True)
class Memento:
    """Memory of the last m plays and their rewards [Geiger 2022, Def. 2.6].

    The example printed there breaks its own rule (docs/themes/pomdp.md, "Memories").

    An observation is a word such as "AABB++-+": arms and then rewards, the newest on the right.
    A play drops the oldest pair and appends its own. Shorter words, the empty one first, are seen
    until m arms have been pulled. Words are numbered by length, then as numbers of base four
    with a digit `2 arm + reward` for each pair, the oldest pair first; so the words after arm e
    at a short word o are `4 o + 2 e + 1` (won) and the next (lost). An action is an arm.

    Attributes:
        depth: m, how many plays are remembered.

    >>> memory = Memento(4)
    >>> memory.observations, memory.actions
    (341, 2)
    >>> o = memory.observation("AABB++-+")
    >>> memory.label(o), [memory.label(next) for next in memory.after(o, arm=0)]
    ('AABB++-+', ['ABBA+-++', 'ABBA+-+-'])
    """

    depth: int

    def __post_init__(self) -> None:
        depth = positive_int("depth", self.depth)
        if depth > _LONGEST:
            raise ValueError(
                f"depth must be <= {_LONGEST}, got {depth}: 4^{depth} words are too many"
            )
        object.__setattr__(self, "depth", depth)

    @property
    def blanks(self) -> int:
        """How many observations there are before the first play: the empty word."""
        return 1

    @property
    def plays(self) -> int:
        """How many plays there are: an arm after up to m-1 remembered pairs."""
        return (self.observations - 1) // 2

    @property
    def observations(self) -> int:
        """How many words there are: `(4^(m+1) - 1)/3`."""
        return self.first(self.depth + 1)

    @property
    def actions(self) -> int:
        """How many actions there are: two arms."""
        return 2

    @staticmethod
    def first(length: int) -> int:
        """Number of the first word of a length, which is how many shorter ones there are."""
        return int(4**length - 1) // 3

    def observation(self, word: str) -> int:
        """Number of a word, as "AABB++-+" or "" for the empty one."""
        half = len(word) // 2 if isinstance(word, str) else -1
        fits = half >= 0 and len(word) == 2 * half and half <= self.depth
        if not fits or set(word[:half]) - set(ARMS) or set(word[half:]) - set(SIGNS):
            raise ValueError(
                f"word must be up to {self.depth} arms A or B and as many rewards + or -, as in "
                f"'AB+-', got {shown(word)}"
            )
        number = 0
        for arm, sign in zip(word[:half], word[half:], strict=True):
            number = 4 * number + 2 * ARMS.index(arm) + SIGNS.index(sign)
        return self.first(half) + number

    def action(self, arm: int) -> int:
        """Number of an action: the arm itself."""
        return within("arm", arm, 2)

    def label(self, observation: int) -> str:
        """A word in letters, the newest on the right: "AABB++-+"."""
        o = within("observation", observation, self.observations)
        length = next(n for n in range(self.depth + 1) if o < self.first(n + 1))
        digits = [(o - self.first(length)) // 4**n % 4 for n in reversed(range(length))]
        return "".join(ARMS[d // 2] for d in digits) + "".join(SIGNS[d % 2] for d in digits)

    def action_label(self, action: int) -> str:
        """An action in letters: the arm."""
        return ARMS[within("action", action, 2)]

    def after(self, observation: int, arm: int) -> tuple[int, int]:
        """The words that an arm leads to: when it wins, when it loses."""
        o = within("observation", observation, self.observations)
        won = 1 + 2 * int(self.following[o, within("arm", arm, 2)])
        return won, won + 1

    def histories(self, length: int) -> tuple[Tensor, Tensor]:
        """Arms and rewards, (4^length, length) each, of all words of a length in their order.

        Oldest first; arms are 0 = A and 1 = B, rewards 0 = plus and 1 = minus.

        >>> arms, rewards = Memento(3).histories(1)
        >>> arms[:, 0], rewards[:, 0]
        (tensor([0, 0, 1, 1]), tensor([0, 1, 0, 1]))
        """
        length = within("length", length, self.depth + 1)
        powers = 4 ** torch.arange(length - 1, -1, -1)
        digits = torch.arange(4**length)[:, None] // powers % 4
        return digits // 2, digits % 2

    @functools.cached_property
    def following(self) -> Tensor:
        """The play (O, A) that each action leads to: `2 o + a` once the oldest pair is dropped."""
        o = torch.arange(self.observations)
        full, short = self.first(self.depth), self.first(self.depth - 1)
        kept = torch.where(o < full, o, short + (o - full) % 4 ** (self.depth - 1))
        return 2 * kept[:, None] + torch.arange(2)

    def embed(self, policy: Tensor, *, whole: bool = False) -> tuple[Ram, Tensor, Tensor]:
        """The player as one with random access memory [Geiger 2022, sec. 5], differentiable.

        Its memory holds all pairs but the newest, which is the last play that `Ram` shows anyway.

        Args:
            policy: (..., 2, O).
            whole: also a memory for each shorter word, `(4^m - 1)/3` in all, so that the games
                are the same from the first play on. Without, there are `4^(m-1)` memories, for
                words of m-1 pairs, and a blank memory does what the player does at its word:
                the same game once m arms are pulled, hence the same without resets.

        Returns:
            The memory, its policy (..., 2M, 5M), and the start (M,): the empty word, or else
            uniform.

        >>> memory = Memento(2)
        >>> policy = torch.full((2, 21), 0.5, dtype=torch.float64)
        >>> ram, embedded, start = memory.embed(policy)
        >>> ram, embedded.shape
        (Ram(states=4), torch.Size([8, 20]))
        """
        x = tensor("policy", policy)
        if tuple(x.shape[-2:]) != (self.actions, self.observations):
            raise ValueError(
                f"policy must have shape (..., 2, {self.observations}), got {tuple(x.shape)}"
            )
        least = 0 if whole else self.first(self.depth - 1)
        words = torch.arange(least, self.first(self.depth))  # what the memories hold
        ram = Ram(len(words))
        played = 1 + 2 * self.following[words, :, None] + torch.arange(2)  # memory, arm, reward
        seen = torch.cat([words, played.flatten()])
        written = self.following[seen] // 2 - least  # the word without its oldest pair, if full
        rows = (2 * written + torch.arange(2)).mT.to(x.device)
        out = x.new_zeros(*x.shape[:-2], ram.actions, ram.observations)
        embedded = out.scatter(-2, rows.expand(*x.shape[:-2], -1, -1), x[..., seen.to(x.device)])
        start = x.new_full((ram.states,), 1 / ram.states)
        return ram, embedded, torch.eye(1, ram.states).to(x)[0] if whole else start


def within(name: str, value: object, count: int) -> int:
    """`value` as an integer of `0..count-1`, or a ValueError that names it."""
    number = positive_int(name, value, least=0)
    if number >= count:
        raise ValueError(f"{name} must be at most {count - 1}, got {number}")
    return number
