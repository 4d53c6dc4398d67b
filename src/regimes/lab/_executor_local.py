"""The local executor: worker processes on this machine, each with its share of threads."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from regimes._check import positive_int
from regimes.lab._environment import cores, gpus
from regimes.lab._executors import ExecutorError, settle_deaths, settle_timeout
from regimes.lab._perform import Job, Outcome
from regimes.lab._queue import Task, TrialQueue
from regimes.lab._stop import Stop
from regimes.lab._store import StoreError

_THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
_TICK = 0.2  # seconds between looks at the stop request
_FAREWELL = 5.0  # seconds a worker has to end by itself
_LAST_WORDS = 2000  # bytes of what it printed
_STARTS = 3  # workers that may die in a row before they are ready


class LocalExecutor:
    """Worker processes that write their results straight to the store.

    A trial that finds no memory beside other workers of the run is run again by itself when they
    have finished.

    Args:
        workers: how many; by default one per GPU on `device="cuda"`, else one per core.
        threads: for each worker; by default the cores divided among the workers.
        device: "cpu" or "cuda". With CUDA every worker sees one GPU; more workers than GPUs share.
        trial_timeout: seconds one trial may take; then its worker is ended, the trial has failed,
            and the others go on. Its checkpoints stay: run again, it goes on from there.
    """

    def __init__(
        self,
        workers: int | None = None,
        *,
        threads: int | None = None,
        device: str = "cpu",
        trial_timeout: float | None = None,
    ) -> None:
        slots = [gpu.index for gpu in gpus()] if device == "cuda" else []
        if device == "cuda" and not slots:
            raise ValueError("device 'cuda' was asked for, but this machine shows no GPU")
        self.workers = positive_int("workers", workers or len(slots) or cores())
        self.threads = positive_int("threads", threads or max(1, cores() // self.workers))
        if trial_timeout is not None and not trial_timeout > 0:
            raise ValueError(
                f"a trial needs more than 0 seconds, got trial_timeout={trial_timeout}"
            )
        self._timeout = trial_timeout
        self._slots = slots

    def run(self, job: Job, queue: TrialQueue, stop: Stop) -> Iterator[Outcome]:
        """Yield one outcome per trial as they come in."""
        environments = self._environments(min(self.workers, len(queue)))
        pool = _Pool(job, environments, self._timeout)
        try:
            yield from pool.work(queue, stop)
        finally:
            pool.close()

    def _environments(self, count: int) -> list[dict[str, str]]:
        made = []
        for index in range(count):
            own = dict.fromkeys(_THREAD_VARIABLES, str(self.threads))
            if self._slots:
                own["CUDA_VISIBLE_DEVICES"] = self._slots[index % len(self._slots)]
            made.append({**os.environ, **own})
        return made


class _Pool:
    """The workers and the conversation with them."""

    def __init__(
        self, job: Job, environments: Sequence[dict[str, str]], timeout: float | None
    ) -> None:
        self._job = job
        self._timeout = timeout
        self._selector = selectors.DefaultSelector()
        self._workers: list[_Worker] = []
        self._failed_starts = 0  # in a row
        for environment in environments:
            self._hire(environment)

    def work(self, queue: TrialQueue, stop: Stop) -> Iterator[Outcome]:
        while True:
            if stop.requested:
                for worker in self._workers:
                    worker.ask_to_stop()
            else:
                for worker in self._workers:
                    if worker.idle and (batch := queue.take()):
                        worker.give(batch)
                if all(worker.idle for worker in self._workers) and (batch := queue.take_last()):
                    self._workers[0].give(batch)
            if stop.overdue or all(worker.idle for worker in self._workers):
                for outcome in queue.give_up_last():  # only when a stop came before their turn
                    queue.learn(outcome)
                    yield outcome
                return
            heard = {ready.data for ready, _ in self._selector.select(_TICK)}
            for worker in list(self._workers):
                late = self._timeout is not None and worker.seconds > self._timeout
                if late:
                    worker.kill()
                if late or worker in heard or worker.ended:
                    yield from self._hear(worker, queue, stop, late=late)

    def close(self) -> None:
        for worker in self._workers:
            worker.dismiss()
        self._selector.close()

    def _hire(self, environment: dict[str, str]) -> None:
        worker = _Worker(self._job, environment)
        self._workers.append(worker)
        self._selector.register(worker.answers, selectors.EVENT_READ, worker)

    def _hear(
        self, worker: _Worker, queue: TrialQueue, stop: Stop, *, late: bool
    ) -> Iterator[Outcome]:
        alive = worker.read()
        for message in worker.messages():
            if "full" in message:
                raise StoreError(message["errno"], message["full"])
            if "broken" in message:
                raise ExecutorError(f"a worker cannot work:\n{message['broken']}")
            for data in message.get("outcomes", ()):
                outcome = Outcome.from_dict(data)
                task = worker.holds.pop(outcome.key, None)
                again = outcome.no_memory and self._shares(worker) and not stop.requested
                if task and again and queue.put_last(task, outcome):
                    continue
                queue.learn(outcome)
                yield outcome
        if not alive:
            yield from self._replace(worker, queue, late=late)

    def _shares(self, worker: _Worker) -> bool:
        """Whether another worker is on the same GPU, or on the CPU as this one."""
        gpus = [each.environment.get("CUDA_VISIBLE_DEVICES") for each in self._workers]
        return gpus.count(worker.environment.get("CUDA_VISIBLE_DEVICES")) > 1

    def _replace(self, worker: _Worker, queue: TrialQueue, *, late: bool) -> Iterator[Outcome]:
        """A worker has ended: account for what it held and start another."""
        self._selector.unregister(worker.answers)
        self._workers.remove(worker)
        cause, held = worker.post_mortem(), list(worker.holds.values())
        self._failed_starts = 0 if worker.was_ready else self._failed_starts + 1
        if self._failed_starts >= _STARTS:
            raise ExecutorError(f"workers cannot start; the last one {cause}")
        if late and self._timeout is not None:
            settled = settle_timeout(self._job, queue, held, worker.runs, self._timeout)
        else:
            settled = settle_deaths(self._job, queue, held, cause)
        for outcome in settled:
            queue.learn(outcome)
            yield outcome
        self._hire(worker.environment)


class _Worker:
    """One worker process as the driver sees it, and the group of what its trials start."""

    def __init__(self, job: Job, environment: dict[str, str]) -> None:
        self.environment = environment
        self.holds: dict[str, Task] = {}  # trials handed out and not heard of
        self.runs = ""  # the key of the trial it is at
        self.was_ready = False
        self._since = 0.0  # when that trial began
        self._told_to_stop = False
        self._waiting = True  # ready to be given a batch; the pipe holds it while it starts
        self._unread = b""
        # What the trials print, shown when the worker dies; closed by `_release`.
        self._log = tempfile.TemporaryFile()  # noqa: SIM115
        self.answers, answering_end = os.pipe()
        listening_end, self._orders = os.pipe()
        os.set_blocking(self.answers, False)
        try:
            self._process = subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    "regimes.lab._worker",
                    f"{listening_end}",
                    f"{answering_end}",
                ],
                stdin=subprocess.DEVNULL,
                stdout=self._log,
                stderr=self._log,
                pass_fds=(listening_end, answering_end),
                env=environment,
                start_new_session=True,
            )
        finally:
            os.close(listening_end)
            os.close(answering_end)
        self._send(job=asdict(job))

    @property
    def idle(self) -> bool:
        return self._waiting

    def give(self, batch: Sequence[Task]) -> None:
        self.holds = {task.key: task for task in batch}
        self._waiting = False
        self._send(trials=[task.config.as_dict() for task in batch])

    def ask_to_stop(self) -> None:
        if not self._told_to_stop:
            self._told_to_stop = True
            self._send(stop=True)

    def _send(self, **message: Any) -> None:
        text = memoryview(json.dumps(message).encode() + b"\n")
        with contextlib.suppress(BrokenPipeError):  # a dead worker is noticed elsewhere
            while text:
                text = text[os.write(self._orders, text) :]

    @property
    def seconds(self) -> float:
        """How long it has been at its trial."""
        return time.monotonic() - self._since if self.runs else 0.0

    @property
    def ended(self) -> bool:
        """Whether the process has; a child of it may keep its pipes open."""
        return self._process.poll() is not None

    def read(self) -> bool:
        """Take in what has arrived; False when nothing more will come."""
        ended = self.ended  # asked before reading, so that nothing it said last is lost
        with contextlib.suppress(BlockingIOError):
            while chunk := os.read(self.answers, 1 << 16):
                self._unread += chunk
            return False
        return not ended

    def messages(self) -> Iterator[dict[str, Any]]:
        *lines, self._unread = self._unread.split(b"\n")
        for line in lines:
            message = json.loads(line)
            if message.get("ready"):
                self.was_ready = True
            if "begins" in message:
                self.runs, self._since = message["begins"], time.monotonic()
            if message.get("idle"):
                self._waiting, self.runs = True, ""
                if self._told_to_stop:
                    self.holds.clear()  # trials it did not begin
            yield message

    def post_mortem(self) -> str:
        """Why the process ended, with the last lines it printed."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=_FAREWELL)  # it may close its pipe a little earlier
        self.kill()
        code = self._process.wait()
        how = f"killed by {signal.Signals(-code).name}" if code < 0 else f"ended with status {code}"
        if code == -signal.SIGKILL:
            how += " (by somebody, or by the system for want of memory)"
        end = self._log.seek(0, os.SEEK_END)
        self._log.seek(max(0, end - _LAST_WORDS))
        tail = self._log.read().decode(errors="replace").strip()
        self._release()
        return f"{how}\n{tail}".strip()

    def dismiss(self) -> None:
        """End the process: politely when it is idle, at once when it is not."""
        if not self.idle:
            self.kill()
        self._hang_up()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=_FAREWELL)
        self.kill()
        self._process.wait()
        self._release()

    def kill(self) -> None:
        """End the process and all of its group."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def _hang_up(self) -> None:
        if self._orders >= 0:
            os.close(self._orders)
            self._orders = -1

    def _release(self) -> None:
        self._hang_up()
        self._log.close()
        os.close(self.answers)
