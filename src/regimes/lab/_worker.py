"""A worker process of the local executor: `python -m regimes.lab._worker ORDERS ANSWERS`.

It speaks JSON lines on the two descriptors: jobs and trials come on one, outcomes go to the other.
Standard input is empty, and standard output free for whatever a trial prints. When the orders
close, the driver is gone, and the worker ends at once, in the middle of a trial if need be, and
with it what its trials have started: no orphans.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import sys
import threading
import traceback
from typing import Any, TextIO

from regimes.lab._config import TrialConfig
from regimes.lab._perform import Job, perform_all, save
from regimes.lab._store import Store, StoreError


def main() -> None:
    """Serve one driver until it closes the pipe."""
    # The driver decides when to stop, whoever else sends a signal.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    files = [int(word) for word in sys.argv[1:]]
    for file in files:
        os.set_inheritable(file, False)  # programs that a trial starts have no part in this
    orders, answers = os.fdopen(files[0]), os.fdopen(files[1], "w", buffering=1)
    inbox: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    stop = threading.Event()
    threading.Thread(target=_listen, args=(orders, inbox, stop), daemon=True).start()
    try:
        _serve(inbox, stop, answers)
    except StoreError as error:
        _say(answers, full=str(error), errno=error.errno)
    except BaseException:
        _say(answers, broken=traceback.format_exc())


def _listen(
    orders: TextIO, inbox: queue.SimpleQueue[dict[str, Any]], stop: threading.Event
) -> None:
    for line in orders:
        message = json.loads(line)
        if message.get("stop"):
            stop.set()
        inbox.put(message)
    if os.getpgrp() == os.getpid():  # a group of its own: with what its trials have started
        os.killpg(0, signal.SIGKILL)
    os._exit(0)


def _serve(
    inbox: queue.SimpleQueue[dict[str, Any]], stop: threading.Event, answers: TextIO
) -> None:
    job = Job(**inbox.get()["job"])
    study = job.load()
    store = Store(job.store)
    _say(answers, ready=True)
    while "trials" in (message := inbox.get()):
        configs = [TrialConfig.from_dict(data) for data in message["trials"]]
        groups = perform_all(
            study,
            configs,
            device=job.device,
            is_done=lambda key: store.contains(job.study, key),
            stopping=stop.is_set,
            store=store,
            begins=lambda key: _say(answers, begins=key),
        )
        for group in groups:
            save(store, group)
            _say(answers, outcomes=[outcome.as_dict() for _, outcome in group])
        _give_back_memory(job.device)
        _say(answers, idle=True)


def _give_back_memory(device: str) -> None:
    """Let workers on the same GPU have what torch keeps of it for the next trial."""
    torch = sys.modules.get("torch")
    if torch is not None and device.startswith("cuda"):
        with contextlib.suppress(RuntimeError):  # of a GPU that a trial has broken
            torch.cuda.empty_cache()


def _say(answers: TextIO, **message: Any) -> None:
    answers.write(json.dumps(message) + "\n")


if __name__ == "__main__":
    main()
