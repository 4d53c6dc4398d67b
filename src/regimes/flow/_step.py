"""One step as control sees it: how long it is, what it changed, and who has come to an end.

The arithmetic is the same for arrays on the host and for tensors beside the state (`_lone.py`).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from regimes.flow._control import Changes
from regimes.flow._lone import finite_numbers, larger, lone, root, where
from regimes.flow._readings import Floats, Readings
from regimes.flow._settings import Settings
from regimes.flow._status import Status

# the order in which ends count
ENDS = (
    Status.DIVERGED,
    Status.FITTED,
    Status.REACHED,
    Status.STALLED,
    Status.OUT_OF_STEPS,
    Status.OUT_OF_TIME,
)
_NO_STEP = 4e-16  # a step this small against the time no longer changes it


def lengths(steps: Floats, readings: Readings, settings: Settings) -> tuple[Floats, Floats]:
    """The steps that control asks for, and the same cut to end at t_end."""
    tolerance, t_end = settings.tolerances.weight, settings.t_end
    if tolerance is not None and not settings.momentum.active:
        with np.errstate(divide="ignore", invalid="ignore"):
            longest = tolerance * readings.weight / readings.gradient
        steps = where(longest < steps, longest, steps)
    if t_end is None:
        return steps, steps
    remaining = t_end - readings.time
    cut = where(remaining < steps, remaining, steps)
    return steps, where(readings.gradient == 0, remaining, cut)


def changes(
    numbers: Mapping[str, Floats], readings: Readings, step: Floats, settings: Settings
) -> Changes:
    """What a proposed step changed, from the numbers of its end and where it began."""
    gradient = weight = 0.0 * step
    if settings.tolerances.gradient is not None:
        gradient = _relative_change(
            *[lone(numbers[name]) for name in ("before", "after", "difference")]
        )
    if settings.tolerances.weight is not None:
        moved = lone(numbers["moved"]) if "moved" in numbers else step * readings.gradient
        weight = moved / where(readings.weight > 0, readings.weight, np.inf)
    finite = finite_numbers(lone(numbers["loss"])) & finite_numbers(lone(numbers["gradient"]))
    return Changes(lone(numbers["d_output"]), gradient, weight, finite)


def which_ended(
    settings: Settings,
    now: Readings,
    *,
    step: Floats,
    tried: Floats,
    finite: Floats,
    arrived: Floats | bool,
    overdue: bool,
) -> dict[Status, Floats]:
    """Which members have come to which end; the first that applies counts.

    Args:
        settings: what ends a run.
        now: where the members stand.
        step: lengths of their next steps.
        tried: steps taken and refused.
        finite: whether the last proposal was.
        arrived: whether the event has come that ends the run.
        overdue: whether the wall clock has run out.
    """
    stuck = step <= _NO_STEP * larger(now.time, 1e-290)
    lost = ~finite_numbers(now.loss) | ~finite_numbers(now.gradient)
    fitted = settings.until is not None and settings.until.name == Status.FITTED
    late = False if settings.t_end is None else now.time >= settings.t_end
    still = (now.gradient == 0) & (settings.t_end is None) & (not settings.momentum.active)
    found = (
        lost | (stuck & ~finite),
        arrived if fitted else False,
        late if fitted else arrived | late,
        stuck | still,
        tried >= settings.max_steps,
        overdue,
    )
    return dict(zip(ENDS, found, strict=True))


def _relative_change(before: Floats, after: Floats, difference: Floats) -> Floats:
    """`|g - g'|^2 / (|g| |g'|)` of squared norms, 0 where either vanishes [Geiger 2020, eq. 9]."""
    size = root(before * after)
    some_size = where(size > 0, size, np.inf)
    return where(size > 0, difference / some_size, 0.0)
