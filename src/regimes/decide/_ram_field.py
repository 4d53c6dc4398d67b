"""Rewards and slopes of policies with a RAM, from systems of 2M unknowns a hypothesis.

The play z = (next memory, arm) decides everything but the reward, so that the chain of plays is
enough: with x[z] the mass on z and k[z] = P(+ | z),

    x[z'] = (1-r) sum_z (k[z] pi[z', z+] + (1-k[z]) pi[z', z-]) x[z]
            + (1-r) r sum_n pi[z', blank n] p0[n]

and the value of a play obeys the transposed system with the mean reward 2k - 1 on the right. Both
share one factorisation. It replaces the chain of 5M states; their masses and values follow by a
product each. [Geiger 2022, eq. 3]; docs/themes/pomdp.md.
"""

from __future__ import annotations

from typing import final

import torch
from torch import Tensor

from regimes.decide._policy_field import Rows, rounding_of, softmax_rows, softmax_slope


@final
class RamField:
    """The field of RAM policies, each member with its own arms and reset.

    Args:
        states: memory states M.
        plus: P(+) of both arms under both hypotheses, (m, hypothesis, arm).
        reset: r, (m,).
        trained: whether the distribution over blank memories is trained; else it is uniform.

    The observation of z with its reward is `M + 2z + y`, that of blank memory n is n; the action of
    next memory n and arm e is `z = 2n + e`.
    """

    def __init__(self, states: int, plus: Tensor, reset: Tensor, *, trained: bool) -> None:
        self.rows = Rows(5 * states, 2 * states, states if trained else 0)
        self._states, self._chances, self._reset = states, plus, reset
        members, plays = len(plus), 2 * states
        plus = plus.repeat(1, 1, states)  # (m, hypothesis, z)
        keep = (1 - reset)[:, None, None]
        self._keep, self._half = keep, 0.5 * keep
        self._plus, self._mean = plus[..., None], (2 * plus - 1)[..., None]
        self._paid = -self._mean / keep[..., None]
        # of the mass on a play: (1-r)/2 times the chance of each reward, (m, z, y, hypothesis)
        self._shares = self._half[..., None] * torch.stack([plus, 1 - plus], -1).permute(0, 2, 3, 1)
        self._policy = plus.new_empty(members, self.rows.observations, plays)
        self._system = plus.new_empty(members, 2, plays, plays)
        self._weights = plus.new_empty(members, self.rows.observations, 3)
        self._values = plus.new_ones(members, 3, plays)

    @property
    def rounding(self) -> Tensor:
        """A reset r makes the systems as ill-conditioned as 1/r."""
        return rounding_of(self._reset)

    def slopes(self, logits: Tensor, out: Tensor) -> Tensor:
        """As in `PolicyField`."""
        rows, states = self.rows, self._states
        policy = softmax_rows(rows.policy(logits), self._policy)
        blank = policy[:, :states]
        seen = policy[:, states:].unflatten(1, (-1, 2))  # (m, z, y, z')
        if rows.starts:
            start = torch.softmax(rows.start(logits), -1)
        else:
            start = logits.new_full((1, states), 1 / states).expand(len(logits), -1)
        played, values = self._solve(seen, torch.bmm(start[:, None], blank))
        weights = self._weights
        weights[:, :states, :2] = (self._half[..., 0] * self._reset[:, None] * start)[..., None]
        torch.mul(
            played.permute(0, 2, 3, 1),
            self._shares,
            out=weights[:, states:, :2].unflatten(1, (-1, 2)),
        )
        means = torch.bmm(policy, values[..., 0].mT)  # of values after each observation
        weights[..., 2] = (weights[..., :2] * means).sum(-1).neg_()
        self._values[:, :2] = values[..., 0]
        # the slope along pi is weights[:2] values[:2]; its mean under pi comes off with the third
        torch.bmm(weights, self._values, out=rows.policy(out)).mul_(policy)
        if rows.starts:
            along = self._reset[:, None] * self._half[..., 0] * means[:, :states].sum(-1)
            rows.start(out).copy_(softmax_slope(start, along))
        return 0.5 * (played * self._mean).sum((1, 2, 3))

    def _solve(self, seen: Tensor, first: Tensor) -> tuple[Tensor, Tensor]:
        """Masses and values of all plays, (m, hypothesis, z, 1) each."""
        system = self._system
        torch.lerp(seen[:, None, :, 1], seen[:, None, :, 0], self._plus, out=system)
        system.diagonal(dim1=-2, dim2=-1).sub_(1 / self._keep)  # both sides over -(1-r)
        factors, pivots, _ = torch.linalg.lu_factor_ex(system.mT)
        inflow = (-self._reset[:, None, None] * first)[..., None].expand(-1, 2, -1, -1)
        played = torch.linalg.lu_solve(factors, pivots, inflow)
        return played, torch.linalg.lu_solve(factors, pivots, self._paid, adjoint=True)

    def select(self, kept: Tensor) -> RamField:
        """As in `PolicyField`."""
        plus, reset = self._chances[kept], self._reset[kept]
        return RamField(self._states, plus, reset, trained=self.rows.starts > 0)
