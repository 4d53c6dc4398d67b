"""A velocity that relaxes towards minus the gradient (docs/themes/regimes.md, "Momentum")."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
import torch
from torch import Tensor

from regimes._check import real
from regimes.flow._field import State
from regimes.flow._readings import Floats


@final
@dataclass(frozen=True)
class Momentum:
    """`dv/dt = -(v + grad)/tau`, `dw/dt = v`; a step is `q = e^{-dt/tau}, v <- q v + (1-q) speed`.

    Attributes:
        tau: relaxation time; 0 is plain gradient flow.
        memory: mu, for a relaxation time t/mu that grows with the elapsed time instead, where
            `q = (t/(t+dt))^mu`.
    """

    tau: float = 0.0
    memory: float | None = None

    def __post_init__(self) -> None:
        if real("tau", self.tau) < 0:
            raise ValueError(f"tau must not be negative, got {self.tau!r}")
        if self.memory is not None:
            real("memory", self.memory, above=0.0)
            if self.tau:
                raise ValueError("give tau or memory, not both")

    @property
    def active(self) -> bool:
        """Whether there is a velocity to carry."""
        return self.tau > 0 or self.memory is not None

    def start(self, state: State) -> dict[str, Tensor]:
        """The velocity at rest; empty without momentum."""
        return {k: torch.zeros_like(v) for k, v in state.items()} if self.active else {}

    def velocity(self, velocity: State, speed: State, steps: Floats, times: Floats) -> State:
        """The velocity with which a step of these lengths moves the state."""
        if not self.active:
            return speed
        steps, times = np.atleast_1d(steps, times)
        if self.memory is None:
            kept = np.exp(-steps / self.tau)
        else:
            kept = np.where(times > 0, times / (times + steps), 0.0) ** self.memory
        moved = {}
        for name, value in velocity.items():
            q = torch.from_numpy(kept).to(value).view(-1, *[1] * (value.ndim - 1))
            moved[name] = q * value + (1 - q) * speed[name]
        return moved
