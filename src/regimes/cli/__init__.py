"""The command line: `regimes run | replicate | claims | report | ...`."""

from __future__ import annotations

import typer

from regimes.cli import (
    _check_results,
    _claims,
    _doctor,
    _replicate,
    _report,
    _results,
    _run,
    _runs,
    _studies,
)
from regimes.cli._typed import RememberWords

__all__ = ["app"]

app = typer.Typer(
    cls=RememberWords,
    help="A laboratory for how neural networks learn.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("studies")(_studies.studies)
app.command("run")(_run.run)
app.command("replicate")(_replicate.replicate)
app.command("claims")(_claims.claims)
app.command("report")(_report.report)
app.add_typer(_runs.app, name="runs")
app.add_typer(_results.app, name="results")
app.command("check-results")(_check_results.check_committed)
app.command("doctor")(_doctor.doctor)
