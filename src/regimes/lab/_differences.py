"""What differs between two judgements of the same data."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from regimes.lab._claims import Claim

_COMPARED = ("verdict", "measured", "error")
_KEPT = (*_COMPARED, "expected")
_RELATIVE, _ABSOLUTE = 1e-9, 1e-12  # the same arithmetic on another machine
_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?"
_LIMITS = re.compile(rf"(?:<=|>=) ?{_NUMBER}|\[[^\]]*\]|{_NUMBER} (?:±|to) {_NUMBER}")


@dataclass(frozen=True)
class Difference:
    """One thing that is said of a claim and now judged otherwise."""

    id: str
    what: str  # "verdict", "measured" or "error"; "claim" where only one of the two judges it
    was: Any
    now: Any

    def __str__(self) -> str:
        if self.what == "claim":
            return f"{self.id}: {'no longer' if self.now is None else 'only now'} judged"
        return f"{self.id}: {self.what} was {self.was}, is {self.now}"


def differences(was: Iterable[Claim], now: Iterable[Claim]) -> list[Difference]:
    """Where two judgements differ, in ids, verdicts, values or errors.

    >>> old, new = Claim.near("X-1", 0.52, 0.5, 0.1), Claim.near("X-1", 0.52, 0.5, 0.01)
    >>> [str(found) for found in differences([old], [new])]
    ['X-1: verdict was reproduced, is not reproduced']
    """
    a, b = _by_id(was), _by_id(now)
    found = []
    for id in dict.fromkeys([*a, *b]):
        if id not in a or id not in b:
            verdicts = (claims[id].verdict.value if id in claims else None for claims in (a, b))
            found.append(Difference(id, "claim", *verdicts))
            continue
        old, new = a[id].as_dict(), b[id].as_dict()
        found += [
            Difference(id, what, old[what], new[what])
            for what in _COMPARED
            if not _same(old[what], new[what])
        ]
    return found


def with_kept_numbers(was: Iterable[Claim], now: Iterable[Claim]) -> tuple[Claim, ...]:
    """The claims of `now` with the numbers of `was` where they differ by rounding alone.

    A record that is judged again on another machine then keeps every digit that it had.

    >>> old, new = Claim.between("X-1", 1.0, why="a"), Claim.between("X-1", 1.0 + 1e-15, why="b")
    >>> [(claim.measured, claim.why) for claim in with_kept_numbers([old], [new])]
    [(1.0, 'b')]
    """
    kept = _by_id(was)
    return tuple(
        replace(
            claim,
            **{
                name: getattr(kept[claim.id], name)
                for name in ("measured", "error")
                if claim.id in kept and _same(getattr(kept[claim.id], name), getattr(claim, name))
            },
        )
        for claim in now
    )


def changes_of(was: Iterable[Claim], now: Iterable[Claim]) -> tuple[dict[str, Any], ...]:
    """Claims that come out otherwise or are asked otherwise, with today's date, as records keep it.

    Of what was asked only limits count, not words.

    >>> old, new = Claim.near("X-1", 0.52, 0.5, 0.1), Claim.near("X-1", 0.52, 0.5, 0.05)
    >>> [change["was"]["expected"] for change in changes_of([old], [new])]
    ['0.5 ± 0.1']
    """
    a, b = _by_id(was), _by_id(now)
    changed = {each.id for each in differences(a.values(), b.values())}
    changed |= {id for id in a.keys() & b.keys() if _limits(a[id]) != _limits(b[id])}
    date = datetime.datetime.now(datetime.UTC).date().isoformat()
    return tuple(
        {"date": date, "id": id, "was": _kept(a.get(id)), "now": _kept(b.get(id))}
        for id in dict.fromkeys([*a, *b])
        if id in changed
    )


def _limits(claim: Claim) -> list[str]:
    """The numbers that decide; of a relation in words every number in it."""
    return _LIMITS.findall(claim.expected) or re.findall(_NUMBER, claim.expected)


def _kept(claim: Claim | None) -> dict[str, Any] | None:
    return None if claim is None else {name: claim.as_dict()[name] for name in _KEPT}


def _by_id(claims: Iterable[Claim]) -> dict[str, Claim]:
    return {claim.id: claim for claim in claims}


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, float | int) and isinstance(b, float | int):
        return math.isclose(a, b, rel_tol=_RELATIVE, abs_tol=_ABSOLUTE)
    return bool(a == b)
