"""Which trials to hand out next: longest first, short ones in batches, deadly ones alone.

Those that found no memory come last, each when no other is running.
"""

from __future__ import annotations

import math
import os
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from regimes.lab._config import TrialConfig, digest
from regimes.lab._perform import Outcome

BATCH_SECONDS = 0.2  # work sent to a worker at once: enough to hide the sending
BATCH_TRIALS = 256
DEATHS = 3  # a trial that was in a dying worker's hands this often is given up
_OVERHEAD = 5e-4  # seconds a trial costs besides its own work


@dataclass(frozen=True)
class Task:
    """A trial to be run and what it costs relative to the others."""

    config: TrialConfig
    cost: float = 1.0

    @property
    def key(self) -> str:
        """The trial's name in the store."""
        return self.config.key


class TrialQueue:
    """The trials still to be handed out.

    Costs within a factor of two count as equal, and equal ones come in an order of this driver's
    own: two drivers on one store then seldom run the same trial at the same time.
    """

    def __init__(
        self,
        tasks: Iterable[Task],
        *,
        workers: int,
        salt: str | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        own = os.urandom(8).hex() if salt is None else salt

        def longest_first(task: Task) -> tuple[int, str]:
            return -math.floor(math.log2(task.cost)), digest(own + task.key)

        self._queue = deque(sorted(tasks, key=longest_first))
        self._alone: deque[Task] = deque()
        self._last: deque[tuple[Task, Outcome]] = deque()  # found no memory beside others
        self._starved: set[str] = set()
        self.workers = max(1, workers)  # may be corrected when more is known
        self.costs = {task.key: task.cost for task in self._queue}
        self.points = {task.key: task.config.point for task in self._queue}
        self._open = set(self.costs)  # not heard of
        self.clock = clock
        self.flying: dict[str, float] = {}  # when trials left alone; those in batches are short
        self._deaths: Counter[str] = Counter()
        self._seconds = self._cost_done = 0.0
        self.total_cost = self.cost_left = sum(self.costs.values())  # in flight is left

    def __len__(self) -> int:
        return len(self._queue) + len(self._alone) + len(self._last)

    def take(self) -> list[Task]:
        """The next batch; empty when nothing is left but what `take_last` gives."""
        batch = self._next()
        if len(batch) == 1:
            self.flying[batch[0].key] = self.clock()
        return batch

    def _next(self) -> list[Task]:
        if self._alone:
            return [self._alone.popleft()]
        share = math.ceil(len(self._queue) / (2 * self.workers))  # keep work for every worker
        batch: list[Task] = []
        expected = 0.0
        while self._queue and len(batch) < min(share, BATCH_TRIALS) and expected < BATCH_SECONDS:
            batch.append(self._queue.popleft())
            expected += self._expected_seconds(batch[-1])
        return batch

    def learn(self, outcome: Outcome) -> None:
        """Take note of how long a trial took."""
        cost = self.costs[outcome.key] if outcome.key in self._open else 0.0
        self._open.discard(outcome.key)
        self.flying.pop(outcome.key, None)
        self.cost_left -= cost
        if outcome.seconds > 0:
            self._seconds += outcome.seconds
            self._cost_done += cost

    def put_back(self, tasks: Sequence[Task]) -> None:
        """They were handed out and not run, through no fault of theirs."""
        self._queue.extendleft(reversed(tasks))
        self._landed(tasks)

    def bury(self, tasks: Sequence[Task]) -> list[Task]:
        """Their worker died. Put them back, each alone; return those to be given up."""
        given_up = []
        for task in tasks:
            self._deaths[task.key] += 1
            if self._deaths[task.key] >= DEATHS:
                given_up.append(task)
            else:
                self._alone.append(task)
        self._landed(tasks)
        return given_up

    def put_last(self, task: Task, outcome: Outcome) -> bool:
        """It found no memory beside others: keep it for `take_last`. False the second time."""
        if task.key in self._starved:
            return False
        self._starved.add(task.key)
        self._last.append((task, outcome))
        self._landed([task])
        return True

    def give_up_last(self) -> list[Outcome]:
        """What became of those put last and not taken again."""
        outcomes = [outcome for _, outcome in self._last]
        self._last.clear()
        return outcomes

    def take_last(self) -> list[Task]:
        """One of those put last; empty while there are others to be taken."""
        if self._queue or self._alone or not self._last:
            return []
        task, _ = self._last.popleft()
        self.flying[task.key] = self.clock()
        return [task]

    def _landed(self, tasks: Sequence[Task]) -> None:
        for task in tasks:
            self.flying.pop(task.key, None)

    @property
    def seconds_per_cost(self) -> float | None:
        """What one unit of cost has taken so far; None before anything has finished."""
        return self._seconds / self._cost_done if self._cost_done else None

    def _expected_seconds(self, task: Task) -> float:
        if self.seconds_per_cost is None:
            return BATCH_SECONDS  # nothing is known yet: one at a time
        return self.seconds_per_cost * task.cost + _OVERHEAD
