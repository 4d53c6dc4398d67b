"""`regimes report`: one HTML page of everything that has run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from regimes.cli._options import RefreshOption, ResultsOption, SourceOption, StoreOption
from regimes.cli._output import BROKEN, fail, say
from regimes.lab import (
    Store,
    discover,
    known_summaries,
    report_html,
    report_section,
    results_roots,
)


def report(
    out: Annotated[str, typer.Option("--out", help="The page to write.")] = "out/report.html",
    study: Annotated[
        list[str] | None, typer.Option("--study", help="Only this study; may be repeated.")
    ] = None,
    with_smoke: Annotated[
        bool, typer.Option("--with-smoke", help="Show smoke runs of studies with larger ones too.")
    ] = False,
    store: StoreOption = None,
    results: ResultsOption = None,
    source: SourceOption = "both",
    refresh: RefreshOption = False,
) -> None:
    """Write figures, claims and the whole ledger to one page that works without a network."""
    catalogue = discover()
    found = known_summaries(
        catalogue, Store(store), results_roots(results), source=source, refresh=refresh
    )
    if study:
        found = [summary for summary in found if summary.study in study]
        absent = sorted(set(study) - {summary.study for summary in found})
        if absent:
            fail(f"nothing has run of {', '.join(absent)}; start with: regimes run {absent[0]}")
    larger = {summary.study for summary in found if summary.size != "smoke"}
    if not with_smoke:
        found = [item for item in found if item.size != "smoke" or item.study not in larger]
    sections = [report_section(item, catalogue.studies.get(item.study)) for item in found]
    path = Path(out).absolute()
    page = report_html(sections)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page, encoding="utf-8")
    except OSError as error:
        fail(f"cannot write the page to {path}: {error.strerror}; choose another --out", BROKEN)
    for part in sections:
        stale = (f"stale: {reason}" for reason in part.summary.stale)
        for problem in filter(None, (part.summary.problem, *stale, part.problem)):
            say(f"{part.summary.study} ({part.summary.label}): {problem}", error=True)
    say(f"{len(sections)} runs, {len(page.encode()) / 2**20:.1f} MiB")
    say(str(path))
