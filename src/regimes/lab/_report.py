"""One self-contained HTML page: the ledger at a glance, then every run with its figures."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib import resources
from itertools import groupby
from typing import Any

from regimes.lab._claims import Claim, Verdict
from regimes.lab._ledger import ledger
from regimes.lab._overrides import shown
from regimes.lab._progress import duration
from regimes.lab._replicate import marks, notes
from regimes.lab._results import Summary
from regimes.lab._study import Study
from regimes.lab._verdicts import LedgerLine, count_replicated, count_verdicts, verdicts
from regimes.lab.draw import PARTNERS

_MARKS = {
    Verdict.REPRODUCED: "✓",
    Verdict.NOT_REPRODUCED: "✗",
    Verdict.INCONCLUSIVE: "?",
    Verdict.REPORTED: "○",
    Verdict.NOT_RUN: "·",
}


@dataclass(frozen=True)
class Section:
    """One run on the page: its summary and the figures drawn from it."""

    summary: Summary
    description: str
    figures: Mapping[str, Any]  # title -> plotly figure
    problem: str = ""  # why there are no figures


def report_section(summary: Summary, study: Study | None) -> Section:
    """A run with its figures; what goes wrong in drawing them is said on the page."""
    if summary.damaged:
        return Section(summary, study.description if study else "", {})
    if study is None:
        return Section(summary, "", {}, "The study's code was not found, so there are no figures.")
    if summary.dataset is None:
        return Section(summary, study.description, {}, "No trial has finished yet.")
    try:
        figures = dict(study.figures(summary.dataset))
    except Exception as error:  # a study's own code; the page must still be made
        why = f"The figures could not be drawn: {type(error).__name__}: {error}"
        return Section(summary, study.description, {}, why)
    return Section(summary, study.description, figures)


def report_html(sections: Sequence[Section], *, title: str = "regimes: report") -> str:
    """The page as text. It needs no network, fits a phone, and follows light or dark mode."""
    lines = verdicts((part.summary for part in sections), with_smoke=False)
    anchors = {id(part): f"run-{number}" for number, part in enumerate(sections)}
    body = [
        _head(title, sections),
        "<main>",
        _overview(lines),
        _contents(sections, anchors),
        *(_run(part, anchors[id(part)]) for part in sections),
        _full_ledger(lines),
        "</main>",
        "<footer>Made by <code>regimes report</code>. Everything on this page is in this one file."
        "</footer>",
    ]
    drawing = ""
    if any(part.figures for part in sections):
        from plotly.offline import get_plotlyjs

        partners = json.dumps(PARTNERS)
        drawing = f"<script>{get_plotlyjs()}\nconst PARTNERS = {partners};</script>"
    return (
        "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        f"<title>{escape(title)}</title><style>{_asset('report.css')}</style></head>\n<body>"
        + "\n".join(body)
        + f"{drawing}<script>{_asset('report.js')}</script></body></html>\n"
    )


def _asset(name: str) -> str:
    return resources.files("regimes.lab").joinpath(name).read_text(encoding="utf-8")


def _head(title: str, sections: Sequence[Section]) -> str:
    dates = sorted(part.summary.created for part in sections if not part.summary.damaged)
    when = f"Results of {escape(dates[-1][:10])}. " if dates else "Nothing has run yet. "
    return (
        f"<header><h1>{escape(title)}</h1><p class='soft'>{when}"
        f"{len(ledger())} claims of the papers, and what has been measured of them."
        "</p></header>"
    )


def _overview(lines: Sequence[LedgerLine]) -> str:
    counts = count_verdicts(lines)
    boxes = "".join(
        f"<div class='count {_slug(verdict)}'><b class='verdict {_slug(verdict)}'>"
        f"{counts[verdict.value]}</b><span>{verdict.value}</span></div>"
        for verdict in Verdict
    )
    boxes += f"<div class='count'><b>{count_replicated(lines)}</b><span>replicated</span></div>"
    rows = []
    for theme, members in groupby(lines, key=lambda line: line.entry.theme):
        group = list(members)
        settled = sum(line.verdict in _SETTLED for line in group)
        cells = "".join(
            f"<a class='cell {_slug(line.verdict)}' href='#{escape(line.entry.id)}' "
            f"title='{escape(f'{line.entry.id}: {line.entry.statement} ({line.verdict.value})')}'>"
            "</a>"
            for line in group
        )
        rows.append(
            f"<div class='theme'><b>{escape(theme)}</b><div class='cells'>{cells}</div>"
            f"<span class='soft'>{settled} of {len(group)}</span></div>"
        )
    return (
        f"<h2>The ledger at a glance</h2><div class='counts'>{boxes}</div>"
        f"<div class='card'>{''.join(rows)}</div>"
        "<p class='soft'>One square per claim. Runs of size smoke are too small to count here. "
        "Replicated claims were reproduced twice, the second time on fresh seeds.</p>"
    )


_SETTLED = (Verdict.REPRODUCED, Verdict.NOT_REPRODUCED, Verdict.REPORTED)


def _contents(sections: Sequence[Section], anchors: Mapping[int, str]) -> str:
    if not sections:
        return "<h2>Studies</h2><p class='soft'>No run was found in the store or in results.</p>"
    cards = []
    for part in sections:
        run = part.summary
        tally = Counter(claim.verdict for claim in run.claims)
        marks = ", ".join(f"{tally[v]} {v.value}" for v in Verdict if tally[v])
        cards.append(
            f"<a href='#{anchors[id(part)]}'><b>{escape(run.study)}</b>"
            f"<span>{escape(run.label)}, {_trials(run)}{'; ' + marks if marks else ''}</span></a>"
        )
    return f"<h2>Studies</h2><div class='toc'>{''.join(cards)}</div>"


def _trials(run: Summary) -> str:
    if run.damaged:
        return "damaged"
    return f"{run.trials} trials" if run.complete else f"{run.finished} of {run.trials} trials"


def _run(part: Section, anchor: str) -> str:
    run = part.summary
    if run.damaged:
        return (
            f"<section class='card' id='{anchor}'><h2 style='margin-top:0'>{escape(run.study)}"
            f"</h2>{_paragraphs(part.description)}{_alarm(run.problem)}</section>"
        )
    chips = [(run.label, False), (_trials(run), not run.complete), (run.dtype, False)]
    within = f" within {duration(run.wall_seconds)}" if run.wall_seconds else ""
    chips.append((f"{duration(run.trial_seconds)} of computing{within}", False))
    if run.failed:
        chips.append((f"{run.failed} failed", True))
    if run.stale:
        chips.append(("stale", True))
    if run.flagged:
        chips.append((f"{run.flagged} with NaN or infinity", True))
    shown_chips = "".join(
        f"<li{' class=warn' if warn else ''}>{escape(text)}</li>" for text, warn in chips
    )
    figures = "".join(
        _figure(f"{anchor}-{number}", title, figure)
        for number, (title, figure) in enumerate(part.figures.items())
    )
    stale = [f"This record is stale: {reason}." for reason in run.stale]
    problem = "".join(_alarm(text) for text in (run.problem, *stale, part.problem) if text)
    return (
        f"<section class='card' id='{anchor}'><h2 style='margin-top:0'>{escape(run.study)}</h2>"
        f"{_paragraphs(part.description)}<ul class='chips'>{shown_chips}</ul>{problem}{figures}"
        f"{_claims(run)}{_changed(run)}{_small_print(run)}</section>"
    )


def _alarm(text: str) -> str:
    return f"<p class='verdict not-reproduced'>{escape(text)}</p>"


def _paragraphs(text: str) -> str:
    """Paragraphs of a docstring, what stands in backticks as code."""
    made = "".join(f"<p>{escape(' '.join(part.split()))}</p>" for part in text.split("\n\n"))
    return re.sub(r"`([^`<]+)`", r"<code>\1</code>", made)


def _figure(name: str, title: str, figure: Any) -> str:
    spec = json.loads(figure.to_json())
    spec["layout"].pop("template", None)  # the page brings its own, for light and dark
    caption = (spec["layout"].get("meta") or {}).get("caption", "")
    data = json.dumps(spec, separators=(",", ":")).replace("<", "\\u003c")
    return (
        f"<figure><h3>{escape(title)}</h3><div class='plot' data-figure='{name}'></div>"
        f"<script type='application/json' id='{name}'>{data}</script>"
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )


def _claims(run: Summary) -> str:
    rows, given = [], marks(run)
    for claim in run.claims:
        entry = ledger().get(claim.id)
        statement = claim.statement or (entry.statement if entry else "")
        beside = notes(given.get(claim.id), run.stale)
        rows.append(
            _row(claim.id, statement, claim.expected, claim, claim.verdict, beside, anchor=False)
        )
    return f"<h3>Claims</h3>{_table(rows)}" if rows else ""


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


def _full_ledger(lines: Sequence[LedgerLine]) -> str:
    parts = ["<h2>Every claim</h2>"]
    for theme, members in groupby(lines, key=lambda line: line.entry.theme):
        group = list(members)
        rows = []
        for line in group:
            entry = line.entry
            expected = f"{entry.expected} {entry.where}".strip()
            rows.append(
                _row(entry.id, entry.statement, expected, line.claim, line.verdict, line.notes)
            )
        parts.append(
            f"<details class='card'><summary>{escape(theme)}: {len(group)} claims</summary>"
            f"{_table(rows)}</details>"
        )
    return "".join(parts)


def _table(rows: Iterable[str]) -> str:
    names = ("id", "claim", "expected", "measured", "verdict")
    head = "".join(f"<th>{name}</th>" for name in names)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _row(
    id: str,
    statement: str,
    expected: str,
    claim: Claim | None,
    verdict: Verdict,
    notes: Sequence[str] = (),
    *,
    anchor: bool = True,
) -> str:
    why = f"<span class='why'>{escape(claim.why)}</span>" if claim and claim.why else ""
    place = f" id='{escape(id)}'" if anchor else ""
    beside = "".join(f"<span class='why'>{escape(note)}</span>" for note in notes)
    return (
        f"<tr{place}><td class='id'>{escape(id)}</td><td>{escape(statement)}{why}</td>"
        f"<td data-name='expected'>{escape(expected)}</td>"
        f"<td class='number' data-name='measured'>{escape(measured_text(claim))}</td>"
        f"<td class='verdict {_slug(verdict)}'>{_MARKS[verdict]} {verdict.value}{beside}</td></tr>"
    )


def measured_text(claim: Claim | None) -> str:
    """A measured value with its error, as short as it can be.

    >>> measured_text(Claim.near("X-1", 0.512, 0.5, 0.1, error=0.031))
    '0.512 ± 0.031'
    """
    if claim is None or claim.measured is None:
        return "–"
    spread = f" ± {claim.error:.2g}" if claim.error is not None else ""
    return f"{claim.measured:.4g}{spread}"


def _small_print(run: Summary) -> str:
    params = "".join(
        f"<dt>{escape(name)}</dt><dd>{escape(shown(value))}</dd>"
        for name, value in _flat(run.params).items()
    )
    machine, software = run.environment["machine"], run.environment["versions"]
    facts = {
        "summary made on": f"{machine['processor']}, {machine['cores']} cores, {machine['system']}",
        "trials ran on": "; ".join(run.machines),
        "versions": ", ".join(f"{name} {version}" for name, version in software.items()),
        "commit": run.environment["commit"] or "unknown",
        "made": run.created,
    }
    if run.replication is not None:
        again = run.replication
        facts["on fresh seeds"] = f"{again.command} ({again.created}; {'; '.join(again.machines)})"
    environment = "".join(f"<dt>{k}</dt><dd>{escape(v)}</dd>" for k, v in facts.items())
    command = f"<pre>{escape(run.command)}</pre>" if run.command else ""
    return (
        f"<details><summary>Parameters and environment</summary>{command}"
        f"<dl>{params}</dl><dl>{environment}</dl></details>"
    )


def _flat(params: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters by name, those of blocks as `block.name`."""
    found: dict[str, Any] = {}
    for name, value in params.items():
        own = (
            {f"{name}.{part}": each for part, each in value.items()}
            if isinstance(value, Mapping)
            else {name: value}
        )
        found |= own
    return found


def _slug(verdict: Verdict) -> str:
    return verdict.value.replace(" ", "-")
