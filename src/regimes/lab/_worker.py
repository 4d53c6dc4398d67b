"""A worker process of the local executor: `python -m regimes.lab._worker RESULT_FD`.

It speaks JSON lines: jobs and trials come on standard input, outcomes go to the given descriptor.
Standard output stays free for whatever a trial prints. When standard input closes, the driver is
gone, and the worker ends at once, in the middle of a trial if need be: no orphans.
"""

from __future__ import annotations

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
    # The driver decides when to stop; a Ctrl-C in the terminal reaches the whole process group.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    answers = os.fdopen(int(sys.argv[1]), "w", buffering=1)
    inbox: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    stop = threading.Event()
    threading.Thread(target=_listen, args=(inbox, stop), daemon=True).start()
    try:
        _serve(inbox, stop, answers)
    except StoreError as error:
        _say(answers, full=str(error), errno=error.errno)
    except BaseException:
        _say(answers, broken=traceback.format_exc())


def _listen(inbox: queue.SimpleQueue[dict[str, Any]], stop: threading.Event) -> None:
    for line in sys.stdin:
        message = json.loads(line)
        if message.get("stop"):
            stop.set()
        inbox.put(message)
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
        )
        for group in groups:
            save(store, group)
            _say(answers, outcomes=[outcome.as_dict() for _, outcome in group])
        _say(answers, idle=True)


def _say(answers: TextIO, **message: Any) -> None:
    answers.write(json.dumps(message) + "\n")


if __name__ == "__main__":
    main()
