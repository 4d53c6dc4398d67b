"""How far each member has come: the numbers that events, schedules and step control look at."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import final

import numpy as np

Floats = np.ndarray


@final
@dataclass(frozen=True, eq=False)
class Readings:
    """One entry per member, all of shape (m,); `previous_time` is that of the step before.

    Attributes:
        time: flow time (or the sum of learning rates).
        previous_time: the same one step earlier.
        step: steps taken.
        loss: mean loss l, not divided by alpha.
        first_loss: its value at the start.
        satisfied: fraction of training points with the loss's margin (or a positive one).
        least_margin: smallest margin of a training point.
        gradient: norm of the gradient.
        weight: norm of the state.
    """

    time: Floats
    previous_time: Floats
    step: Floats
    loss: Floats
    first_loss: Floats
    satisfied: Floats
    least_margin: Floats
    gradient: Floats
    weight: Floats

    @property
    def named(self) -> dict[str, Floats]:
        """All of them by name."""
        return {name: getattr(self, name) for name in _NAMES}

    @cached_property
    def numbers(self) -> Readings:
        """The same for arithmetic: with one member its numbers themselves, which cost less."""
        return self.select(0) if len(self.time) == 1 else self

    def select(self, which: Floats | int) -> Readings:
        """The readings of some members (numbers or a mask), or the numbers of one."""
        return Readings(*[getattr(self, name)[which] for name in _NAMES])


_NAMES = tuple(each.name for each in fields(Readings))
