"""The chain of plays of random access memory: each play may follow each."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

import torch

from regimes.decide._chain import dense

if TYPE_CHECKING:
    from torch import Tensor

    from regimes.decide._chain import Chances
    from regimes.decide._memories import Ram


@final
class RamChain:
    """Plays (memory, arm), each open after each, from the first play on."""

    delay = 1

    def __init__(self, memory: Ram) -> None:
        self.before = memory.states

    def matrix(self, policy: Tensor, odds: Tensor) -> Tensor:
        """A policy's columns after each play, weighted by how it may end."""
        after = policy[..., None, :, self.before :].unflatten(-1, (-1, 2))
        # twice as fast from neighbours in memory
        plus, minus = (each.contiguous() for each in after.unbind(-1))
        won, lost = (each.tile(self.before)[..., None, :] for each in odds.unbind(-1))
        return torch.addcmul(plus * won, minus, lost)

    def balance(
        self, policy: Tensor, chances: Chances, source: Tensor, worth: Tensor
    ) -> tuple[Tensor, Tensor]:
        """All plays at once."""
        return dense(self.matrix(policy, chances.lost), source, worth)

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
