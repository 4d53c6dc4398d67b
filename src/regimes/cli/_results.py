"""`regimes results save`: keep the summary of a run in the folder that is committed."""

from __future__ import annotations

from typing import Annotated

import typer

from regimes.cli._options import DtypeOption, ResultsOption, SetOption, SizeOption, StoreOption
from regimes.cli._output import FAILED, fail, say, user_errors
from regimes.cli._run import command_of
from regimes.cli._typed import typed
from regimes.lab import Store, find, kept_summary, label_of, override, save_results, summarise

app = typer.Typer(help="Results that last: summaries to be committed.", no_args_is_help=True)


@app.callback()
def results() -> None:
    """Keep `save` a command of its own although it is the only one."""


@app.command("save")
def save(
    study: Annotated[str, typer.Argument(help="The study's name.")],
    size: SizeOption = "cpu",
    settings: SetOption = None,
    dtype: DtypeOption = None,
    partial: Annotated[
        bool, typer.Option("--partial", help="Save although trials are missing.")
    ] = False,
    store: StoreOption = None,
    results: ResultsOption = None,
) -> None:
    """Write dataset, claims, environment and command of a run to the results folder."""
    place = Store(store)
    with user_errors():
        chosen = find(study)
        params = override(chosen.parameters(size), settings or [])
        ran = kept_summary(place, study, label_of(chosen, size, params, dtype))
        command = ran.command if ran is not None else typed()  # of the run, where it is known
        summary = summarise(chosen, size, params, store=place, dtype=dtype, command=command)
    if not summary.complete and not (partial and summary.finished):
        fail(
            f"{summary.finished} of {summary.trials} trials are finished; run the rest with "
            f"`{command_of(study, size, settings, dtype)}`"
            + (", or save what there is with --partial" if summary.finished else ""),
            FAILED,
        )
    folder = save_results(summary, results)
    size_kib = sum(path.stat().st_size for path in folder.iterdir()) / 1024
    say(f"{len(summary.claims)} claims, {size_kib:.0f} KiB")
    say(str(folder))
