"""The chain of plays of a player with memory: the small linear system behind a steady state.

Nature alone says whether a pull wins, so the two observations after a play x share its mass as
`k` to `1 - k`, and the mass of plays is all there is to solve for,

    x' = (1-r) sum_o policy[x' follows o] p[o],    p[blanks + 2x + y] = k(y | arm of x) x,

which halves the states, and more where others fall away: blank memories hold the mass of a reset,
and Memento's words shorter than m follow from one another, length by length. What is left is the
chain of plays that lead to themselves: 2M of RAM's 5M observations, 4^m/2 of Memento's words.
Hypotheses never mix; they are an axis, before the plays.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, final

import torch

from regimes.decide._memories import Memento, Ram

if TYPE_CHECKING:
    from torch import Tensor

REWARDS = (1.0, -1.0)


@final
@dataclass(frozen=True, eq=False)
class Chances:
    """What nature does, as tensors that many steps share."""

    odds: Tensor  # probabilities of winning and losing, (..., h, arm, reward)
    kept: Tensor  # the same times 1-r: those that the game survives
    lost: Tensor  # minus `kept`
    paid: Tensor  # mean reward of a pull, times 1-r, (..., h, arm)
    rate: Tensor  # r, (..., 1, 1)

    @staticmethod
    def of(plus: Tensor, reset: Tensor) -> Chances:
        """From the probabilities of winning (..., h, arm) and the resets (...)."""
        odds, rate = torch.stack([plus, 1 - plus], -1), reset[..., None, None]
        kept = (1 - rate[..., None]) * odds
        return Chances(odds, kept, -kept, kept[..., 0] - kept[..., 1], rate)


class Chain(Protocol):
    """The chain of plays of a memory. Axes: members (...), hypothesis h, then what is named.

    `odds` (..., h, arm, reward) are the probabilities of both outcomes of a pull, times 1-r where
    what survives the resets is wanted.
    """

    delay: int  # plays from a reset to the first one in the chain
    before: int  # observations outside the chain, the first ones

    def matrix(self, policy: Tensor, odds: Tensor) -> Tensor:
        """`P[x', x]` (..., h, U, U) of the plays in the chain, for a policy (..., A, O)."""
        ...

    def enter(self, policy: Tensor, start: Tensor, odds: Tensor) -> tuple[Tensor, Tensor]:
        """Observations before the chain (..., h, before), and the first play in it (..., h, U).

        Both are probabilities if a reset was just now.
        """
        ...

    def start_slope(self, policy: Tensor, dual: Tensor) -> Tensor | None:
        """`sum_h` of what each start is worth (..., blanks), where the start is a choice."""
        ...

    def slope(self, policy: Tensor, odds: Tensor, mass: Tensor, dual: Tensor) -> Tensor:
        """`sum_h p_h[o] l_h[play after o and a]` (..., A, O).

        `mass` (..., h, O) is the steady state p, `dual` (..., h, U) the l of the chain: what a
        play is worth, with all that follows until the reset.
        """
        ...


@final
class RamChain:
    """Plays (memory, arm), each open after each, from the first play on."""

    delay = 1

    def __init__(self, memory: Ram) -> None:
        self.before = memory.states

    def matrix(self, policy: Tensor, odds: Tensor) -> Tensor:
        """A policy's columns after each play, weighted by how it may end."""
        after = policy[..., None, :, self.before :].unflatten(-1, (-1, 2, 2))
        won, lost = odds[..., None, None, :, :].unbind(-1)
        return torch.addcmul(after[..., 0] * won, after[..., 1], lost).flatten(-2)

    def enter(self, policy: Tensor, start: Tensor, odds: Tensor) -> tuple[Tensor, Tensor]:
        """The first play, chosen alike under both hypotheses."""
        first = policy[..., : self.before] @ start[..., None]
        return start[..., None, :], first.mT

    def start_slope(self, policy: Tensor, dual: Tensor) -> Tensor | None:
        """The worth of the first play that each blank memory chooses."""
        return (dual.sum(-2, keepdim=True) @ policy[..., : self.before])[..., 0, :]

    def slope(self, policy: Tensor, odds: Tensor, mass: Tensor, dual: Tensor) -> Tensor:
        """An action leads to the play of its number, whatever was seen."""
        return dual.mT @ mass


@final
class MementoChain:
    """Plays (last m-1 pairs, arm); each leads to four, and is entered with the m-th play."""

    def __init__(self, memory: Memento, device: torch.device) -> None:
        self.delay, self._first = memory.depth, [memory.first(n) for n in range(memory.depth + 1)]
        self.before = self._first[-1]
        self._kept = 4 ** (memory.depth - 1)  # words without the oldest pair
        size, words = 2 * self._kept, torch.arange(4**memory.depth)
        rows = 2 * (words % self._kept) + torch.arange(2)[:, None]
        self._size, self._place = size, (rows * size + words // 2).flatten().to(device)

    def matrix(self, policy: Tensor, odds: Tensor) -> Tensor:
        """Four entries a column: the outcome of the play, then the next arm."""
        after = policy[..., None, :, self.before :].unflatten(-1, (-1, 2, 2))
        entries = (after * odds[..., None, None, :, :]).flatten(-4)
        P = entries.new_zeros(*entries.shape[:-1], self._size**2)
        return P.index_add_(-1, self._place, entries).unflatten(-1, (self._size, self._size))

    def enter(self, policy: Tensor, start: Tensor, odds: Tensor) -> tuple[Tensor, Tensor]:
        """Shorter words, length by length."""
        words = [odds.new_ones(*odds.shape[:-2], 1)]
        for length in range(self.delay - 1):
            plays = words[-1][..., None] * self._arms(policy, length)
            words.append((plays[..., None] * odds[..., None, :, :]).flatten(-3))
        first = words[-1][..., None] * self._arms(policy, self.delay - 1)
        shape = first.shape[:-2]
        return torch.cat([word.expand(*shape, -1) for word in words], -1), first.flatten(-2)

    def start_slope(self, policy: Tensor, dual: Tensor) -> Tensor | None:
        """None: the start is the empty word."""
        return None

    def slope(self, policy: Tensor, odds: Tensor, mass: Tensor, dual: Tensor) -> Tensor:
        """What the shorter words' plays are worth, backwards; then every word's two plays."""
        plays = dual.unflatten(-1, (-1, 2))
        worth = [plays]
        for length in reversed(range(self.delay - 1)):
            words = (worth[0] * self._arms(policy, length + 1)).sum(-1)
            ends = words.unflatten(-1, (-1, 2, 2)) + words.new_tensor(REWARDS)
            worth.insert(0, (ends * odds[..., None, :, :]).sum(-1))
        early = mass[..., : self.before, None] * torch.cat(worth, -2)
        full = mass[..., self.before :].unflatten(-1, (4, -1))[..., None] * plays[..., None, :, :]
        return torch.cat([early.sum(-3), full.sum(-4).flatten(-3, -2)], -2).mT

    def _arms(self, policy: Tensor, length: int) -> Tensor:
        """The policy at the words of a length, (..., 1, words, arm)."""
        return policy[..., None, :, self._first[length] : self._first[length + 1]].mT


@functools.lru_cache(maxsize=32)
def chain_of(memory: Ram | Memento, device: torch.device) -> Chain:
    """The chain of a memory, with its tables on a device."""
    return RamChain(memory) if isinstance(memory, Ram) else MementoChain(memory, device)


def observed(early: Tensor, plays: Tensor, odds: Tensor) -> Tensor:
    """Mass of all observations (..., h, O), from those before the chain and the chain's plays."""
    ends = (plays.unflatten(-1, (-1, 2))[..., None] * odds[..., None, :, :]).flatten(-3)
    return torch.cat([early.broadcast_to(*ends.shape[:-1], early.shape[-1]), ends], -1)


def adjoint(
    chain: Chain, policy: Tensor, start: Tensor, chances: Chances
) -> tuple[Tensor, Tensor, Tensor | None]:
    """Steady state (..., h, O), and the slopes of the reward by policy and start.

    One factorisation of `A = 1 - (1-r) P` serves the mass x of the plays, `A x = (1-r) r first`,
    and their worth l, `A^T l = (1-r) (their mean rewards)`, resets before a pull included.
    """
    rate = chances.rate
    early, first = chain.enter(policy, start, chances.kept)
    A = chain.matrix(policy, chances.lost)
    A.diagonal(dim1=-2, dim2=-1).add_(1)
    lu, pivots, _ = torch.linalg.lu_factor_ex(A)
    source = (1 - rate) * rate * first
    paid = chances.paid.repeat(*[1] * (chances.paid.ndim - 1), A.shape[-1] // 2)
    plays = torch.linalg.lu_solve(lu, pivots, source[..., None])[..., 0]
    dual = torch.linalg.lu_solve(lu, pivots, paid[..., None], adjoint=True)[..., 0]
    mass = observed(rate * early, plays, chances.odds)
    by_start = chain.start_slope(policy, dual)
    return (
        mass,
        chain.slope(policy, chances.kept, mass, dual) / 2,
        None if by_start is None else rate[..., 0] / 2 * by_start,
    )
