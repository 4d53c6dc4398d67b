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

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, final

import torch

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

    def balance(
        self, policy: Tensor, chances: Chances, source: Tensor, worth: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Mass `x = (1-r) P x + source` and worth `l = (1-r) P^T l + worth` (..., h, U)."""
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


def observed(early: Tensor, plays: Tensor, odds: Tensor) -> Tensor:
    """Mass of all observations (..., h, O), from those before the chain and the chain's plays."""
    ends = (plays.unflatten(-1, (-1, 2))[..., None] * odds[..., None, :, :]).flatten(-3)
    return torch.cat([early.broadcast_to(*ends.shape[:-1], early.shape[-1]), ends], -1)


def dense(negative: Tensor, source: Tensor, worth: Tensor) -> tuple[Tensor, Tensor]:
    """`Chain.balance` with `-(1-r) P` written out, which is used up."""
    negative.diagonal(dim1=-2, dim2=-1).add_(1)
    lu, pivots, _ = torch.linalg.lu_factor_ex(negative)
    mass = torch.linalg.lu_solve(lu, pivots, source[..., None])[..., 0]
    return mass, torch.linalg.lu_solve(lu, pivots, worth[..., None], adjoint=True)[..., 0]


def adjoint(
    chain: Chain, policy: Tensor, start: Tensor, chances: Chances
) -> tuple[Tensor, Tensor, Tensor | None]:
    """Steady state (..., h, O), and the slopes of the reward by policy and start.

    The mass x of the plays and their worth l are `x = (1-r) P x + (1-r) r first` and
    `l = (1-r) P^T l + (1-r) (mean reward)`, for a reset may come before a pull.
    """
    rate = chances.rate
    early, first = chain.enter(policy, start, chances.kept)
    source = (1 - rate) * rate * first
    paid = chances.paid.tile(source.shape[-1] // 2)
    plays, dual = chain.balance(policy, chances, source, paid)
    mass = observed(rate * early, plays, chances.odds)
    by_start = chain.start_slope(policy, dual)
    return (
        mass,
        chain.slope(policy, chances.kept, mass / 2, dual),
        None if by_start is None else rate[..., 0] / 2 * by_start,
    )
