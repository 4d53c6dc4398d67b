"""The Ray executor: the same trials on a Ray cluster, one that runs or one started here."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from regimes._check import choose, positive_int
from regimes.lab._config import TrialConfig
from regimes.lab._executors import ExecutorError, settle_deaths
from regimes.lab._perform import FOUND, Job, Outcome, perform_all, save
from regimes.lab._queue import Task, TrialQueue
from regimes.lab._ray_address import check_answers, checked_address
from regimes.lab._record import Encoded
from regimes.lab._stop import Stop
from regimes.lab._store import Store

_TICK = 0.2

# What comes back for one trial: its outcome, trial.json and the arrays (None: already in place).
_Answer = tuple[dict[str, Any], bytes | None, bytes | None]


class RayExecutor:
    """Trials as Ray tasks; a trial whose worker or node dies is submitted again.

    Args:
        address: of a running cluster, or "auto"; by default RAY_ADDRESS, else a cluster is started
            on this machine for the time of the run.
        workers: batches that run at once; by default as many as the cluster's CPUs (or GPUs) allow.
        threads: CPUs each task asks for.
        device: with "cuda" each task asks for one GPU.
        write: "driver" sends results home, where the driver writes them, and needs no shared disk;
            "worker" writes them to the store where they are made: the store must then be on
            storage that every node sees under the same path.
    """

    def __init__(
        self,
        *,
        address: str | None = None,
        workers: int | None = None,
        threads: int = 1,
        device: str = "cpu",
        write: str = "driver",
    ) -> None:
        choose(write, {"driver": 0, "worker": 0}, "place to write results from")
        self._ray = import_ray()
        given = address or os.environ.get("RAY_ADDRESS")
        self._address = checked_address(given) if given else None
        self._asked = None if workers is None else positive_int("workers", workers)
        self._needs = {"num_cpus": positive_int("threads", threads), "num_gpus": 0}
        if device == "cuda":
            self._needs["num_gpus"] = 1
        self._write = write
        self.workers = self._asked or 1  # known when the cluster is

    def run(self, job: Job, queue: TrialQueue, stop: Stop) -> Iterator[Outcome]:
        """Yield one outcome per trial as they come in."""
        ours = self._connect()
        try:
            yield from self._work(job, queue, stop)
        finally:
            if ours:
                self._ray.shutdown()

    def _connect(self) -> bool:
        """Join or start a cluster; True when it is ours to shut down."""
        ray = self._ray
        if ray.is_initialized():
            return False
        options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
        if self._address:
            check_answers(self._address)
            try:
                ray.init(address=self._address, **options)
            except ConnectionError as error:
                why = " ".join(str(error).split())
                raise ExecutorError(f"no Ray cluster at {self._address}: {why}") from None
        else:
            cpus = self._asked * self._needs["num_cpus"] if self._asked else None
            ray.init(address="local", include_dashboard=False, num_cpus=cpus, **options)
        return True

    def _work(self, job: Job, queue: TrialQueue, stop: Stop) -> Iterator[Outcome]:
        ray, store = self._ray, Store(job.store)
        # Deaths are counted by the queue, as for every executor, not by Ray.
        task = ray.remote(max_retries=0, **self._needs)(_run_batch)
        description = json.dumps(asdict(job))
        flying: dict[Any, list[Task]] = {}
        while True:
            queue.workers = self._slots()
            room = 0 if stop.requested else queue.workers - len(flying)
            while room > 0 and (batch := queue.take()):
                trials = json.dumps([item.config.as_dict() for item in batch])
                flying[task.remote(description, trials, self._write)] = batch
                room -= 1
            if not flying:
                return
            if stop.overdue:
                for reference in flying:
                    ray.cancel(reference, force=True)
                return
            ready, _ = ray.wait(list(flying), num_returns=1, timeout=_TICK)
            for reference in ready:
                for outcome in self._land(reference, flying.pop(reference), job, queue, store):
                    queue.learn(outcome)
                    yield outcome

    def _slots(self) -> int:
        """Batches the cluster can run at once now; nodes come and go."""
        total = self._ray.cluster_resources()
        fits = [int(total.get("CPU", 0) // self._needs["num_cpus"])]
        if self._needs["num_gpus"]:
            fits.append(int(total.get("GPU", 0)))
        self.workers = self._asked or max(1, min(fits))
        return self.workers

    def _land(
        self, reference: Any, batch: list[Task], job: Job, queue: TrialQueue, store: Store
    ) -> Iterator[Outcome]:
        failures = self._ray.exceptions
        try:
            answers: list[_Answer] = self._ray.get(reference)
        except failures.RayTaskError as error:
            raise ExecutorError(f"a Ray task cannot work:\n{error}") from error
        except failures.RayError as error:  # the worker, its node or the result is gone
            yield from settle_deaths(job, queue, batch, f"{type(error).__name__}: {error}")
            return
        outcomes = [Outcome.from_dict(data) for data, _, _ in answers]
        store.commit(
            [
                Encoded(job.study, outcome.key, outcome.status, text, arrays)
                for outcome, (_, text, arrays) in zip(outcomes, answers, strict=True)
                if text is not None
            ]
        )
        yield from outcomes


def _run_batch(description: str, trials: str, write: str) -> list[_Answer]:
    """What runs in a Ray worker."""
    job = Job(**json.loads(description))
    study, store = job.load(), Store(job.store)
    shared = write == "worker"
    answers: list[_Answer] = []
    groups = perform_all(
        study,
        [TrialConfig.from_dict(data) for data in json.loads(trials)],
        device=job.device,
        is_done=(lambda key: store.contains(job.study, key)) if shared else (lambda key: False),
        store=store if shared else None,
    )
    for group in groups:
        if shared:
            save(store, group)
        for item, outcome in group:
            travels = not shared and outcome.status != FOUND
            text = item.trial_json if travels else None
            answers.append((outcome.as_dict(), text, item.arrays if travels else None))
    return answers


def import_ray() -> Any:
    """The ray module, or how to get it."""
    try:
        import ray
        import ray.exceptions
    except ImportError:
        raise ExecutorError(
            "the Ray executor needs the package ray, which is not installed: "
            "pip install 'regimes[ray]'"
        ) from None
    return ray
