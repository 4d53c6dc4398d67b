"""Time: what each part of a diagnosis took, how much is left, and who is told."""

from __future__ import annotations

import contextlib
import math
import re
import time
from collections.abc import Callable, Iterator
from typing import final

from regimes._check import real, shown

_UNITS = {"s": 1.0, "sec": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}


def seconds_of(budget: str | float | None) -> float:
    """Seconds meant by a budget of time.

    >>> seconds_of("2min"), seconds_of("30 s"), seconds_of(None)
    (120.0, 30.0, inf)
    """
    if budget is None:
        return math.inf
    if isinstance(budget, str):
        found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]*)?)\s*([a-z]+)\s*", budget)
        if not found or found[2] not in _UNITS:
            raise ValueError(
                f"budget must be seconds or text such as '2min' or '30s', got {shown(budget)}"
            )
        budget = float(found[1]) * _UNITS[found[2]]
    return real("budget", budget, above=0.0)


@final
class Watch:
    """Counts the seconds of parts, and says what is going on.

    Args:
        budget: seconds for everything.
        told: called with sentences, or None.
    """

    def __init__(self, budget: float, told: Callable[[str], object] | None) -> None:
        self.budget, self._told = budget, told
        self._begin = time.perf_counter()
        self.seconds: dict[str, float] = {}

    def start(self) -> None:
        """Count the budget from now on."""
        self._begin = time.perf_counter()

    @property
    def spent(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self._begin

    @property
    def left(self) -> float:
        """Seconds of the budget that are left."""
        return self.budget - self.spent

    @contextlib.contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Count what happens inside under a name."""
        begin = time.perf_counter()
        try:
            yield
        finally:
            spent = time.perf_counter() - begin
            self.seconds[name] = self.seconds.get(name, 0.0) + spent

    def say(self, sentence: str) -> None:
        """Tell whoever wants to know."""
        if self._told is not None:
            self._told(sentence)
