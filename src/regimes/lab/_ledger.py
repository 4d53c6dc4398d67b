"""The ledger: every claim of every paper, as data without verdicts."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources

from regimes._check import nearest_first


@dataclass(frozen=True)
class LedgerEntry:
    """One claim as its paper makes it."""

    id: str
    theme: str
    statement: str
    where: str  # the paper's key in docs/sources.md and a place in it, "[Geiger 2020, fig. 5a]"
    expected: str  # the paper's number or trend


@functools.cache
def ledger() -> Mapping[str, LedgerEntry]:
    """Every entry by id, themes together, in the order of the papers.

    >>> ledger()["COMP-12"].theme
    'compression'
    """
    text = resources.files("regimes.lab").joinpath("ledger.json").read_text(encoding="utf-8")
    themes = json.loads(text)
    return {
        entry["id"]: LedgerEntry(theme=theme, **entry)
        for theme, entries in themes.items()
        for entry in entries
    }


@functools.cache
def _prefixes() -> frozenset[str]:
    return frozenset(id.partition("-")[0] for id in ledger())


def check_id(id: str) -> None:
    """Refuse an id that looks like one of the ledger's but is not in it.

    A letter behind a ledger's id names a criterion of our own beside the ledger's.

    >>> check_id("DEMO-01"); check_id("COMP-11b")
    >>> check_id("COMP-99")
    Traceback (most recent call last):
    ...
    ValueError: the ledger has no claim 'COMP-99'; nearest: COMP-09, COMP-19, COMP-29
    """
    ours = id[-1:].islower() and id[:-1] in ledger()
    if id not in ledger() and not ours and id.partition("-")[0] in _prefixes():
        nearest = ", ".join(nearest_first(id, ledger())[:3])
        raise ValueError(f"the ledger has no claim {id!r}; nearest: {nearest}")
