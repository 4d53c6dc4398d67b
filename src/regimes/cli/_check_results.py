"""`regimes check-results`: the committed records, judged again."""

from __future__ import annotations

import itertools
from typing import Annotated

import typer

from regimes.cli._options import ResultsOption
from regimes.cli._output import FAILED, say, user_errors
from regimes.lab import check_results, check_study, discover, results_root, results_roots


def check_committed(
    update: Annotated[
        bool,
        typer.Option("--update", help="Rewrite the claims after the judging code was changed."),
    ] = False,
    study: Annotated[
        list[str] | None, typer.Option("--study", help="Only this study; may be repeated.")
    ] = None,
    results: ResultsOption = None,
) -> None:
    """Judge every committed record again from its data; exit status 1 on any difference."""
    catalogue = discover()
    # what comes with the package is judged, but never written to
    roots = (results_root(results),) if update else results_roots(results)
    for name in study or []:
        with user_errors():
            check_study(name, catalogue)
    checked = []
    each = (check_results(catalogue, root, only=study or [], update=update) for root in roots)
    for record in itertools.chain.from_iterable(each):
        checked.append(record)
        name = f"{record.study} ({record.label})"
        for line in record.changes:
            say(f"{name}: changed: {line}")
        for line in record.remarks:
            say(f"{name}: stale: {line}")
        for line in record.problems:
            say(f"{name}: {line}", error=True)
    bad = sum(bool(record.problems) for record in checked)
    say(
        f"{len(checked)} records with {sum(record.claims for record in checked)} claims: "
        + (f"{sum(record.rewritten for record in checked)} rewritten, " if update else "")
        + f"{bad} with differences"
    )
    if bad:
        if not update:
            say("if the judging code was changed on purpose: regimes check-results --update")
        raise typer.Exit(FAILED)
