"""The vector field: from the state of all members to their speeds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, final

import torch
from torch import Tensor

from regimes.flow._joined import FEW, Joined
from regimes.flow._objective import Objective

State = Mapping[str, Tensor]  # every tensor has the members as its leading axis


@final
@dataclass(frozen=True, eq=False)
class Evaluation:
    """What one look at a state gives.

    Attributes:
        predictions: F on the training points, (m, n, c).
        speed: minus the gradient, named and shaped like the state.
    """

    predictions: Tensor
    speed: State

    @cached_property
    def speed_norm(self) -> Tensor:
        """Norm of the speed as a plain vector of parameters, (m,)."""
        return norm(self.speed if self.flat_speed is None else {"": self.flat_speed})

    @cached_property
    def squared_speed(self) -> Tensor:
        """Its square, (m,)."""
        return squared_norm(self.speed) if self.flat_speed is None else self.speed_norm.square()

    @cached_property
    def flat_speed(self) -> Tensor | None:
        """The speed as one vector of parameters, (m, P); None where it is too large to copy."""
        return flattened(self.speed)


@final
@dataclass(frozen=True, eq=False)
class GradientChange:
    """Norms of two gradients and of their difference, each squared, (m,)."""

    before: Tensor
    after: Tensor
    difference: Tensor


class Field(Protocol):
    """The dynamics of m members; one implementation for networks, one for frozen kernels."""

    @property
    def objective(self) -> Objective:
        """What the members descend."""
        ...

    def evaluate(self, state: State) -> Evaluation:
        """Predictions and speeds of all members."""
        ...

    def gradient_change(self, before: Evaluation, after: Evaluation) -> GradientChange:
        """How much the gradient differs between two states of each member."""
        ...

    def select(self, kept: Tensor) -> Field:
        """The field of some of the members."""
        ...


def squared_norm(tensors: State) -> Tensor:
    """Sum of squares over everything but the members, (m,)."""
    if not tensors:
        raise ValueError("a state needs at least one tensor")
    together = flattened(tensors)
    rows = [together] if together is not None else _rows(tensors)
    parts = [torch.linalg.vector_norm(row, dim=1).square_() for row in rows]
    return parts[0] if len(parts) == 1 else torch.stack(parts).sum(0)


def norm(tensors: State) -> Tensor:
    """Norm over everything but the members, (m,)."""
    together = flattened(tensors)
    if together is None:
        return squared_norm(tensors).sqrt()
    return torch.linalg.vector_norm(together, dim=1)


def flattened(tensors: State) -> Tensor | None:
    """All of a member side by side, (m, P), where there is so little of it that calls cost more."""
    if isinstance(tensors, Joined):
        return tensors.vector
    rows = _rows(tensors)
    if sum(map(Tensor.numel, rows)) > FEW:
        return None
    return torch.cat(rows, 1) if len(rows) > 1 else rows[0]


def _rows(tensors: State) -> list[Tensor]:
    return [tensor.reshape(tensor.shape[0], -1) for tensor in tensors.values()]


def squared_distance(first: State, second: State) -> Tensor:
    """Squared distance over everything but the members, (m,)."""
    return squared_norm({name: first[name] - second[name] for name in first})


def advance(state: State, speed: State, steps: Tensor) -> State:
    """`state + steps * speed`, with one step per member."""
    if isinstance(state, Joined):
        if not isinstance(speed, Joined):
            speed = state.gathered(speed[name] for name in state)
        return state.like(state.vector.addcmul(speed.vector, steps.unsqueeze(1)))
    return {
        name: value.addcmul(speed[name], steps.view(-1, *[1] * (value.ndim - 1)))
        for name, value in state.items()
    }


def keep(accepted: Tensor, new: State, old: State) -> dict[str, Tensor]:
    """`new` for accepted members, `old` for the others."""
    return {
        name: value.where(accepted.view(-1, *[1] * (value.ndim - 1)), old[name])
        for name, value in new.items()
    }
