"""Tables of claims, and what is said of each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from regimes.lab._claims import Claim, Verdict
from regimes.lab._ledger import ledger
from regimes.lab._replicate import marks, notes
from regimes.lab._results import Summary
from regimes.lab._summary_text import measured_text
from regimes.lab._verdicts import LedgerLine
from regimes.lab.report._places import Places

_MARKS = {
    Verdict.REPRODUCED: "✓",
    Verdict.NOT_REPRODUCED: "✗",
    Verdict.INCONCLUSIVE: "?",
    Verdict.REPORTED: "○",
    Verdict.NOT_RUN: "·",
}


def run_claims(run: Summary, places: Places) -> str:
    """What one run says of the claims it judges, and what was judged otherwise before."""
    rows, given = [], marks(run)
    for claim in run.claims:
        entry = ledger().get(claim.id)
        statement = claim.statement or (entry.statement if entry else "")
        rows.append(
            _row(
                _linked(claim.id, places.claim(claim.id)),
                statement,
                claim.expected,
                claim,
                claim.verdict,
                notes(given.get(claim.id), run.stale),
                source=escape(entry.where) if entry else "",
            )
        )
    return (f"<h3>Claims</h3>{_table(rows)}" if rows else "") + _changed(run)


def every_claim(lines: Iterable[LedgerLine], places: Places) -> str:
    """The ledger's tables, a theme after the other; those nobody has measured yet are folded."""
    parts = []
    for theme, group in lines_by_theme(lines).items():
        measured = sum(line.claim is not None for line in group)
        rows = [_ledger_row(line, places) for line in group]
        parts.append(
            f"<details class='card' id='theme-{escape(theme)}'{' open' if measured else ''}>"
            f"<summary>{escape(theme)}: {len(group)} claims, {measured} measured</summary>"
            f"{_table(rows)}</details>"
        )
    return "".join(parts)


def lines_by_theme(lines: Iterable[LedgerLine]) -> dict[str, list[LedgerLine]]:
    """The lines of each theme, those of its studies' own criteria behind the ledger's."""
    found: dict[str, list[LedgerLine]] = {}
    for line in lines:
        found.setdefault(line.entry.theme, []).append(line)
    return found


def _ledger_row(line: LedgerLine, places: Places) -> str:
    entry = line.entry
    expected = f"{entry.expected} {entry.where}".strip()
    where = places.run(line.study, line.size) if line.claim else None
    return _row(
        escape(entry.id),
        entry.statement,
        expected,
        line.claim,
        line.verdict,
        line.notes,
        anchor=entry.id,
        source=_linked(f"{line.study} ({line.size})", where) if where else "",
    )


def _changed(run: Summary) -> str:
    """Claims whose criterion or verdict changed after the run, and what they were before."""
    items = "".join(
        f"<li>{escape(change['id'])}, {escape(change['date'])}: {escape(_before(change['was']))}"
        "</li>"
        for change in run.changed
    )
    return (
        f"<p class='soft'>Changed after the run:</p><ul class='soft'>{items}</ul>" if items else ""
    )


def _before(was: Mapping[str, Any] | None) -> str:
    return f"was {was['verdict']}, expected {was['expected']}" if was else "was not judged"


def _table(rows: Iterable[str]) -> str:
    names = ("id", "claim", "expected", "measured", "verdict")
    head = "".join(f"<th>{name}</th>" for name in names)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _row(
    name: str,
    statement: str,
    expected: str,
    claim: Claim | None,
    verdict: Verdict,
    notes: Sequence[str] = (),
    *,
    anchor: str = "",
    source: str = "",
) -> str:
    why = f"<span class='why'>{escape(claim.why)}</span>" if claim and claim.why else ""
    below = f"<span class='why'>{source}</span>" if source else ""
    place = f" id='{escape(anchor)}'" if anchor else ""
    beside = "".join(f"<span class='why'>{escape(note)}</span>" for note in notes)
    return (
        f"<tr{place}><td class='id'>{name}</td><td>{escape(statement)}{why}{below}</td>"
        f"<td data-name='expected'>{escape(expected)}</td>"
        f"<td class='number' data-name='measured'>{escape(measured_text(claim))}</td>"
        f"<td class='verdict {slug(verdict)}'>{_MARKS[verdict]} {verdict.value}{beside}</td></tr>"
    )


def _linked(text: str, where: str | None) -> str:
    return f"<a href='{escape(where)}'>{escape(text)}</a>" if where else escape(text)


def slug(verdict: Verdict) -> str:
    """A verdict as the name of a style."""
    return verdict.value.replace(" ", "-")
