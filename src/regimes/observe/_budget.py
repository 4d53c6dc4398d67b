"""How much time observing may take of training, and how much it took."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import final

from regimes._check import real


@final
class Budget:
    """Seconds of observing against all seconds since the start.

    Args:
        share: of the whole time that observing may take; None for any.
        clock: seconds.
    """

    def __init__(self, share: float | None, clock: Callable[[], float] = time.perf_counter) -> None:
        self.share = None if share is None else real("budget", share, above=0.0, below=1.0)
        self.clock = clock
        self.spent = 0.0
        self.kept = self.left_out = 0
        self._start = clock()
        self._dearest = 0.0

    def allows(self) -> bool:
        """Whether another look, as dear as the dearest so far, stays within the share."""
        if self.share is None:
            return True
        ahead = self._dearest
        return self.spent + ahead <= self.share * (self.elapsed + ahead)

    def spend(self, seconds: float, *, look: bool) -> None:
        """Note time that observing took."""
        self.spent += seconds
        if look:
            self.kept += 1
            # the first look examines the network, later ones know it
            self._dearest = seconds if self.kept <= 2 else max(self._dearest, seconds)

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return self.clock() - self._start

    def told(self) -> str:
        """What was spent, in words."""
        elapsed = self.elapsed
        share = self.spent / elapsed if elapsed else 0.0
        looks = self.kept + self.left_out
        allowed = "no budget" if self.share is None else f"budget {self.share:.3g}"
        return (
            f"{self.kept} of {looks} log points observed in {self.spent:.3g} s, a share of "
            f"{share:.3g} of {elapsed:.3g} s ({allowed})"
        )
