"""The command line: `regimes run | replicate | claims | report | ...`."""

from __future__ import annotations

import errno
from typing import Annotated, Any

import typer

from regimes import __version__
from regimes.cli import (
    _check_results,
    _claims,
    _diagnose,
    _docs,
    _doctor,
    _replicate,
    _report,
    _results,
    _run,
    _runs,
    _studies,
)
from regimes.cli._output import BROKEN, fail, say
from regimes.cli._typed import RememberWords

__all__ = ["app"]


class _Commands(RememberWords):
    """Disks and files that do not do what they should are told in one sentence."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except OSError as error:
            if error.errno == errno.EPIPE:  # whoever was reading has enough
                raise
            place = f": {error.filename}" if error.filename else ""
            fail(f"{error.strerror or error}{place}", BROKEN)


def _tell(asked: bool) -> None:
    if asked:
        say(f"regimes {__version__}")
        raise typer.Exit


app = typer.Typer(
    cls=_Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def main(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Show the version and leave.", is_eager=True, callback=_tell
        ),
    ] = False,
) -> None:
    """A laboratory for how neural networks learn."""


app.command("studies")(_studies.studies)
app.command("run")(_run.run)
app.command("replicate")(_replicate.replicate)
app.command("claims")(_claims.claims)
app.command("report")(_report.report)
app.add_typer(_runs.app, name="runs")
app.add_typer(_results.app, name="results")
app.command("check-results")(_check_results.check_committed)
app.command("diagnose")(_diagnose.diagnose)
app.command("docs")(_docs.docs)
app.command("doctor")(_doctor.doctor)
