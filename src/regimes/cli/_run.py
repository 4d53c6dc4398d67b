"""`regimes run`: run what is missing of a study."""

from __future__ import annotations

import shlex
import signal
import sys
import traceback
from collections.abc import Callable
from typing import Annotated, Any

import typer

from regimes.cli._options import (
    DeviceOption,
    DryRunOption,
    DtypeOption,
    GraceOption,
    JsonOption,
    SetOption,
    SizeOption,
    StoreOption,
    StudyArgument,
    ThreadsOption,
    WorkersOption,
)
from regimes.cli._output import BROKEN, FAILED, fail, say, say_json, user_errors
from regimes.cli._typed import typed
from regimes.cli._wording import claim_rows, duration
from regimes.lab import (
    Agenda,
    Executor,
    ExecutorError,
    InlineExecutor,
    LiveBar,
    LocalExecutor,
    PlainLines,
    Progress,
    RayExecutor,
    Request,
    Silent,
    Store,
    StoreError,
    Summary,
    SummaryError,
    SweepReport,
    conduct,
    find,
    override,
)
from regimes.lab._environment import gpus

_SHOWN_FAILURES = 10


def run(
    study: StudyArgument,
    size: SizeOption = "smoke",
    settings: SetOption = None,
    on: Annotated[str, typer.Option("--on", help="local or ray.")] = "local",
    workers: WorkersOption = None,
    threads: ThreadsOption = None,
    device: DeviceOption = "cpu",
    dtype: DtypeOption = None,
    dry_run: DryRunOption = False,
    store: StoreOption = None,
    address: Annotated[
        str | None,
        typer.Option(
            "--address",
            metavar="HOST:PORT",
            help="Ray: a running cluster, or auto to look for one here [RAY_ADDRESS].",
        ),
    ] = None,
    write: Annotated[
        str, typer.Option("--write", help="Ray: who writes results, driver or worker.")
    ] = "driver",
    grace: GraceOption = 10.0,
    trial_timeout: Annotated[
        float | None,
        typer.Option(
            "--trial-timeout",
            metavar="SECONDS",
            help="A trial that takes longer fails, the others go on. Local workers only.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Run what is missing of a study. The same command again goes on where it was stopped."""
    place = Store(store)
    with user_errors():
        chosen = find(study)
        params = override(chosen.parameters(size), settings or [])
        request = Request(chosen, size, params, place, dtype, device, typed())
        planned = plan(request)
    if dry_run:
        show_agenda(planned, workers, as_json=as_json)
        return
    done, summary = carry_out(
        request,
        planned,
        lambda: executor_of(on, workers, threads, device, address, write, trial_timeout),
        quiet=as_json,
        grace=grace,
    )
    if as_json:
        say_json(outcome(done, summary, place))
    else:
        tell(done, summary)
        for row in claim_rows(summary):
            say("  ".join(row))
        say(f"trials: {place.folder(summary.study)}")
    leave_unless_whole(done)


def plan(request: Request) -> Agenda:
    """What is to be done; trials that were set aside are named."""
    planned = request.agenda()
    for key, why in planned.set_aside.items():
        say(f"trial {key} was damaged ({why}); set aside, to be run again", error=True)
    return planned


def carry_out(
    request: Request,
    planned: Agenda,
    executor: Callable[[], Executor],
    *,
    quiet: bool,
    grace: float,
) -> tuple[SweepReport, Summary]:
    """Run what is on the agenda; what cannot go on is said without a traceback."""
    try:
        with user_errors():
            chosen = executor()
        return conduct(
            request, planned, executor=chosen, progress=_progress(quiet, planned), grace=grace
        )
    except (StoreError, ExecutorError) as error:
        message = error.strerror if isinstance(error, StoreError) else str(error)
        fail(message or str(error), BROKEN)
    except SummaryError as error:
        say("".join(traceback.format_exception(error.__cause__)), error=True)
        fail(str(error), FAILED)


def leave_unless_whole(done: SweepReport) -> None:
    """Exit with the status of a run that was stopped or in which trials failed."""
    if done.interrupted is not None:
        raise typer.Exit(128 + done.interrupted)
    if done.failures:
        raise typer.Exit(FAILED)


def executor_of(
    on: str,
    workers: int | None,
    threads: int | None,
    device: str,
    address: str | None,
    write: str,
    trial_timeout: float | None,
) -> Executor:
    """Where the trials run."""
    if trial_timeout is not None and (on != "local" or workers == 0):
        raise ValueError(
            "--trial-timeout ends a worker process of this machine: "
            "use it with --on local and --workers 1 or more"
        )
    if on == "ray":
        if workers == 0:
            raise ValueError("--workers 0 runs in this process; with --on ray ask for 1 or more")
        return RayExecutor(
            address=address, workers=workers, threads=threads or 1, device=device, write=write
        )
    if on != "local":
        raise ValueError(f"--on must be local or ray, got {on!r}")
    if workers == 0:
        if device == "cuda" and not gpus():
            raise ValueError("device 'cuda' was asked for, but this machine shows no GPU")
        return InlineExecutor()
    return LocalExecutor(workers, threads=threads, device=device, trial_timeout=trial_timeout)


def _progress(as_json: bool, planned: Agenda) -> Progress:
    if as_json or not planned.pending:
        return Silent()
    if sys.stderr.isatty():
        from rich.console import Console

        return LiveBar(Console(stderr=True))
    return PlainLines(say)


def command_of(study: str, size: str, settings: list[str] | None, dtype: str | None) -> str:
    """The shortest command that runs a scan, for messages that say what to do."""
    words = ["regimes", "run", study, "--size", size]
    for setting in settings or []:
        words += ["--set", setting]
    return shlex.join([*words, *(["--dtype", dtype] if dtype else [])])


def show_agenda(planned: Agenda, workers: int | None, *, as_json: bool) -> None:
    """Say what would run and what it may cost."""
    facts: dict[str, Any] = {
        "trials": len(planned.configs),
        "finished": planned.finished,
        "failed_before": planned.failed_before,
        "to_run": len(planned.pending),
        "relative_cost": planned.cost,
        "worker_seconds": planned.worker_seconds,
    }
    if as_json:
        say_json(facts)
        return
    say(
        f"{facts['trials']} trials: {facts['finished']} finished, {facts['to_run']} to run"
        + (f" ({planned.failed_before} of them failed before)" if planned.failed_before else "")
    )
    if planned.worker_seconds is None:
        say(f"relative cost {planned.cost:g}; no trial has finished yet to tell the time from")
    else:
        share = planned.worker_seconds / (workers or 1)
        say(
            f"relative cost {planned.cost:g}, about {duration(planned.worker_seconds)} of work"
            + (f", {duration(share)} on {workers} workers" if workers and workers > 1 else "")
        )
    for task in planned.pending[:5]:
        say(f"  {task.key}  " + ", ".join(f"{k}={v}" for k, v in task.config.point.items()))
    if len(planned.pending) > 5:
        say(f"  ... and {len(planned.pending) - 5} more")


def tell(done: SweepReport, summary: Summary) -> None:
    """Say what was run, and of what failed or is left how to go on."""
    say(
        f"{summary.study} ({summary.label}): {summary.finished} of {summary.trials} trials "
        f"finished, {done.ran} of them now in {duration(done.seconds)}"
        + (f", {done.found} by another run meanwhile" if done.found else "")
    )
    if done.ran and done.estimated_seconds is not None:
        say(
            f"work: {duration(done.busy_seconds)}, "
            f"estimated beforehand {duration(done.estimated_seconds)}"
        )
    if summary.flagged:
        say(f"{summary.flagged} trials returned a NaN or an infinity; they are flagged, not hidden")
    for failure in done.failures[:_SHOWN_FAILURES]:
        where = ", ".join(f"{k}={v}" for k, v in failure.point.items())
        say(f"failed: {where}: {failure.error}  (regimes runs show {failure.key})", error=True)
    if done.failures:
        more = len(done.failures) - _SHOWN_FAILURES
        say(
            (f"... and {more} more failed; " if more > 0 else "")
            + f"{len(done.failures)} trials failed. The same command runs them again: {typed()}",
            error=True,
        )
    if done.interrupted is not None:
        name = signal.Signals(done.interrupted).name
        say(f"stopped by {name} with {done.left} trials to go. To go on: {typed()}", error=True)


def outcome(done: SweepReport, summary: Summary, store: Store) -> dict[str, Any]:
    """What was run, for scripts."""
    return {
        "study": summary.study,
        "label": summary.label,
        "trials": summary.trials,
        "finished": summary.finished,
        "already": done.already,
        "ran": done.ran,
        "found": done.found,
        "left": done.left,
        "flagged": summary.flagged,
        "failed": [
            {"key": item.key, "point": dict(item.point), "error": item.error}
            for item in done.failures
        ],
        "interrupted": done.interrupted,
        "seconds": done.seconds,
        "busy_seconds": done.busy_seconds,
        "estimated_seconds": done.estimated_seconds,
        "claims": [claim.as_dict() for claim in summary.claims],
        "store": str(store.root),
    }
