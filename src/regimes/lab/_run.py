"""One run of a study, from its agenda to its summary; scripts and the command line share it."""

from __future__ import annotations

import signal
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from regimes.lab._executors import Executor
from regimes.lab._parameters import changed
from regimes.lab._progress import Progress
from regimes.lab._registry import find
from regimes.lab._results import Summary, announce_run, keep_summary, kept_summary, summarise
from regimes.lab._stop import Stop
from regimes.lab._store import Store, StoreError
from regimes.lab._study import Study
from regimes.lab._sweep import Agenda, SweepReport, agenda, execute


class SummaryError(RuntimeError):
    """The study's own code could not make a summary; its trials are kept."""


@dataclass(frozen=True)
class Request:
    """What was asked for: a study with its parameters, where it is kept and how it is computed."""

    study: Study
    size: str
    params: Any
    store: Store
    dtype: str | None = None
    device: str = "cpu"
    command: str = ""
    label: str | None = None  # the run's own unless one is given

    def agenda(self) -> Agenda:
        """What is to be done; damaged trials are set aside."""
        return agenda(
            self.study, self.params, store=self.store, dtype=self.dtype, device=self.device
        )

    def summary(self) -> Summary:
        """What has been done."""
        return summarise(
            self.study,
            self.size,
            self.params,
            store=self.store,
            dtype=self.dtype,
            command=self.command,
            label=self.label,
        )


def conduct(
    request: Request,
    planned: Agenda,
    *,
    executor: Executor | None = None,
    progress: Progress | None = None,
    grace: float = 10.0,
) -> tuple[SweepReport, Summary]:
    """Announce the run, do what is on the agenda, and keep the summary.

    After a signal the trials in flight have `grace` seconds; the summary is kept all the same.

    Raises:
        SummaryError: the trials ran, but the study fails on them.
    """
    if planned.pending:
        announced = announce_run(
            request.study,
            request.size,
            request.params,
            trials=len(planned.configs),
            dtype=request.dtype,
            command=request.command,
            label=request.label,
        )
        keep_summary(announced, request.store)
    with Stop(grace=grace) as stop:
        report = execute(
            planned,
            store=request.store,
            executor=executor,
            device=request.device,
            progress=progress,
            stop=stop,
        )
    try:
        summary = request.summary()
    except Exception as error:
        raise SummaryError(
            f"the study cannot make a summary; its trials are kept in {request.store.root}"
        ) from error
    if not planned.pending:  # the command that did the work stays
        earlier = kept_summary(request.store, summary.study, summary.label)
        summary = replace(summary, command=earlier.command) if earlier else summary
    try:
        keep_summary(summary, request.store)
    except StoreError:
        if planned.pending:
            raise  # a finished study can be shown from a store that is only for reading
    return report, summary


def run(
    study: str | Study,
    size: str = "smoke",
    *,
    store: Store | None = None,
    executor: Executor | None = None,
    dtype: str | None = None,
    device: str = "cpu",
    progress: Progress | None = None,
    **changes: Any,
) -> Summary:
    """Run what is missing of a study and return its summary: dataset, claims, counts.

    Args:
        study: the study or its name.
        size: "smoke", "cpu" or "paper".
        store: where trials are kept; by default REGIMES_STORE or out/store.
        executor: by default the trials run one after the other in this process.
        dtype: "float32" or "float64"; by default the study's own.
        device: "cpu" or "cuda".
        progress: told of every trial; by default nothing is shown.
        **changes: parameters to be set to other values than the size's own.

    Raises:
        ValueError: a parameter that the study does not have; the nearest ones are named.
        KeyboardInterrupt: after Ctrl-C, when what was in flight has been saved.
    """
    chosen = find(study) if isinstance(study, str) else study
    request = Request(
        chosen,
        size,
        changed(chosen.parameters(size), changes),
        store or Store(),
        dtype,
        device,
        command=_call(chosen.name, size, dtype, device, changes),
    )
    report, summary = conduct(request, request.agenda(), executor=executor, progress=progress)
    if report.interrupted == signal.SIGINT:
        raise KeyboardInterrupt(f"{report.left} trials are left; the same call goes on with them")
    if report.interrupted is not None:
        sys.exit(128 + report.interrupted)
    return summary


def _call(name: str, size: str, dtype: str | None, device: str, changes: Mapping[str, Any]) -> str:
    """The call of `run` that was made, as one would write it.

    >>> _call("a/b", "cpu", None, "cpu", {"d": 5, "start.alpha": (0.1, 1.0)})
    "regimes.lab.run('a/b', 'cpu', d=5, **{'start.alpha': (0.1, 1.0)})"
    """
    words = [repr(name), repr(size)]
    words += [f"dtype={dtype!r}"] if dtype is not None else []
    words += [f"device={device!r}"] if device != "cpu" else []
    words += [f"{key}={value!r}" for key, value in changes.items() if key.isidentifier()]
    rest = {key: value for key, value in changes.items() if not key.isidentifier()}
    return f"regimes.lab.run({', '.join([*words, *([f'**{rest}'] if rest else [])])})"
