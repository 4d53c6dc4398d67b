"""What the judges of the foundations share."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from regimes.lab import Data, Values, judge, ran

EXACT = 1e-10
WIDE = 100  # widths up to this at least, or corrections of 1/h bend the power laws


def over_widths(dataset: Data, block: str, width: str) -> Data:
    """What a block measured, its widths as a coordinate.

    Raises:
        Missing: it has not run, or its networks are too narrow to tell an exponent.
    """
    widths = ran(dataset, block)[width]
    widest = float(widths.max())
    if widest < WIDE:
        raise judge.Missing(
            f"the widest networks have h = {widest:g}: exponents need {WIDE} or more"
        )
    return dataset.swap_dims({str(widths.dims[0]): width})


def slope(curve: Values, over: str, draws: str, *, times: float = 1.0) -> judge.Measured:
    """Exponent of the mean over draws, times a positive factor."""
    fit = judge.power_law(curve, over, draws=draws, center="mean")
    return judge.Measured(times * fit.exponent, times * fit.error)


def farthest(found: Sequence[judge.Measured], expected: float) -> judge.Measured:
    """The number that is, with its error, farthest from what is expected."""
    return max(found, key=lambda each: abs(each.value - expected) + (each.error or 0.0))


def largest_gap(one: Any, other: Any) -> float:
    """Largest difference of two arrays."""
    return float(np.abs(np.asarray(one) - np.asarray(other)).max())
