"""The chain of plays of Memento: each play leads to four."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

import torch

from regimes.decide._chain import REWARDS, dense
from regimes.decide._room import room_for
from regimes.decide._shortcuts import Shortcuts

if TYPE_CHECKING:
    from torch import Tensor

    from regimes.decide._chain import Chances
    from regimes.decide._memories import Memento


@final
class MementoChain:
    """Plays (last m-1 pairs, arm); each leads to four, and is entered with the m-th play."""

    def __init__(self, memory: Memento, device: torch.device) -> None:
        self.delay, self._first = memory.depth, [memory.first(n) for n in range(memory.depth + 1)]
        self.before = self._first[-1]
        self._size = size = 2 * 4 ** (memory.depth - 1)
        step = torch.arange(4 * size)  # from play step // 4 to play step % size
        self._place = (step % size * size + step // 4).to(device)
        # below, the dense system is so small that nothing is won
        self._shortcuts = Shortcuts.of(memory.depth, device) if memory.depth > 3 else None

    def matrix(self, policy: Tensor, odds: Tensor) -> Tensor:
        """Four entries a column: the outcome of the play, then the next arm."""
        steps = self._steps(policy, odds)
        systems = steps.shape[:-1].numel()
        room_for(systems, self._size, steps, f"Memento of depth {self.delay}")
        P = steps.new_zeros(*steps.shape[:-1], self._size**2)
        return P.index_add_(-1, self._place, steps).unflatten(-1, (self._size, self._size))

    def balance(
        self, policy: Tensor, chances: Chances, source: Tensor, worth: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Through the plays that `Shortcuts` keeps, where memories are long."""
        if self._shortcuts is None:
            return dense(self.matrix(policy, chances.lost), source, worth)
        return self._shortcuts.solve(self._steps(policy, chances.kept), source, worth)

    def _steps(self, policy: Tensor, odds: Tensor) -> Tensor:
        """Weights (..., h, 4U) of the steps: outcome of the play, then the next arm."""
        after = policy[..., None, :, self.before :].mT.unflatten(-2, (-1, 2, 2))
        return (after * odds[..., None, :, :, None]).flatten(-4)

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
