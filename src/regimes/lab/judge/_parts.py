"""Claims of several parts: each is judged with its error bar, and the weakest part decides."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from regimes.lab._claims import Claim, Verdict
from regimes.lab.judge._measured import Measured, spread

_WORST_FIRST = (Verdict.NOT_REPRODUCED, Verdict.INCONCLUSIVE, Verdict.REPRODUCED)


@dataclass(frozen=True)
class Part:
    """One number of a claim and the range it is expected in."""

    name: str
    measured: float
    low: float = -math.inf
    high: float = math.inf
    error: float | None = None

    @property
    def expected(self) -> str:
        """The range in words."""
        if math.isinf(self.low):
            return f"{self.name} <= {self.high:g}"
        if math.isinf(self.high):
            return f"{self.name} >= {self.low:g}"
        return f"{self.name} in [{self.low:g}, {self.high:g}]"

    @property
    def shown(self) -> str:
        """The number with its error."""
        return f"{self.name} {self.measured:.3g}{spread(self.error)}"


def within(name: str, found: Any, low: float = -math.inf, high: float = math.inf) -> Part:
    """A number that is expected between two limits, either of which may be open.

    Args:
        name: what the number is, as the page prints it.
        found: a `Measured`, a fit with `exponent` and `error`, a pair (value, error), or a plain
            number, which is taken as exact.
        low: the smallest value that agrees with the document.
        high: the largest.

    >>> within("ratio", Measured(0.5, 0.02), 0.4, 0.6).shown
    'ratio 0.5 ± 0.02'
    """
    number = as_measured(found)
    return Part(name, number.value, low, high, number.error)


def above(name: str, found: Any, low: float) -> Part:
    """A number that is expected to be at least `low`."""
    return within(name, found, low=low)


def below(name: str, found: Any, high: float) -> Part:
    """A number that is expected to be at most `high`."""
    return within(name, found, high=high)


def near(name: str, found: Any, expected: float, tolerance: float) -> Part:
    """A number that is expected within `tolerance` of a value."""
    return within(name, found, expected - tolerance, expected + tolerance)


def as_measured(found: Any) -> Measured:
    """Whatever stands for a number with an error."""
    if isinstance(found, Measured):
        return found
    if hasattr(found, "exponent"):
        return Measured(float(found.exponent), float(found.error))
    if isinstance(found, tuple):
        value, error = found
        return Measured(float(value), None if error is None else float(error))
    return Measured(float(found))


def claim_of_parts(id: str, parts: Sequence[Part], *, why: str = "") -> Claim:
    """A claim that holds when every part does; the first part's number stands for it.

    >>> claim = claim_of_parts("X-1", [below("ratio", (0.5, 0.02), 0.6), below("end", 0.3, 0.18)])
    >>> claim.verdict.value, claim.measured, claim.expected
    ('not reproduced', 0.5, 'ratio <= 0.6; end <= 0.18')
    """
    judged = [
        Claim.between(id, part.measured, part.low, part.high, error=part.error) for part in parts
    ]
    verdict = next(v for v in _WORST_FIRST if any(each.verdict is v for each in judged))
    numbers = []
    for part, each in zip(parts, judged, strict=True):
        told = "" if each.verdict is Verdict.REPRODUCED else f" ({each.verdict.value})"
        numbers.append(part.shown + told)
    return Claim(
        id=id,
        verdict=verdict,
        expected="; ".join(part.expected for part in parts),
        measured=parts[0].measured,
        error=parts[0].error,
        why="; ".join([", ".join(numbers), *([why] if why else [])]),
    )
