"""What every executor promises: each trial once, in any order, failures apart from the others."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
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
    lost = yield from _unsaved(job, tasks)
    for task in queue.bury(lost):
        message = f"the worker died {DEATHS} times with this trial; last: {cause}"
        yield _fail(job, task, "WorkerDied", message)


def settle_timeout(
    job: Job, queue: TrialQueue, tasks: Sequence[Task], late: str, seconds: float
) -> Iterator[Outcome]:
    """After a worker was ended because the trial `late` took too long: the others go back."""
    lost = yield from _unsaved(job, tasks)
    queue.put_back([task for task in lost if task.key != late])
    for task in lost:
        if task.key == late:
            message = f"the trial took longer than the {seconds:g} seconds it is allowed"
            yield _fail(job, task, "TrialTimeout", message, seconds)


def _unsaved(job: Job, tasks: Sequence[Task]) -> Generator[Outcome, None, list[Task]]:
    store = Store(job.store)
    saved = {task.key for task in tasks if store.contains(job.study, task.key)}
    yield from (Outcome(key, FINISHED) for key in saved)
    return [task for task in tasks if task.key not in saved]


def _fail(job: Job, task: Task, kind: str, message: str, seconds: float = 0.0) -> Outcome:
    error = {"type": kind, "message": message, "traceback": ""}
    record = Record(task.config, FAILED, error=error, seconds=seconds)
    Store(job.store).commit([encode(record)])
    return Outcome(task.key, FAILED, seconds, error=f"{kind}: {message}".splitlines()[0])
