"""A claim: what a document says, what was measured, and the verdict."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from regimes.lab._ledger import check_id


class Verdict(StrEnum):
    """What can be said of a claim."""

    REPRODUCED = "reproduced"
    NOT_REPRODUCED = "not reproduced"
    INCONCLUSIVE = "inconclusive"
    REPORTED = "reported"  # the ledger asks for the number, not for a judgement
    NOT_RUN = "not run"


@dataclass(frozen=True)
class Claim:
    """One line of the ledger after a measurement. Made by `between`, `near`, `holds` or `unclear`.

    The statement and its place in the document are in the ledger under `id`; a study that judges
    something of its own gives a statement itself.
    """

    id: str
    verdict: Verdict
    expected: str  # the value or relation that was asked for, with its tolerance
    measured: float | None = None
    error: float | None = None  # one standard error of `measured`
    why: str = ""  # what the verdict rests on; never empty when inconclusive
    statement: str = ""
    where: str = ""
    exact: bool = False  # a formula or a count: no draw enters `measured`

    def __post_init__(self) -> None:
        check_id(self.id)

    @classmethod
    def between(
        cls,
        id: str,
        measured: float,
        low: float = -math.inf,
        high: float = math.inf,
        *,
        error: float | None = None,
        why: str = "",
        expected: str = "",
        statement: str = "",
        where: str = "",
    ) -> Claim:
        """`measured` is expected in [low, high]; either end may be open.

        One rule: reproduced when measured - error and measured + error both lie inside, not
        reproduced when both lie outside on the same side, else inconclusive. A number without an
        error is exact.

        >>> Claim.between("X-1", 0.52, 0.4, 0.6, error=0.03).verdict.value
        'reproduced'
        >>> Claim.between("X-1", 0.58, 0.4, 0.6, error=0.03).verdict.value
        'inconclusive'
        >>> Claim.between("X-1", 0.9, 0.4, 0.6, error=0.1).verdict.value
        'not reproduced'
        """
        if not low <= high:
            raise ValueError(f"claim {id}: low={low} must not exceed high={high}")
        number, spread = float(measured), 0.0 if error is None else float(error)
        verdict, reason = _judge(number, spread, low, high)
        return cls(
            id=id,
            verdict=verdict,
            expected=expected or _range(low, high),
            measured=number,
            error=None if error is None else spread,
            why=f"{why}; {reason}".strip("; ") if reason else why,
            statement=statement,
            where=where,
        )

    @classmethod
    def near(
        cls, id: str, measured: float, expected: float, tolerance: float, **details: Any
    ) -> Claim:
        """`measured` is expected within `tolerance` of a value; details as in `between`.

        >>> Claim.near("X-2", 0.497, 0.5, 0.01).verdict.value
        'reproduced'
        """
        text = f"{expected:g} ± {tolerance:g}"
        return cls.between(
            id, measured, expected - tolerance, expected + tolerance, expected=text, **details
        )

    @classmethod
    def holds(
        cls,
        id: str,
        condition: bool,
        expected: str,
        *,
        why: str,
        measured: float | None = None,
        error: float | None = None,
        statement: str = "",
        where: str = "",
    ) -> Claim:
        """A relation that is true or not; `why` gives the numbers it was decided on.

        >>> Claim.holds("X-3", True, "falls with width", why="0.3, 0.2, 0.1").verdict.value
        'reproduced'
        """
        verdict = Verdict.REPRODUCED if condition else Verdict.NOT_REPRODUCED
        return cls(id, verdict, expected, measured, error, why, statement, where)

    @classmethod
    def unclear(cls, id: str, expected: str, *, why: str, statement: str = "") -> Claim:
        """The run cannot decide, and `why` says what is missing."""
        return cls(id, Verdict.INCONCLUSIVE, expected, why=why, statement=statement)

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON values; a measured NaN becomes null."""
        data = asdict(self)
        data["verdict"] = self.verdict.value
        for name in ("measured", "error"):
            if data[name] is not None and not math.isfinite(data[name]):
                data[name] = None
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Claim:
        """The inverse of `as_dict`."""
        return cls(**{**data, "verdict": Verdict(data["verdict"])})


def _judge(measured: float, error: float, low: float, high: float) -> tuple[Verdict, str]:
    if math.isnan(measured) or math.isnan(error):
        return Verdict.INCONCLUSIVE, "the measurement or its error is not a number"
    least, most = measured - error, measured + error
    if low <= least and most <= high:
        return Verdict.REPRODUCED, ""
    if most < low or least > high:
        return Verdict.NOT_REPRODUCED, ""
    return Verdict.INCONCLUSIVE, "the error bar reaches across a limit of the range"


def _range(low: float, high: float) -> str:
    if math.isinf(low) and math.isinf(high):
        return "any value"
    if math.isinf(low):
        return f"<= {high:g}"
    return f">= {low:g}" if math.isinf(high) else f"{low:g} to {high:g}"
