"""What every executor promises: each trial once, in any order, failures apart from the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from regimes.lab._perform import Job, Outcome, perform_all, save
from regimes.lab._queue import DEATHS, Task, TrialQueue
from regimes.lab._record import FAILED, FINISHED, Record, encode
from regimes.lab._stop import Stop
from regimes.lab._store import Store


class ExecutorError(RuntimeError):
    """The executor itself cannot go on; trials that finished are in the store."""


class Executor(Protocol):
    """Runs the trials of a queue and yields an outcome for each as it comes in.

    A trial whose worker dies is run again and given up after a few deaths. When `stop` is
    requested no more trials start; those in flight finish, or are dropped when it is overdue.
    """

    workers: int

    def run(self, job: Job, queue: TrialQueue, stop: Stop) -> Iterator[Outcome]:
        """Yield one outcome per trial; the results themselves are in the store by then."""
        ...


class InlineExecutor:
    """Runs trials one after the other in this process: for debuggers and very small studies."""

    workers = 1

    def run(self, job: Job, queue: TrialQueue, stop: Stop) -> Iterator[Outcome]:
        """Yield one outcome per trial."""
        study, store = job.load(), Store(job.store)
        while (batch := queue.take()) and not stop.requested:
            groups = perform_all(
                study,
                [task.config for task in batch],
                device=job.device,
                is_done=lambda key: store.contains(job.study, key),
                stopping=lambda: stop.requested,
                store=store,
            )
            for group in groups:
                save(store, group)
                for _, outcome in group:
                    queue.learn(outcome)
                    yield outcome


def settle_deaths(
    job: Job, queue: TrialQueue, tasks: Sequence[Task], cause: str
) -> Iterator[Outcome]:
    """After a worker died: what it had saved counts, the rest goes back or is given up."""
    store = Store(job.store)
    saved = {task.key for task in tasks if store.contains(job.study, task.key)}
    yield from (Outcome(key, FINISHED) for key in saved)
    lost = [task for task in tasks if task.key not in saved]
    for task in queue.bury(lost):
        message = f"the worker died {DEATHS} times with this trial; last: {cause}"
        error = {"type": "WorkerDied", "message": message, "traceback": ""}
        store.commit([encode(Record(task.config, FAILED, error=error))])
        yield Outcome(task.key, FAILED, error=f"WorkerDied: {message}".splitlines()[0])
