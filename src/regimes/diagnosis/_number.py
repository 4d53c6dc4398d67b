"""A measured number with its doubt and what it means."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final


@final
@dataclass(frozen=True)
class Number:
    """One number of a diagnosis.

    Attributes:
        value: the number.
        error: its standard error over probe batches, or over probes; None where it is exact.
        meaning: one sentence for a reader who has not seen the papers.
    """

    value: float
    error: float | None
    meaning: str

    def __str__(self) -> str:
        """The value with as many digits as its error leaves.

        >>> str(Number(0.8123, 0.02, "")), str(Number(12.0, None, ""))
        ('0.81 ± 0.02', '12')
        """
        if self.error is None or not self.error > 0 or not math.isfinite(self.error):
            return f"{self.value:.3g}"
        places = max(0, -math.floor(math.log10(self.error)))
        if places > 6 or self.error >= 1000:
            return f"{self.value:.3g} ± {self.error:.1g}"
        return f"{self.value:.{places}f} ± {self.error:.{places}f}"


def over_batches(values: Sequence[float], meaning: str) -> Number:
    """Mean over probe batches with its standard error; what is undefined in a batch is left out.

    >>> over_batches([1.0, 3.0], "")
    Number(value=2.0, error=1.0, meaning='')
    """
    known = [value for value in values if math.isfinite(value)]
    if not known:
        return Number(math.nan, None, meaning)
    mean = sum(known) / len(known)
    if len(known) < 2:
        return Number(mean, math.inf, meaning)
    spread = sum((value - mean) ** 2 for value in known) / (len(known) - 1)
    return Number(mean, math.sqrt(spread / len(known)), meaning)


def share(right: int, total: int, meaning: str) -> Number:
    """A share of so many probes with its binomial error, never below one probe's.

    >>> share(90, 100, "").error
    0.03
    """
    p = right / total
    return Number(p, max(math.sqrt(p * (1 - p) / total), 1 / total), meaning)
