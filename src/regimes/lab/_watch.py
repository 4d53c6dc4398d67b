"""A run as it is watched: shown while trials work, not only when one ends."""

from __future__ import annotations

import threading
import time
from types import TracebackType
from typing import Self

from regimes.lab._perform import Outcome
from regimes.lab._progress import Progress, Tally
from regimes.lab._stop import Stop

_LISTEN = 0.1  # seconds until a stop is answered
_SHOW = 1.0  # seconds between looks at a run in which nothing ends


class Watch:
    """Keeps the tally and shows it, from a thread of its own while the first trials work.

    A request to stop is answered at once with `parting`, whatever the trials are at.
    """

    def __init__(self, progress: Progress, tally: Tally, stop: Stop, parting: str) -> None:
        self._progress, self._tally, self._stop, self._parting = progress, tally, stop, parting
        self._lock = threading.Lock()  # one of the two threads counts or shows at a time
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def add(self, outcome: Outcome) -> None:
        """Count one outcome and show it."""
        with self._lock:
            self._tally.add(outcome)
            self._progress.show(self._tally)

    def __enter__(self) -> Self:
        self._progress.show(self._tally)
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        self._thread.join()
        self._progress.show(self._tally, last=True)

    def _look(self) -> None:
        answered, shown = False, time.monotonic()
        while not self._over.wait(_LISTEN):
            with self._lock:
                if self._stop.requested and not answered:
                    answered = True
                    self._progress.note(self._parting)
                if time.monotonic() - shown >= _SHOW:
                    shown = time.monotonic()
                    self._progress.show(self._tally)
