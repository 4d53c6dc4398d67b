"""A measured number with its doubt and what it means."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

_STUDENT = {2: 1.84, 3: 1.32, 4: 1.20, 5: 1.14, 6: 1.11, 7: 1.09, 8: 1.08, 9: 1.07, 10: 1.06}


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
    """Mean over probe batches with its error; what is undefined in a batch is left out.

    The error is the standard error of the mean, larger for few batches by what Student's law asks
    for: 1.84 times with two, 1.14 times with five.

    >>> over_batches([1.0, 3.0], "")
    Number(value=2.0, error=1.84, meaning='')
    """
    known = [value for value in values if math.isfinite(value)]
    if not known:
        return Number(math.nan, None, meaning)
    mean = sum(known) / len(known)
    if len(known) < 2:
        return Number(mean, math.inf, meaning)
    spread = sum((value - mean) ** 2 for value in known) / (len(known) - 1)
    widened = _STUDENT.get(len(known), 1.0)
    return Number(mean, widened * math.sqrt(spread / len(known)), meaning)


def share(right: int, total: int, meaning: str) -> Number:
    """A share of so many probes with its binomial error, never below one probe's.

    >>> share(90, 100, "").error
    0.03
    """
    p = right / total
    return Number(p, max(math.sqrt(p * (1 - p) / total), 1 / total), meaning)


def about(value: float) -> str:
    """Two digits, without an exponent where there is room; a dash for what is not defined.

    >>> about(189.2), about(0.0512), about(2.5e6), about(math.nan)
    ('190', '0.051', '2.5e+06', '–')
    """
    if math.isnan(value):
        return "–"
    return f"{float(f'{value:.2g}'):.0f}" if 10 <= value < 1e5 else f"{value:.2g}"
