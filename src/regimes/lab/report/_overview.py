"""What there is: a card for every study, and the ledger at a glance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from regimes.lab._claims import Verdict
from regimes.lab._verdicts import LedgerLine, count_replicated, count_verdicts
from regimes.lab.report._claims import lines_by_theme, slug
from regimes.lab.report._places import Places
from regimes.lab.report._run import size_text, tally_text, trials_text
from regimes.lab.report._section import Section, by_theme
from regimes.lab.report._thumbnail import thumbnail

_SETTLED = (Verdict.REPRODUCED, Verdict.NOT_REPRODUCED, Verdict.REPORTED)


def study_cards(studies: Mapping[str, list[Section]], places: Places) -> str:
    """One card a study, by theme: a picture, what it is about, what came out."""
    if not studies:
        return "<h2>Studies</h2><p class='soft'>No run was found in the store or in results.</p>"
    return "".join(
        f"<h2 id='studies-{escape(theme)}'>{escape(theme)}</h2><div class='cards'>"
        + "".join(_card(name, studies[name], places) for name in names)
        + "</div>"
        for theme, names in by_theme(studies).items()
    )


def _card(name: str, runs: Sequence[Section], places: Places) -> str:
    first = " ".join(runs[0].description.split("\n\n")[0].replace("`", "").split())
    states = "".join(
        f"<span class='state'><b>{escape(size_text(part.summary))}</b>: "
        f"{escape('; '.join(filter(None, (trials_text(part.summary), tally_text(part.summary)))))}"
        "</span>"
        for part in runs
    )
    picture = next(filter(None, map(thumbnail, runs[0].figures.values())), "")
    what = name.partition("/")[2]
    return (
        f"<a href='{escape(places.study(name))}'>{picture}<b>{escape(what)}</b>"
        f"<span>{escape(first)}</span>{states}</a>"
    )


def glance(lines: Sequence[LedgerLine], places: Places) -> str:
    """How many claims have which verdict, and one square for each of them."""
    counts = count_verdicts(lines)
    boxes = "".join(
        f"<div class='count {slug(verdict)}'><b class='verdict {slug(verdict)}'>"
        f"{counts[verdict.value]}</b><span>{verdict.value}</span></div>"
        for verdict in Verdict
    )
    boxes += f"<div class='count'><b>{count_replicated(lines)}</b><span>replicated</span></div>"
    rows = []
    for theme, group in lines_by_theme(lines).items():
        settled = sum(line.verdict in _SETTLED for line in group)
        cells = "".join(_cell(line, places) for line in group)
        rows.append(
            f"<div class='theme'><b>{escape(theme)}</b><div class='cells'>{cells}</div>"
            f"<span class='soft'>{settled} of {len(group)}</span></div>"
        )
    return (
        f"<h2 id='glance'>The ledger at a glance</h2><div class='counts'>{boxes}</div>"
        f"<div class='card'>{''.join(rows)}</div>"
        "<p class='soft'>One square per claim. Runs of size smoke are too small to count here. "
        "Replicated claims were reproduced twice, the second time on fresh seeds.</p>"
    )


def _cell(line: LedgerLine, places: Places) -> str:
    entry = line.entry
    told = escape(f"{entry.id}: {entry.statement} ({line.verdict.value})")
    where = escape(places.claim(entry.id) or places.ledger)
    return f"<a class='cell {slug(line.verdict)}' href='{where}' title='{told}'></a>"
