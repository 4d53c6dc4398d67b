"""Trainers of the theme, with the papers' schedules or faster.

All take whole batches, stop a member as soon as a look at its points finds every margin reached,
and leave checkpoints (docs/themes/landscape.md, "Trainers").
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import regimes as rg
from regimes.studies._types import Checkpoint, Dataset, Ensemble, Run

RATE = 1e-3
MARGIN = 0.5  # of [Geiger 2019]; 1 in [Spigler 2019] and [Geiger 2020b]
LOOK = 100  # steps between looks at the margins


def adam(
    start: Ensemble,
    data: Dataset | Sequence[Dataset],
    *,
    steps: int,
    schedule: Any = None,
    rate: float | Sequence[float] = RATE,
    margin: float = MARGIN,
    n_train: Sequence[int] | None = None,
    checkpoint: Checkpoint | None = None,
    **options: Any,
) -> Run:
    """Adam on the square hinge until N_Delta = 0; options go to `flow.descend`.

    Args:
        start: the networks, one per member.
        data: one task for all, or one per member.
        steps: at most so many.
        schedule: factor of the rate from the steps taken; None holds it.
        rate: of all members or of each.
        margin: epsilon.
        n_train: P of each member: it takes the first of its points; None: all of them.
        checkpoint: where to leave the state.
        options: of `flow.descend`.
    """
    own: dict[str, Any] = {
        "loss": rg.flow.quadratic_hinge(margin),
        "subtract_init": False,
        "until": "fitted",
        "events": (),
        "check_every": LOOK,
    }
    return rg.flow.descend(
        start,
        data,
        rate=rate,
        optimiser="adam",
        schedule=schedule,
        n_train=n_train if n_train is None else list(n_train),
        divide_by="1",
        max_steps=steps,
        checkpoint=checkpoint,
        **(own | options),
    )


def adam_fast(
    start: Ensemble, data: Dataset | Sequence[Dataset], *, steps: int, **options: Any
) -> Run:
    """The rate is held for half of the steps, then lowered by two decades, evenly in its log."""
    return adam(start, data, steps=steps, schedule=rg.flow.hold_then_lower(steps), **options)


def adam_decay(
    start: Ensemble,
    data: Dataset | Sequence[Dataset],
    *,
    steps: int,
    every: int = 250_000,
    floor: float = 1e-3,
    **options: Any,
) -> Run:
    """A rate of 1e-4, divided by ten every `every` steps [Spigler 2019, app. B.1].

    It does not fall below `floor` times its start.
    Without the floor a run of 10^7 steps stands still after a tenth of them.
    """

    def factor(step: int) -> float:
        return float(max(floor, 10.0 ** -(step // every)))

    own: dict[str, Any] = {"rate": 1e-4, "schedule": factor}
    return adam(start, data, steps=steps, **(own | options))
