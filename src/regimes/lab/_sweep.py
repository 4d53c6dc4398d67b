"""One run of a study: find what is done, run the rest, account for every trial."""

from __future__ import annotations

import itertools
import sys
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from regimes._check import choose
from regimes.lab._config import DEVICES, TrialConfig
from regimes.lab._executors import Executor, InlineExecutor
from regimes.lab._former import adopt
from regimes.lab._perform import FOUND, Job
from regimes.lab._progress import Progress, Silent, Tally
from regimes.lab._queue import Task, TrialQueue
from regimes.lab._record import FAILED, FINISHED
from regimes.lab._stop import Stop
from regimes.lab._store import Store
from regimes.lab._study import Study
from regimes.lab._watch import Watch


@dataclass(frozen=True)
class Agenda:
    """What a run would do: trials in all, those already finished, those to run and their cost."""

    study: Study
    configs: tuple[TrialConfig, ...]
    pending: tuple[Task, ...]
    finished: int
    failed_before: int
    set_aside: Mapping[str, str]  # key -> what was wrong with a damaged trial, now out of the way
    seconds_per_cost: float | None  # learned from finished trials of this study

    @property
    def cost(self) -> float:
        """Relative cost of the pending trials."""
        return sum(task.cost for task in self.pending)

    @property
    def worker_seconds(self) -> float | None:
        """Estimated work, for one worker alone; None when no trial of the study ever finished."""
        return None if self.seconds_per_cost is None else self.cost * self.seconds_per_cost


@dataclass(frozen=True)
class Failure:
    """A trial that failed, and why in one line."""

    key: str
    point: Mapping[str, Any]
    error: str


@dataclass(frozen=True)
class SweepReport:
    """What a run did. Every trial of the agenda is in exactly one of the first five counts."""

    already: int  # finished before the run
    ran: int  # finished by it
    found: int  # finished meanwhile by another driver on the same store
    failures: tuple[Failure, ...]
    left: int  # not run, after an interruption
    flagged: int  # of those that ran: with a NaN or an infinity
    interrupted: int | None  # the signal's number
    seconds: float  # wall clock
    busy_seconds: float  # summed over the workers
    estimated_seconds: float | None  # what the agenda had expected of busy_seconds

    @property
    def complete(self) -> bool:
        """Every trial is finished."""
        return not self.failures and not self.left


def agenda(
    study: Study,
    params: Any,
    *,
    store: Store | None = None,
    dtype: str | None = None,
    device: str = "cpu",
) -> Agenda:
    """Look up every trial in the store; damaged ones are set aside and planned anew.

    Trials that failed in an earlier run are planned again. What the rest will take is told from
    finished trials on the same kind of `device`.
    """
    choose(device, dict.fromkeys(DEVICES), "device")
    store = store or Store()
    configs = tuple(study.configs(params, dtype=dtype))
    adopt(study, params, configs, store)
    found = store.inspect(study.name, (config.key for config in configs))
    missing = (config for config in configs if config.key not in found.finished)
    return Agenda(
        study=study,
        configs=configs,
        pending=tuple(Task(config, study.cost_of(config, device=device)) for config in missing),
        finished=len(found.finished),
        failed_before=len(found.failed),
        set_aside=found.set_aside,
        seconds_per_cost=_learned(study, store, found.finished, device),
    )


def execute(
    planned: Agenda,
    *,
    store: Store | None = None,
    executor: Executor | None = None,
    device: str = "cpu",
    progress: Progress | None = None,
    stop: Stop | None = None,
) -> SweepReport:
    """Run the pending trials of an agenda and say what became of each."""
    choose(device, dict.fromkeys(DEVICES), "device")
    store, study = store or Store(), planned.study
    executor, progress, stop = executor or InlineExecutor(), progress or Silent(), stop or Stop()
    job = Job(study.name, study.module, str(store.root), device, tuple(sys.path))
    queue = TrialQueue(planned.pending, workers=executor.workers)
    tally = Tally(len(planned.configs), planned.finished, queue, study.watch)
    points = {task.key: task.config.point for task in planned.pending}
    failures: list[Failure] = []
    counts: Counter[str] = Counter()
    started = time.monotonic()
    store.sweep()
    with Watch(progress, tally, stop, _parting(executor, stop)) as watch:
        for outcome in executor.run(job, queue, stop) if points else ():
            watch.add(outcome)
            counts[outcome.status] += 1
            if outcome.status == FAILED:
                failures.append(Failure(outcome.key, points[outcome.key], outcome.error))
    return SweepReport(
        already=planned.finished,
        ran=counts[FINISHED],
        found=counts[FOUND],
        failures=tuple(failures),
        left=len(points) - counts.total(),
        flagged=tally.flagged,
        interrupted=stop.signal,
        seconds=time.monotonic() - started,
        busy_seconds=tally.busy_seconds,
        estimated_seconds=planned.worker_seconds,
    )


def _parting(executor: Executor, stop: Stop) -> str:
    """What is said when a stop is asked for."""
    if isinstance(executor, InlineExecutor):
        return "stopping when the trial in flight has finished"
    return (
        f"stopping: trials in flight have {stop.grace:g} s to finish; asked again, they are dropped"
    )


def _learned(study: Study, store: Store, finished: Mapping[str, Any], device: str) -> float | None:
    """Seconds a unit of cost has taken in trials on this device, of this scan or any other."""
    bodies = _usable(study, finished.values(), device)
    if not bodies:
        others = store.inspect(study.name, sorted(store.keys(study.name))[: 10 * _SAMPLE])
        bodies = _usable(study, others.finished.values(), device)
    pairs = []
    for body in bodies:
        cost = study.cost_of(TrialConfig.from_dict(body["config"]), device=device)
        pairs.append((body["seconds"] / cost, cost))
    return _weighted_median(pairs) if pairs else None


def _usable(study: Study, bodies: Iterable[Any], device: str) -> list[Any]:
    """Trials of the present version that ran on this kind of device, not too many."""
    fit = (
        body
        for body in bodies
        if body["provenance"]["device"] == device
        and study.knows(TrialConfig.from_dict(body["config"]))
    )
    return list(itertools.islice(fit, _SAMPLE))


def _weighted_median(pairs: list[tuple[float, float]]) -> float:
    """Of (value, weight): long trials count most, and one slow start changes nothing."""
    pairs.sort()
    half, reached = sum(weight for _, weight in pairs) / 2, 0.0
    for value, weight in pairs:
        reached += weight
        if reached >= half:
            return value
    return pairs[-1][0]


_SAMPLE = 200  # trials to learn the cost from
