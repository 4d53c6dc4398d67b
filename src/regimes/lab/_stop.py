"""Stopping on request: the first signal lets trials in flight finish, the second does not."""

from __future__ import annotations

import signal
import threading
import time
from types import FrameType, TracebackType
from typing import Any, Self

GRACE = 10.0  # seconds that trials in flight have to finish


class Stop:
    """Listens for Ctrl-C and SIGTERM while it is entered as a context.

    Handlers can only be set in the main thread; elsewhere `request` is the way to stop.
    """

    def __init__(self, *, grace: float = GRACE) -> None:
        self.grace = grace
        self.signal: int | None = None
        self._since: float | None = None
        self._urgent = False
        self._previous: dict[int, Any] = {}

    @property
    def requested(self) -> bool:
        """Hand out no more trials."""
        return self._since is not None

    @property
    def overdue(self) -> bool:
        """Drop the trials in flight."""
        if self._since is None:
            return False
        return self._urgent or time.monotonic() - self._since > self.grace

    def request(self, number: int | None = None) -> None:
        """Ask for a stop; asked twice, at once."""
        self._urgent = self.requested
        self.signal = self.signal or number
        self._since = self._since or time.monotonic()

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._previous[number] = signal.signal(number, self._handle)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self.request(number)
