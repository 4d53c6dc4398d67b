"""The whole way in one call, for scripts and notebooks."""

from __future__ import annotations

import dataclasses
import signal
import sys
from typing import Any

from regimes.lab._executors import Executor
from regimes.lab._progress import Progress
from regimes.lab._registry import find
from regimes.lab._results import Summary, keep_summary, summarise
from regimes.lab._stop import Stop
from regimes.lab._store import Store
from regimes.lab._study import Study
from regimes.lab._sweep import execute, plan


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
        KeyboardInterrupt: after Ctrl-C, when what was in flight has been saved.
    """
    chosen = find(study) if isinstance(study, str) else study
    params = dataclasses.replace(chosen.parameters(size), **changes)
    store = store or Store()
    with Stop() as stop:
        report = execute(
            plan(chosen, params, store=store, dtype=dtype, device=device),
            store=store,
            executor=executor,
            device=device,
            progress=progress,
            stop=stop,
        )
    command = f"regimes.lab.run({chosen.name!r}, {size!r})"
    summary = summarise(chosen, size, params, store=store, dtype=dtype, command=command)
    keep_summary(summary, store)
    if report.interrupted == signal.SIGINT:
        raise KeyboardInterrupt(f"{report.left} trials are left; the same call goes on with them")
    if report.interrupted is not None:
        sys.exit(128 + report.interrupted)
    return summary
