"""Rewards and slopes of policies of any problem that knows its gradient."""

from __future__ import annotations

from typing import Protocol, final

import torch
from torch import Tensor

from regimes.decide._policy_field import Rows, rounding_of, softmax_rows, softmax_slope
from regimes.decide._slope import Slope


class Problem(Protocol):
    """What can be flown in: `TabularPOMDP`, `TwoArms`, or anything like them."""

    @property
    def reset(self) -> float:
        """The probability r of starting anew, one minus the discount."""
        ...

    def gradient(self, policy: Tensor, start: Tensor | None, *, check: bool) -> Slope:
        """E_p[R] (m,) of policies (m, A, O), and its slopes along policy and start."""
        ...


@final
class GeneralField:
    """The field of policies of one problem, which solves for masses and values itself."""

    def __init__(self, problem: Problem, rows: Rows, like: Tensor) -> None:
        self.rows, self._problem = rows, problem
        rewards = getattr(problem, "rewards", like.new_ones(1))  # those of two arms are -1 and 1
        self.rounding = rewards.abs().amax() * rounding_of(like.new_full((1,), problem.reset))

    def slopes(self, logits: Tensor, out: Tensor) -> Tensor:
        """As in `PolicyField`."""
        rows = self.rows
        weights = rows.policy(logits)
        policy = softmax_rows(weights, torch.empty_like(weights))
        start = torch.softmax(rows.start(logits), -1) if rows.starts else None
        slope = self._problem.gradient(policy.mT, start, check=False)
        rows.policy(out).copy_(softmax_slope(policy, slope.policy.mT))
        if start is not None and slope.start is not None:
            rows.start(out).copy_(softmax_slope(start, slope.start))
        return slope.reward

    def select(self, kept: Tensor) -> GeneralField:
        """The problem is the same for all members."""
        return self
