"""`regimes claims`: the ledger, with what has been measured."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from regimes.cli._complete import studies, themes
from regimes.cli._options import (
    JsonOption,
    RefreshOption,
    ResultsOption,
    SourceOption,
    StoreOption,
)
from regimes.cli._output import FAILED, fail, say, say_json, table, user_errors
from regimes.lab import (
    LedgerLine,
    Store,
    Verdict,
    check_source,
    check_study,
    check_theme,
    count_replicated,
    count_verdicts,
    discover,
    known_summaries,
    measured_text,
    results_roots,
    verdicts,
)


def claims(
    study: Annotated[
        str | None,
        typer.Option("--study", help="Only what this study judges.", autocompletion=studies),
    ] = None,
    theme: Annotated[
        str | None, typer.Option("--theme", help="Only this theme.", autocompletion=themes)
    ] = None,
    verdict: Annotated[
        str | None, typer.Option("--verdict", help="Only these, such as 'not reproduced'.")
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit status 1 when a claim was not reproduced.")
    ] = False,
    with_smoke: Annotated[
        bool, typer.Option("--with-smoke", help="Count runs of size smoke too.")
    ] = False,
    store: StoreOption = None,
    results: ResultsOption = None,
    source: SourceOption = "both",
    refresh: RefreshOption = False,
    as_json: JsonOption = False,
) -> None:
    """Show every claim of every paper: expected, measured, verdict; run or not."""
    if verdict is not None and verdict not in set(Verdict):
        fail(f"unknown verdict {verdict!r}; use one of: {', '.join(Verdict)}")
    catalogue = discover()
    with user_errors():
        if study is not None:
            check_study(study, catalogue)
        if theme is not None:
            check_theme(theme, catalogue)
        check_source(source)
    found = known_summaries(
        catalogue, Store(store), results_roots(results), source=source, refresh=refresh
    )
    for summary in found:
        for problem in filter(None, (summary.problem, *(f"stale: {r}" for r in summary.stale))):
            say(f"{summary.study} ({summary.label}): {problem}", error=True)
    wanted = set(catalogue.studies[study].judges) if study else None
    lines = [
        line
        for line in verdicts(found, with_smoke=with_smoke)
        if (wanted is None or line.entry.id in wanted)
        and (theme is None or line.entry.theme == theme)
        and (verdict is None or line.verdict == verdict)
    ]
    counts = count_verdicts(lines)
    if as_json:
        replicated = count_replicated(lines)
        found_lines = [_as_dict(line) for line in lines]
        say_json({"claims": found_lines, "counts": counts, "replicated": replicated})
    else:
        headings = ["id", "verdict", "expected", "measured", "run", "claim"]
        table(headings, [_row(line) for line in lines])
        told = ", ".join(f"{number} {name}" for name, number in counts.items())
        say(f"{told}; {count_replicated(lines)} of the reproduced were replicated on fresh seeds")
    if strict and counts[Verdict.NOT_REPRODUCED.value]:
        raise typer.Exit(FAILED)


def _row(line: LedgerLine) -> list[str]:
    expected = line.claim.expected if line.claim else line.entry.expected
    where = f"{line.study} ({line.size})" if line.claim else ""
    return [
        line.entry.id,
        ", ".join([line.verdict.value, *line.notes]),
        expected,
        measured_text(line.claim),
        where,
        f"{line.entry.statement} {line.entry.where}".rstrip(),
    ]


def _as_dict(line: LedgerLine) -> dict[str, Any]:
    measured = line.claim.as_dict() if line.claim else {}
    return {
        "id": line.entry.id,
        "theme": line.entry.theme,
        "statement": line.entry.statement,
        "where": line.entry.where,
        "document": line.entry.expected,
        "verdict": line.verdict.value,
        "study": line.study or None,
        "size": line.size or None,
        "fresh_seeds": line.mark.value if line.mark else None,
        "stale": list(line.stale),
        **{name: measured.get(name) for name in ("expected", "measured", "error", "why")},
    }
