"""How far each member has come: the numbers that events, schedules and step control look at."""

from __future__ import annotations

from dataclasses import dataclass, fields
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

    def select(self, which: Floats) -> Readings:
        """The readings of some members (numbers or a mask)."""
        return Readings(**{f.name: getattr(self, f.name)[which] for f in fields(self)})
