"""Learning rates that change: factors of the rate, from the number of steps taken."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from regimes._check import positive_int, real

RateFactor = Callable[[int], float]  # from the number of steps taken to a factor of the rate


def constant() -> RateFactor:
    """The same learning rate throughout."""
    return lambda step: 1.0


def linear_decay(steps: int) -> RateFactor:
    """From the full rate to 0 over all steps, as in the programs of [Ortiz-Jimenez 2021]."""
    total = positive_int("steps", steps)
    return lambda step: max(0.0, 1.0 - step / total)


def cosine(steps: int) -> RateFactor:
    """`(1 + cos(pi t))/2` over all steps, t from 0 to 1: from the full rate to 0 [Petrini 2021].

    >>> [round(cosine(4)(step), 3) for step in range(5)]
    [1.0, 0.854, 0.5, 0.146, 0.0]
    """
    total = positive_int("steps", steps)
    return lambda step: (1.0 + math.cos(math.pi * min(step, total) / total)) / 2.0


def drops(at: Sequence[int], factor: float = 0.1) -> RateFactor:
    """Times `factor` after each of these steps, as in [Spigler 2019, app. B.1]."""
    marks, by = sorted(at), real("factor", factor, above=0.0)
    return lambda step: by ** sum(step >= mark for mark in marks)


def hold_then_lower(steps: int, *, held: float = 0.5, decades: float = 2.0) -> RateFactor:
    """The full rate for a part of the steps, then lowered evenly in its logarithm.

    With the defaults as docs/themes/regimes.md, "Fits that stop, and jamming", has it: held for the
    first half, then lowered by two decades.

    Args:
        steps: of the whole run; the rate stays at its lowest after that.
        held: share of the steps at the full rate, at least 0 and below 1.
        decades: factors of ten that the rate is lowered by.

    >>> factor = hold_then_lower(100)
    >>> [round(factor(step), 3) for step in (0, 50, 75, 100)]
    [1.0, 1.0, 0.1, 0.01]
    """
    total, by = positive_int("steps", steps), real("decades", decades, above=0.0)
    if not 0.0 <= real("held", held) < 1.0:
        raise ValueError(f"held must be a share of the steps in [0, 1), got {held!r}")

    def factor(step: int) -> float:
        lowered = (min(step, total) / total - held) / (1.0 - held)
        return float(10.0 ** (-by * max(0.0, lowered)))

    return factor
