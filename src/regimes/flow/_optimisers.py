"""Update rules of discrete descent, on stacked parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, cast, final

import torch
from torch import Tensor

from regimes._check import choose, real
from regimes.flow._field import State

Memory = Mapping[str, Mapping[str, Tensor]]  # e.g. {"velocity": {parameter: tensor}}


class Optimiser(Protocol):
    """From the gradients to a direction, given what it remembers of the past."""

    def start(self, state: State) -> Memory:
        """What is remembered before the first step."""
        ...

    def direction(
        self, speed: State, memory: Memory, step: Tensor
    ) -> tuple[dict[str, Tensor], Memory]:
        """The direction to move in, per unit of learning rate; `step` counts from 1, (m,)."""
        ...


@final
@dataclass(frozen=True)
class SGD:
    """`v <- momentum v - g`, `w <- w + rate v`, as torch.optim.SGD; momentum 0 is plain descent."""

    momentum: float = 0.0

    def __post_init__(self) -> None:
        if not 0.0 <= real("momentum", self.momentum) < 1.0:
            raise ValueError(f"momentum must be in [0, 1), got {self.momentum!r}")

    def start(self, state: State) -> Memory:
        """A velocity of zero, where there is momentum."""
        return {"velocity": _zeros(state)} if self.momentum else {}

    def direction(
        self, speed: State, memory: Memory, step: Tensor
    ) -> tuple[dict[str, Tensor], Memory]:
        """The velocity after adding the newest gradient."""
        if not self.momentum:
            return dict(speed), memory
        old = memory["velocity"]
        new = {name: self.momentum * old[name] + speed[name] for name in speed}
        return new, {"velocity": new}


@final
@dataclass(frozen=True)
class Adam:
    """Adam with bias correction, as torch.optim.Adam."""

    betas: tuple[float, float] = (0.9, 0.999)
    epsilon: float = 1e-8

    def start(self, state: State) -> Memory:
        """Both moments at zero."""
        return {"mean": _zeros(state), "square": _zeros(state)}

    def direction(
        self, speed: State, memory: Memory, step: Tensor
    ) -> tuple[dict[str, Tensor], Memory]:
        """Mean gradient over the root of the mean square, both corrected for their start."""
        b1, b2 = self.betas
        mean = {k: b1 * memory["mean"][k] + (1 - b1) * g for k, g in speed.items()}
        square = {k: b2 * memory["square"][k] + (1 - b2) * g * g for k, g in speed.items()}
        moved = {}
        for name, value in mean.items():
            shape = (-1, *[1] * (value.ndim - 1))
            count = step.to(value).view(shape)
            root = (square[name] / (1 - b2**count)).sqrt() + self.epsilon
            moved[name] = value / (1 - b1**count) / root
        return moved, {"mean": mean, "square": square}


def resolve_optimiser(optimiser: str | Optimiser) -> Optimiser:
    """By name: "sgd" (or "gd"), "momentum" (0.9), "adam"; or as it is."""
    if not isinstance(optimiser, type) and callable(getattr(optimiser, "direction", None)):
        return cast("Optimiser", optimiser)
    named: dict[str, Optimiser] = {
        "gd": SGD(),
        "sgd": SGD(),
        "momentum": SGD(0.9),
        "adam": Adam(),
    }
    return choose(cast("str", optimiser), named, "optimiser")


def _zeros(state: State) -> dict[str, Tensor]:
    return {name: torch.zeros_like(value) for name, value in state.items()}
