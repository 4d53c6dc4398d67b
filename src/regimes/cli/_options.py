"""Options that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

from regimes.cli._complete import settings, sizes, studies

StoreOption = Annotated[
    str | None,
    typer.Option("--store", metavar="FOLDER", help="Trials on disk [REGIMES_STORE or out/store]."),
]
ResultsOption = Annotated[
    str | None,
    typer.Option(
        "--results", metavar="FOLDER", help="Committed results [REGIMES_RESULTS or results]."
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Answer in JSON, for scripts.")]
StudyArgument = Annotated[
    str,
    typer.Argument(help="The study's name, as `regimes studies` lists it.", autocompletion=studies),
]
SizeOption = Annotated[
    str, typer.Option("--size", help="smoke (seconds), cpu or paper.", autocompletion=sizes)
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Change a parameter; may be repeated. `--set help` lists them.",
        autocompletion=settings,
    ),
]
DtypeOption = Annotated[
    str | None, typer.Option("--dtype", help="float32 or float64; else the study's own.")
]
SourceOption = Annotated[
    str, typer.Option("--from", help="Where to look for runs: both, store or results.")
]
RefreshOption = Annotated[
    bool, typer.Option("--refresh", help="Compute summaries anew from the trials in the store.")
]
WorkersOption = Annotated[
    int | None,
    typer.Option(
        "--workers",
        min=0,
        help="Worker processes; 0 runs in this process; else one per core, or per GPU with cuda.",
    ),
]
ThreadsOption = Annotated[
    int | None, typer.Option("--threads", min=1, help="CPU threads for each worker.")
]
DeviceOption = Annotated[str, typer.Option("--device", help="cpu or cuda.")]
DryRunOption = Annotated[
    bool, typer.Option("--dry-run", help="Say what would run and what it may cost.")
]
GraceOption = Annotated[
    float, typer.Option("--grace", min=0, help="Seconds for trials in flight after Ctrl-C.")
]
