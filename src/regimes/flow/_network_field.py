"""The gradient of any network by automatic differentiation, some members at a time."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cached_property
from typing import final

import torch
from torch import Tensor, nn

from regimes.flow._field import Evaluation, GradientChange, State, squared_distance
from regimes.flow._joined import Joined, joined, members_of
from regimes.flow._objective import EVERYBODY, Objective
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
        size = members_of(state)
        if size == 1:
            return self._one(state)
        if size <= self.tile:
            return self._part(state, EVERYBODY)
        parts = [self._part(state, slice(i, i + self.tile)) for i in range(0, size, self.tile)]
        return Evaluation(
            torch.cat([part.predictions for part in parts]),
            {name: torch.cat([part.speed[name] for part in parts]) for name in state},
        )

    @cached_property
    def _alone(self) -> tuple[nn.Module, dict[str, nn.Parameter], State]:
        """A module for one member, whose parameters are set to the state: calls cost less so.

        With it its parameters by name, and what they are views of.
        """
        module = self.ensemble.member(0)
        named = dict(module.named_parameters())
        for name, parameter in named.items():
            parameter.requires_grad_(name in self.ensemble.parameters)
        leaves = {name: named[name] for name in self.ensemble.parameters}  # in the state's order
        together = joined({name: leaf.detach()[None] for name, leaf in leaves.items()})
        for name, leaf in leaves.items():
            leaf.data = together[name].squeeze(0)
        return module, leaves, together

    def _one(self, state: State) -> Evaluation:
        """The same for one member, with its module as it is."""
        module, leaves, together = self._alone
        if isinstance(state, Joined) and isinstance(together, Joined):
            together.vector.copy_(state.vector)
        else:
            for name, leaf in leaves.items():
                leaf.data = state[name].squeeze(0)
        with torch.enable_grad():
            f = self.ensemble.outputs(module(self.x[0] if self.member_inputs else self.x))
        predictions = self.objective.predictions(f.detach()[None])
        pull = self.objective.pull(predictions)[0]
        speed = torch.autograd.grad(f, list(leaves.values()), pull)
        if isinstance(state, Joined):
            return Evaluation(predictions, state.gathered(speed))
        return Evaluation(predictions, {k: v[None] for k, v in zip(state, speed, strict=True)})

    def _part(self, state: State, members: slice) -> Evaluation:
        everybody = members is EVERYBODY
        own = state if everybody else {name: value[members] for name, value in state.items()}
        leaves = {name: value.detach().requires_grad_() for name, value in own.items()}
        inputs = self.x if everybody or not self.member_inputs else self.x[members]
        with torch.enable_grad():
            f = self._ensemble(members).forward(leaves, inputs, member_inputs=self.member_inputs)
        predictions = self.objective.predictions(f.detach(), members)
        pull = self.objective.pull(predictions, members)
        speed = torch.autograd.grad(f, list(leaves.values()), pull)
        return Evaluation(predictions, dict(zip(leaves, speed, strict=True)))

    def _ensemble(self, members: slice) -> Ensemble:
        whole = members is EVERYBODY or not self.ensemble.buffers
        return self.ensemble if whole else self.ensemble.select(members)

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
    first, second = before.flat_speed, after.flat_speed
    if first is None or second is None:
        difference = squared_distance(before.speed, after.speed)
    else:
        difference = torch.linalg.vector_norm(first - second, dim=1).square_()
    return GradientChange(before.squared_speed, after.squared_speed, difference)
