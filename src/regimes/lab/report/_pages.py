"""Pages: one file that holds all it needs, or a folder with an index and a page for each study."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from importlib import resources

from regimes.lab._ledger import ledger
from regimes.lab._verdicts import LedgerLine, verdicts
from regimes.lab.draw import PARTNERS
from regimes.lab.report._claims import every_claim
from regimes.lab.report._navigation import navigation
from regimes.lab.report._overview import glance, study_cards
from regimes.lab.report._places import CLAIMS, INDEX, Places, study_anchor
from regimes.lab.report._run import run_html
from regimes.lab.report._section import Section, by_study

_STYLE, _SCRIPT, _PLOTLY = "report.css", "report.js", "plotly.min.js"


def report_html(
    sections: Sequence[Section],
    lines: Sequence[LedgerLine] | None = None,
    *,
    title: str = "regimes: report",
) -> str:
    """One page as text: figures first, the ledger last. It needs no network and no other file.

    Args:
        sections: the runs to be shown.
        lines: of the ledger; by default every one, and none leaves the ledger out.
        title: of the page.
    """
    lines = _all_lines(sections) if lines is None else lines
    studies = by_study(sections)
    places = Places(None, frozenset(line.entry.id for line in lines))
    body = "".join(
        f"<div id='{study_anchor(name)}'>{_study(runs, places)}</div>"
        for name, runs in studies.items()
    )
    if len(studies) != 1:
        body = study_cards(studies, places) + body
    if lines:
        body += (
            glance(lines, places) + f"<h2 id='claims'>Every claim</h2>{every_claim(lines, places)}"
        )
    shown = next(iter(studies)) if len(studies) == 1 else ""
    needed = [f"<style>{_style()}</style>"]
    if any(part.figures for part in sections):
        needed.append(f"<script>{_plotly()}</script>")
    script = f"<script>{_script()}</script>"
    beside = navigation(studies, places, here=shown, claims=bool(lines))
    return _page(title, "".join(needed), beside, _head(title, sections, lines) + body, script)


def report_folder(
    sections: Sequence[Section], lines: Sequence[LedgerLine] | None = None
) -> dict[str, str]:
    """The files of a report by name: an index, a page a study, every claim, and what they share."""
    lines = _all_lines(sections) if lines is None else lines
    studies, known = by_study(sections), frozenset(line.entry.id for line in lines)

    def page(title: str, root: str, body: str, here: str = "") -> str:
        needed = f"<link rel='stylesheet' href='{root}{_STYLE}'>"
        if here:
            needed += f"<script defer src='{root}{_PLOTLY}'></script>"
        needed += f"<script defer src='{root}{_SCRIPT}'></script>"
        beside = navigation(studies, Places(root, known), here=here, claims=bool(lines))
        return _page(title, needed, beside, body)

    top = Places("", known)
    index = _head("regimes: report", sections, lines) + study_cards(studies, top)
    files = {_STYLE: _style(), _SCRIPT: _script()}
    if lines:
        index += glance(lines, top)
        head = "<header><h1>Every claim</h1></header>"
        files[CLAIMS] = page("Every claim - regimes", "", head + every_claim(lines, top))
    files[INDEX] = page("regimes: report", "", index)
    for name, runs in studies.items():
        body = f"<header><h1>{escape(name)}</h1></header>{_study(runs, Places('../', known))}"
        sizes = ", ".join(part.summary.label for part in runs)
        files[f"{name}.html"] = page(f"{name} ({sizes}) - regimes", "../", body, here=name)
    if any(part.figures for part in sections):
        files[_PLOTLY] = _plotly()
    return files


def _all_lines(sections: Sequence[Section]) -> list[LedgerLine]:
    return verdicts((part.summary for part in sections), with_smoke=False)


def _study(runs: Sequence[Section], places: Places) -> str:
    return "".join(
        run_html(part, places, described=number == 0) for number, part in enumerate(runs)
    )


def _head(title: str, sections: Sequence[Section], lines: Sequence[LedgerLine]) -> str:
    dates = sorted(part.summary.created for part in sections if not part.summary.damaged)
    when = f"Results of {escape(dates[-1][:10])}. " if dates else "Nothing has run yet. "
    claims = f"{len(ledger())} claims of the papers, and what has been measured of them."
    return (
        f"<header><h1>{escape(title)}</h1><p class='soft'>{when}{claims if lines else ''}</p>"
        "</header>"
    )


def _page(title: str, needed: str, beside: str, body: str, script: str = "") -> str:
    return (
        "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        f"<title>{escape(title)}</title>{needed}</head>\n<body id='top'>{beside}<main>{body}"
        "<footer>Made by <code>regimes report</code>. It needs no network.</footer></main>"
        f"{script}</body></html>\n"
    )


def _style() -> str:
    """The style sheet, with the one palette of the figures for the small pictures."""

    def tones(side: int) -> str:
        return "".join(f"--c{k}:{pair[side]};" for k, pair in enumerate(PARTNERS))

    dark = f"@media (prefers-color-scheme: dark) {{ :root {{ {tones(1)} }} }}"
    return f":root {{ {tones(0)} }}\n{dark}\n{_asset('page.css')}"


def _script() -> str:
    return f"const PARTNERS = {json.dumps(PARTNERS)};\n{_asset('figure.js')}{_asset('page.js')}"


def _plotly() -> str:
    from plotly.offline import get_plotlyjs

    return get_plotlyjs()


def _asset(name: str) -> str:
    return resources.files("regimes.lab.report").joinpath(name).read_text(encoding="utf-8")
