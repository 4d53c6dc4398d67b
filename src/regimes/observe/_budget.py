"""How much time observing may take of training, and how much it took."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import final

from regimes._check import real

_OF_THE_PATH = 0.5  # of the budget that following the path may take, so that looks are left


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
        self.spent = self.spent_on_path = 0.0
        self.kept = self.left_out = 0
        self.path_kept = self.path_left_out = 0
        self._start = clock()
        self._dearest = 0.0

    def expect(self, seconds: float) -> None:
        """What the first look may take; later ones are known from those before."""
        self._dearest = seconds

    def allows(self) -> bool:
        """Whether another look, as dear as the dearest so far, stays within the share."""
        if self.share is None:
            return True
        ahead = self._dearest
        return self.spent + ahead <= self.share * (self.elapsed + ahead)

    def allows_path(self) -> bool:
        """Whether the path may be followed at this step."""
        if self.share is None:
            return True
        return self.spent_on_path <= _OF_THE_PATH * self.share * self.elapsed

    def spend(self, seconds: float, *, look: bool) -> None:
        """Note time that observing took."""
        self.spent += seconds
        if look:
            self.kept += 1
            # the first look examines the network, later ones know it
            self._dearest = seconds if self.kept <= 2 else max(self._dearest, seconds)

    def spend_on_path(self, seconds: float) -> None:
        """Note time that a step of the path took, which is a part of all."""
        self.path_kept += 1
        self.spent_on_path += seconds
        self.spent += seconds

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
        told = (
            f"{self.kept} of {looks} log points observed in {self.spent:.3g} s, a share of "
            f"{share:.3g} of {elapsed:.3g} s ({allowed})"
        )
        if self.path_left_out:
            steps = self.path_kept + self.path_left_out
            told += f"; the path is that of {self.path_kept} of {steps} steps, straight in between"
        if self.share is not None and self.kept == 1 and share > self.share:
            told += "; one look alone takes more than the budget of so short a training"
        return told
