"""The gradient of any network by automatic differentiation, some members at a time."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import final

import torch
from torch import Tensor

from regimes.flow._field import Evaluation, GradientChange, State, squared_distance
from regimes.flow._objective import Objective
from regimes.nets import Ensemble


@final
@dataclass(frozen=True, eq=False)
class NetworkField:
    """Speeds `-grad` of an ensemble's parameters.

    Attributes:
        ensemble: the function; its own parameters are not used.
        x: inputs (n, ...) shared by the members, or (m, n, ...).
        member_inputs: whether `x` has the axis of members.
        objective: what is descended.
        tile: members that are differentiated together, as memory allows.
    """

    ensemble: Ensemble
    x: Tensor
    member_inputs: bool
    objective: Objective
    tile: int

    def evaluate(self, state: State) -> Evaluation:
        """One forward and one backward pass of every member."""
        size = len(next(iter(state.values())))
        parts = [self._part(state, slice(i, i + self.tile)) for i in range(0, size, self.tile)]
        if len(parts) == 1:
            return parts[0]
        return Evaluation(
            torch.cat([part.predictions for part in parts]),
            {name: torch.cat([part.speed[name] for part in parts]) for name in state},
        )

    def _part(self, state: State, members: slice) -> Evaluation:
        leaves = {name: value[members].detach().requires_grad_() for name, value in state.items()}
        inputs = self.x[members] if self.member_inputs else self.x
        with torch.enable_grad():
            f = self._ensemble(members).forward(leaves, inputs, member_inputs=self.member_inputs)
        predictions = self.objective.predictions(f.detach(), members)
        pull = self.objective.pull(predictions, members)
        speed = torch.autograd.grad(f, list(leaves.values()), pull)
        return Evaluation(predictions, dict(zip(leaves, speed, strict=True)))

    def _ensemble(self, members: slice) -> Ensemble:
        return self.ensemble.select(members) if self.ensemble.buffers else self.ensemble

    def gradient_change(self, before: Evaluation, after: Evaluation) -> GradientChange:
        """Norms in parameter space, for [Geiger 2020, eq. 9]."""
        return parameter_change(before, after)

    def select(self, kept: Tensor) -> NetworkField:
        """The field of some of the members."""
        own = bool(self.ensemble.buffers) and len(kept) > 0  # of none left, no network is asked
        return dataclasses.replace(
            self,
            ensemble=self.ensemble.select(kept) if own else self.ensemble,
            x=self.x[kept] if self.member_inputs else self.x,
            objective=self.objective.select(kept),
        )


def parameter_change(before: Evaluation, after: Evaluation) -> GradientChange:
    """Norms of the speeds as plain vectors of parameters."""
    return GradientChange(
        before.squared_speed,
        after.squared_speed,
        squared_distance(before.speed, after.speed),
    )
