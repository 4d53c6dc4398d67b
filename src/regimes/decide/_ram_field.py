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
        keep, rate = (1 - reset)[:, None, None], reset[:, None, None]
        self._plus, self._mean = plus[..., None], (2 * plus - 1)[..., None]
        # both sides of the systems are over -(1-r): what comes in, what is paid, the diagonal
        self._entry, self._paid, self._less = -rate, -self._mean / keep[..., None], 1 / keep
        # of the mass on a play: (1-r)/2 times the chance of each reward, (m, z, y, hypothesis)
        chances = torch.stack([plus, 1 - plus], -1).permute(0, 2, 3, 1)
        self._shares, self._first = 0.5 * keep[..., None] * chances, 0.5 * keep * rate
        self._uniform = plus.new_full((members, states), 1 / states)
        # a look takes less than a millisecond: what it writes and all views of it are made once
        self._policy = plus.new_empty(members, self.rows.observations, plays)
        self._blank = self._policy[:, :states]
        seen = self._policy[:, states:].view(members, 1, plays, 2, plays)
        self._won, self._lost = seen.unbind(3)
        self._system = plus.new_empty(members, 2, plays, plays)
        self._diagonal = self._system.diagonal(dim1=-2, dim2=-1)
        self._weights = plus.new_empty(members, self.rows.observations, 3)
        self._masses, self._offsets = self._weights[..., :2], self._weights[..., 2]
        self._blank_masses = self._masses[:, :states]
        self._seen_masses = self._masses[:, states:].unflatten(1, (-1, 2))
        self._values = plus.new_ones(members, 3, plays)
        self._both_values = self._values[:, :2]

    @property
    def rounding(self) -> Tensor:
        """A reset r makes the systems as ill-conditioned as 1/r."""
        return rounding_of(self._reset)

    def slopes(self, logits: Tensor, out: Tensor) -> Tensor:
        """As in `PolicyField`."""
        rows, states = self.rows, self._states
        policy = softmax_rows(rows.policy(logits), self._policy)
        start = torch.softmax(rows.start(logits), -1) if rows.starts else self._uniform
        played, values = self._solve(torch.bmm(start[:, None], self._blank))
        self._blank_masses.copy_(self._first * start[..., None])
        torch.mul(played.permute(0, 2, 3, 1), self._shares, out=self._seen_masses)
        self._both_values.copy_(values[..., 0])
        means = torch.bmm(policy, self._both_values.mT)  # of values after each observation
        torch.sum(self._masses * means, -1, out=self._offsets).neg_()
        # the slope along pi is masses times values; its mean under pi comes off with the offsets
        torch.bmm(self._weights, self._values, out=rows.policy(out)).mul_(policy)
        if rows.starts:
            along = self._first[..., 0] * means[:, :states].sum(-1)
            rows.start(out).copy_(softmax_slope(start, along))
        return 0.5 * (played * self._mean).sum((1, 2, 3))

    def _solve(self, first: Tensor) -> tuple[Tensor, Tensor]:
        """Masses and values of all plays, (m, hypothesis, z, 1) each."""
        torch.lerp(self._lost, self._won, self._plus, out=self._system)
        self._diagonal.sub_(self._less)
        factors, pivots, _ = torch.linalg.lu_factor_ex(self._system.mT)
        inflow = (self._entry * first)[..., None].expand(-1, 2, -1, -1)
        played = torch.linalg.lu_solve(factors, pivots, inflow)
        return played, torch.linalg.lu_solve(factors, pivots, self._paid, adjoint=True)

    def select(self, kept: Tensor) -> RamField:
        """As in `PolicyField`."""
        plus, reset = self._chances[kept], self._reset[kept]
        return RamField(self._states, plus, reset, trained=self.rows.starts > 0)
