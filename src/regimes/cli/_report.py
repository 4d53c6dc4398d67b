"""`regimes report`: pages of what has run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from regimes.cli._complete import studies, themes
from regimes.cli._options import RefreshOption, ResultsOption, SourceOption, StoreOption
from regimes.cli._output import BROKEN, fail, say, user_errors
from regimes.lab import (
    SIZES,
    Store,
    Summary,
    check_source,
    check_study,
    check_theme,
    discover,
    known_summaries,
    report_folder,
    report_html,
    report_section,
    results_roots,
    verdicts,
)


def report(
    out: Annotated[
        str, typer.Option("--out", help="A folder, or a file that ends in .html.")
    ] = "out/report",
    study: Annotated[
        list[str] | None,
        typer.Option("--study", help="Only this study; may be repeated.", autocompletion=studies),
    ] = None,
    theme: Annotated[
        str | None, typer.Option("--theme", help="Only this theme.", autocompletion=themes)
    ] = None,
    size: Annotated[str | None, typer.Option("--size", help="Only runs of this size.")] = None,
    with_smoke: Annotated[
        bool, typer.Option("--with-smoke", help="Show smoke runs of studies with larger ones too.")
    ] = False,
    store: StoreOption = None,
    results: ResultsOption = None,
    source: SourceOption = "both",
    refresh: RefreshOption = False,
) -> None:
    """Write figures and claims of all that has run, in pages that work without a network.

    A folder gets an index, a page a study and every claim. A file that ends in .html holds all it
    needs, to be sent to somebody: best for one study or theme.
    """
    catalogue = discover()
    with user_errors():
        if theme is not None:
            check_theme(theme, catalogue)
        if size is not None and size not in SIZES:
            raise ValueError(f"unknown size {size!r}; use one of: {', '.join(SIZES)}")
        check_source(source)
    found = known_summaries(
        catalogue, Store(store), results_roots(results), source=source, refresh=refresh
    )
    with user_errors():
        for name in set(study or ()) - {summary.study for summary in found}:
            check_study(name, catalogue)
    found = _chosen(found, study or [], theme, size, with_smoke=with_smoke)
    lines = None
    if study:
        lines = []  # a page about a study says nothing of all that was not run
    elif theme is not None:
        lines = [line for line in verdicts(found) if line.entry.theme == theme]
    sections = [report_section(item, catalogue.studies.get(item.study)) for item in found]
    path = Path(out).absolute()
    if path.suffix == ".html":
        title = f"regimes: {', '.join(study)}" if study else f"regimes: {theme or 'report'}"
        files = {path: report_html(sections, lines, title=title)}
        first = path
    else:
        files = {path / name: text for name, text in report_folder(sections, lines).items()}
        first = path / "index.html"
    _write(files)
    for part in sections:
        stale = (f"stale: {reason}" for reason in part.summary.stale)
        for problem in filter(None, (part.summary.problem, *stale, part.problem)):
            say(f"{part.summary.study} ({part.summary.label}): {problem}", error=True)
    size_told = sum(len(text.encode()) for text in files.values()) / 2**20
    say(f"{len(sections)} runs, {len(files)} files, {size_told:.1f} MiB")
    say(str(first))


def _chosen(
    found: list[Summary],
    study: list[str],
    theme: str | None,
    size: str | None,
    *,
    with_smoke: bool,
) -> list[Summary]:
    """The runs that were asked for; smoke runs only of studies that have no other."""
    if study:
        found = [summary for summary in found if summary.study in study]
    if theme is not None:
        found = [summary for summary in found if summary.study.startswith(f"{theme}/")]
    if size is not None:
        found = [summary for summary in found if summary.size == size]
    larger = {summary.study for summary in found if summary.size != "smoke"}
    absent = sorted(set(study) - {summary.study for summary in found})
    if absent:
        of = f" of size {size}" if size else ""
        fail(f"nothing{of} has run of {', '.join(absent)}; start with: regimes run {absent[0]}")
    if with_smoke:
        return found
    return [item for item in found if item.size != "smoke" or item.study not in larger]


def _write(files: Mapping[Path, str]) -> None:
    for path, text in files.items():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            why = f"cannot write the page to {path}: {error.strerror}; choose another --out"
            fail(why, BROKEN)
