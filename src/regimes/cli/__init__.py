"""The command line: `regimes studies | run | claims | report | runs | results | doctor`."""

from __future__ import annotations

import typer

from regimes.cli import _claims, _doctor, _report, _results, _run, _runs, _studies

__all__ = ["app"]

app = typer.Typer(
    help="A laboratory for how neural networks learn.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("studies")(_studies.studies)
app.command("run")(_run.run)
app.command("claims")(_claims.claims)
app.command("report")(_report.report)
app.add_typer(_runs.app, name="runs")
app.add_typer(_results.app, name="results")
app.command("doctor")(_doctor.doctor)
