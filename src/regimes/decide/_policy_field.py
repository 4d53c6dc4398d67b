"""What the flow of policies asks of a problem: rewards and their slopes along all logits.

A member's logits lie in one row: first those of its policy, observation after observation with the
actions side by side, then those of its start if it is trained. One call then steps everything, and
the softmax of an observation reads neighbours.
"""

from __future__ import annotations

from typing import Protocol, final

import torch
from torch import Tensor


class PolicyField(Protocol):
    """The rewards of m members and how they change with their logits."""

    @property
    def rounding(self) -> Tensor:
        """How far rounding may move a reward, (m,)."""
        ...

    def slopes(self, logits: Tensor, out: Tensor) -> Tensor:
        """Rewards E_p[R], (m,), of logits (m, P); their gradients are written to `out`, (m, P)."""
        ...

    def select(self, kept: Tensor) -> PolicyField:
        """The field of some of the members."""
        ...


@final
class Rows:
    """Where policy and start lie in a row of logits.

    Args:
        observations: O.
        actions: A.
        starts: logits of the start, 0 where it is not trained.
    """

    def __init__(self, observations: int, actions: int, starts: int) -> None:
        self.observations, self.actions, self.starts = observations, actions, starts
        self.policy_size = observations * actions
        self.size = self.policy_size + starts

    def policy(self, rows: Tensor) -> Tensor:
        """The part of the policy as a view (m, O, A)."""
        return rows[:, : self.policy_size].view(len(rows), self.observations, self.actions)

    def start(self, rows: Tensor) -> Tensor:
        """The part of the start as a view (m, starts)."""
        return rows[:, self.policy_size :]

    def packed(self, policy: Tensor, start: Tensor | None) -> Tensor:
        """Rows (m, P) of tensors (m, A, O) and (m, starts)."""
        rows = policy.mT.flatten(1)
        return rows.contiguous() if start is None else torch.cat([rows, start], 1)

    def unpacked(self, rows: Tensor) -> tuple[Tensor, Tensor | None]:
        """The inverse of `packed`."""
        return self.policy(rows).mT.contiguous(), self.start(rows) if self.starts else None


def softmax_rows(logits: Tensor, out: Tensor) -> Tensor:
    """The softmax over the last axis, at a third of the time of `torch.softmax` for short rows."""
    torch.sub(logits, logits.amax(-1, keepdim=True), out=out).exp_()
    return out.mul_(out.sum(-1, keepdim=True).reciprocal_())


def softmax_slope(probability: Tensor, slope: Tensor) -> Tensor:
    """The slope along logits (m, n) of the slope along their softmax."""
    return probability * (slope - (probability * slope).sum(-1, keepdim=True))


def rounding_of(reset: Tensor) -> Tensor:
    """How far rounding may move the reward of a chain with these resets, (m,)."""
    return torch.finfo(reset.dtype).eps / reset
