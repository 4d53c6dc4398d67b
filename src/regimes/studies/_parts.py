"""Claims of several parts: each is judged with its error bar, and the weakest part decides."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from regimes.lab import Claim, Verdict

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
        spread = "" if self.error is None else f" ± {self.error:.2g}"
        return f"{self.name} {self.measured:.3g}{spread}"


def claim_of_parts(id: str, parts: Sequence[Part], *, why: str = "") -> Claim:
    """A claim that holds when every part does; the first part's number stands for it.

    >>> parts = [Part("ratio", 0.5, high=0.6, error=0.02), Part("end", 0.3, high=0.18)]
    >>> claim = claim_of_parts("X-1", parts)
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
