"""How far a run is: counts, rate, time left and best numbers, and two ways to show them.

The time left is what the trials' costs are worth in seconds, by trials that have finished. Two
kinds of trial tell nothing of that. The first of each worker pays for imports and for memory that
the others find warm, unless it is so long that this does not matter. And a trial much smaller than
those left may be nothing but overhead. While there are no others, no time is told.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from regimes.lab._parameters import BLOCK, shown
from regimes.lab._perform import FOUND, Outcome
from regimes.lab._queue import TrialQueue
from regimes.lab._record import FAILED, FINISHED

_LONG = 30.0  # seconds of a trial, against which the start of a worker is short
_SELDOM = 300.0  # seconds between lines of a log at most
_COMPARABLE = 0.5  # least mean cost of trials measured, as a part of that of trials left


class Tally:
    """The state of a run, kept up to date by its outcomes."""

    def __init__(
        self,
        total: int,
        already: int,
        queue: TrialQueue,
        watch: Mapping[str, str],
    ) -> None:
        self.total = total
        self.done = already
        self.failed = self.flagged = 0
        self.busy_seconds = 0.0
        self.best: dict[str, float] = {}
        self._ran = 0
        self._timed = 0  # trials that tell the worth of a unit of cost,
        self._timed_seconds = self._timed_cost = 0.0  # how long they took and their cost
        self._queue = queue
        self._watch = watch
        self._clock = queue.clock
        self._start = queue.clock()

    def add(self, outcome: Outcome) -> None:
        """Count one outcome."""
        self.done += 1
        self.busy_seconds += outcome.seconds
        self._ran += outcome.status != FOUND
        self._time(outcome)
        self.failed += outcome.status == FAILED
        self.flagged += bool(outcome.nonfinite)
        for name, value in outcome.watched.items():
            choose = min if self._watch.get(name) == "min" else max
            self.best[name] = choose(value, self.best.get(name, value))

    @property
    def rate(self) -> float:
        """Trials per second since the start."""
        elapsed = self._clock() - self._start
        return self._ran / elapsed if elapsed > 0 else 0.0

    def _time(self, outcome: Outcome) -> None:
        warm = self._ran > self._queue.workers or outcome.seconds >= _LONG
        if outcome.status == FINISHED and outcome.seconds > 0 and warm:
            self._timed += 1
            self._timed_seconds += outcome.seconds
            self._timed_cost += self._queue.costs[outcome.key]

    @property
    def seconds_left(self) -> float | None:
        """By the cost that is left; None while no trial tells what a unit of cost takes.

        At first from the seconds of the trials alone, which know nothing of the start of the
        workers; then more and more from the clock, which knows of all that costs time beside them.
        Trials in flight count as far as they should be by now.
        """
        trials, cost = self.total - self.done, self._queue.cost_left
        if not trials or not self._timed:
            return None
        if self._timed_cost / self._timed < _COMPARABLE * cost / trials:
            return None
        worth, now = self._timed_seconds / self._timed_cost, self._clock()
        longest = 0.0
        for key, since in self._in_flight():
            whole = self._queue.costs[key]
            cost -= min(whole, (now - since) / worth)
            longest = max(longest, whole * worth - (now - since))
        work = cost * worth / min(self._queue.workers, trials)
        left = cost / self._queue.total_cost
        # `work` with the weight `left`, elapsed * left / (1 - left) with the weight 1 - left
        return max(longest, left * (work + now - self._start))

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return self._clock() - self._start

    def _in_flight(self) -> list[tuple[str, float]]:
        """Trials handed out alone and when; a copy, since executors go on meanwhile."""
        return list(self._queue.flying.items())

    @property
    def running(self) -> str:
        """The trial that has been at work longest, in words; empty when none is known of."""
        flying = self._in_flight()
        if not flying:
            return ""
        key, since = min(flying, key=lambda each: each[1])
        more = f" and {len(flying) - 1} more" if len(flying) > 1 else ""
        return f"running {place(self._queue.points[key])} ({duration(self._clock() - since)}){more}"

    def line(self, *, running: bool = True) -> str:
        """The state in one line of text, with what runs just now where that is wanted."""
        parts = [f"{self.done}/{self.total} trials"]
        if self.elapsed >= 1:
            parts[0] += f" in {duration(self.elapsed)}"
        if self._ran:
            parts.append(f"{self.rate:.3g}/s")
        if (left := self.seconds_left) is not None:
            parts.append(f"{duration(left)} left")
        parts += [f"best {name} {value:.4g}" for name, value in self.best.items()]
        parts += [f"{self.failed} failed"] * bool(self.failed)
        parts += [f"{self.flagged} with NaN"] * bool(self.flagged)
        parts += [self.running] * bool(running and self.running)
        return ", ".join(parts)


class Progress(Protocol):
    """Shows a tally while a run goes on."""

    def show(self, tally: Tally, *, last: bool = False) -> None:
        """Called at the start, after every outcome and now and then; `last` once at the end."""
        ...

    def note(self, text: str) -> None:
        """Called when something is to be said at once."""
        ...


class Silent:
    """Shows nothing."""

    def show(self, tally: Tally, *, last: bool = False) -> None:
        """Do nothing."""

    def note(self, text: str) -> None:
        """Do nothing."""


class PlainLines:
    """One line now and then, for logs and pipes; ever fewer while no trial ends."""

    def __init__(self, write: Callable[[str], Any], *, every: float = 5.0) -> None:
        self._write = write
        self._every = self._pause = every
        self._next = 0.0
        self._done = -1  # when the last line was written

    def show(self, tally: Tally, *, last: bool = False) -> None:
        """Write a line when the last one is old enough."""
        now = time.monotonic()
        if last or now >= self._next:
            still = tally.done == self._done
            self._pause = min(2 * self._pause, _SELDOM) if still else self._every
            self._next, self._done = now + self._pause, tally.done
            self._write(tally.line(running=not last))

    def note(self, text: str) -> None:
        """Write it."""
        self._write(text)


class LiveBar:
    """A bar that redraws itself, for terminals."""

    def __init__(self, console: Any) -> None:
        from rich.progress import BarColumn, Progress, TextColumn

        self._bar = Progress(
            BarColumn(bar_width=20), TextColumn("{task.description}"), console=console
        )
        self._task = self._bar.add_task("starting", total=None)
        self._bar.start()

    def show(self, tally: Tally, *, last: bool = False) -> None:
        """Redraw; rich itself limits how often."""
        self._bar.update(
            self._task,
            total=tally.total,
            completed=tally.done,
            description=tally.line(running=not last),
        )
        if last:
            self._bar.stop()

    def note(self, text: str) -> None:
        """Write it above the bar."""
        self._bar.console.print(text, markup=False, highlight=False)


def place(point: Mapping[str, Any]) -> str:
    """Where in the scan a trial lies, as short as it can be said.

    >>> place({"block": "start", "alpha": 0.001, "seed": (0, 1, 2)})
    'start, alpha=0.001, 3 values of seed'
    """
    words = []
    for name, value in point.items():
        if isinstance(value, tuple):
            one = len(value) == 1
            words.append(f"{name}={value[0]}" if one else f"{len(value)} values of {name}")
        else:
            words.append(str(value) if name == BLOCK else f"{name}={shown(value)}")
    return ", ".join(words) or "the trial"


def duration(seconds: float) -> str:
    """Seconds in words.

    >>> duration(4.2), duration(95), duration(7260), duration(200_000)
    ('4 s', '1 min 35 s', '2 h 01 min', '2 d 07 h')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes:02d} min"
    return f"{hours // 24} d {hours % 24:02d} h"
