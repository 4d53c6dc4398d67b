"""Rewards and slopes of policies with a Memento, from systems of 2 4^(m-1) unknowns a hypothesis.

A play z = (the newest m-1 pairs u, arm e) decides everything but the reward and what is forgotten.
Histories that differ in their oldest pair lead to the same plays, so that the chain of plays has
half as many states as there are whole histories, and two ways on for each reward. Shorter histories
are passed once after a reset: their masses and values follow without a system. Of long memories
most plays are left out of it, too (`Shortcuts`).
"""

from __future__ import annotations

from typing import final

import torch
from torch import Tensor

from regimes.decide._policy_field import Rows, rounding_of
from regimes.decide._shortcuts import Shortcuts


@final
class MementoField:
    """The field of Memento policies, each member with its own arms and reset.

    Args:
        depth: remembered pairs m.
        plus: P(+) of both arms under both hypotheses, (m, hypothesis, arm).
        reset: r, (m,).

    Histories of length l begin at observation `(4^l - 1)/3`, each a number in base 4 whose digits
    `2 arm + reward` stand newest last.
    """

    def __init__(self, depth: int, plus: Tensor, reset: Tensor) -> None:
        self._depth, self._chances, self._reset = depth, plus, reset
        self._begins = [(4**length - 1) // 3 for length in range(depth + 2)]
        self.rows = Rows(self._begins[-1], 2, 0)
        members = len(plus)
        self._mean = (2 * plus - 1)[:, :, None]
        self._keep = (1 - reset)[:, None, None]
        self._chance = torch.stack([plus, 1 - plus], -1)[:, :, None]  # (m, hypothesis, 1, arm, y)
        self._kept_chance = self._keep[..., None, None] * self._chance
        shape = (members, 2, self.rows.observations)
        self._masses, self._contrasts = plus.new_empty(shape), plus.new_empty(shape)
        self._masses[..., 0] = reset[:, None]
        # below, the dense system is so small that nothing is won
        self._shortcuts = Shortcuts.of(depth, plus.device) if depth > 3 else None
        if self._shortcuts is None:
            plays = 2 * 4 ** (depth - 1)
            self._system = torch.eye(plays).to(plus).repeat(members, 2, 1, 1)
            self._entries = self._of_system()
            self._identity = self._entries.clone()

    @property
    def rounding(self) -> Tensor:
        """A reset r makes the systems as ill-conditioned as 1/r."""
        return rounding_of(self._reset)

    def slopes(self, logits: Tensor, out: Tensor) -> Tensor:
        """As in `PolicyField`."""
        pairs = self.rows.policy(logits)
        ahead = pairs[..., 0] - pairs[..., 1]
        policy = torch.stack([ahead, -ahead], -1).sigmoid_()  # both precise where they are small
        reward, inflow = self._forward(policy)
        played, values = self._solve(policy[:, self._begins[-2] :], inflow)
        whole = played[..., None] * self._chance
        self._at(self._masses, self._depth).copy_(whole.flatten(2))
        self._backward(policy, values)
        # two actions: pi_0 pi_1 times the difference of what follows them, times the mass
        contrast = (self._masses * self._contrasts).sum(1)
        along = (0.5 * self._keep[..., 0]) * policy.prod(-1) * contrast
        target = self.rows.policy(out)
        target[..., 0] = along
        torch.neg(along, out=target[..., 1])
        return 0.5 * (reward + (played * self._mean).sum((1, 2, 3)))

    def _at(self, numbers: Tensor, length: int) -> Tensor:
        """The part (m, hypothesis, 4^l) of the histories of one length."""
        return numbers[..., self._begins[length] : self._begins[length + 1]]

    def _forward(self, policy: Tensor) -> tuple[Tensor, Tensor]:
        """Masses of the shorter histories; their plays' rewards, and what enters the chain."""
        reward = policy.new_zeros(len(policy))
        for length in range(self._depth):
            here = self._at(self._masses, length)[..., None]
            play = policy[:, None, self._begins[length] : self._begins[length + 1]]
            flow = self._keep[..., None] * here * play  # (m, hypothesis, 4^l, arm)
            if length < self._depth - 1:
                onwards = flow[..., None] * self._chance
                self._at(self._masses, length + 1).copy_(onwards.flatten(2))
                reward += (flow * self._mean).sum((1, 2, 3))
        return reward, flow

    def _solve(self, whole: Tensor, inflow: Tensor) -> tuple[Tensor, Tensor]:
        """Masses and values of all plays, (m, hypothesis, 4^(m-1), arm) each."""
        if self._depth == 1:  # both rewards lead to the same plays
            ways = whole.unflatten(1, (2, 2))[:, None] * self._kept_chance[:, :, 0, ..., None]
            torch.sub(self._identity, ways.sum(3), out=self._entries)
        else:
            ways = whole.view(len(whole), 1, 4, -1, 2, 2, 2)
            ways = ways * self._kept_chance[:, :, None, ..., None]
            if self._shortcuts is not None:
                mean = self._mean.expand(inflow.shape)
                steps, source, worth = (each.flatten(2) for each in (ways, inflow, mean))
                played, values = self._shortcuts.solve(steps, source, worth)
                return played.view(inflow.shape), values.view(inflow.shape)
            torch.sub(self._identity, ways, out=self._entries)
        factors, pivots, _ = torch.linalg.lu_factor_ex(self._system.mT)
        played = torch.linalg.lu_solve(factors, pivots, inflow.flatten(2)[..., None])
        mean = self._mean.expand(inflow.shape).flatten(2)[..., None]
        values = torch.linalg.lu_solve(factors, pivots, mean, adjoint=True)
        return played.view(inflow.shape), values.view(inflow.shape)

    def _of_system(self) -> Tensor:
        """The entries that a policy fills, (m, hypothesis, oldest, w, arm, y, next arm)."""
        if self._depth == 1:
            return self._system
        # from play (oldest, w, e) to play (w, e, y, e'): both hold w and e
        middle = 4 ** (self._depth - 2)
        entries = self._system.view(-1, 2, 4, middle, 2, middle, 2, 2, 2)
        entries = entries.diagonal(dim1=3, dim2=5).diagonal(dim1=3, dim2=4)
        return entries.permute(0, 1, 2, 5, 6, 3, 4)

    def _backward(self, policy: Tensor, values: Tensor) -> None:
        """By how much the value of the first action exceeds the second's, after each history."""
        newest = values[..., 0] - values[..., 1]
        self._at(self._contrasts, self._depth).copy_(newest.repeat(1, 1, 4))
        for length in range(self._depth - 1, -1, -1):
            self._at(self._contrasts, length).copy_(values[..., 0] - values[..., 1])
            if length:
                play = policy[:, None, self._begins[length] : self._begins[length + 1]]
                after = (play * values).sum(-1).unflatten(2, (-1, 2, 2))  # (m, h, shorter, arm, y)
                values = self._mean + (after * self._kept_chance).sum(-1)

    def select(self, kept: Tensor) -> MementoField:
        """As in `PolicyField`."""
        return MementoField(self._depth, self._chances[kept], self._reset[kept])
