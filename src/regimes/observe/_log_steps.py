"""When to look: steps that are spread evenly on a logarithmic axis."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

from regimes._check import positive_int, real


@final
@dataclass(frozen=True)
class LogSteps:
    """Step 0 and the steps `first * floor(ratio^k)`, k = 0, 1, ...

    The default are the log points of the programs of [Baratin 2021]: 0, 5, 10, ..., 74 of them up
    to 3e5 steps.

    >>> [step for step in range(60) if LogSteps().due(step)]
    [0, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50]
    >>> sum(LogSteps(1, 2.0).due(step) for step in range(1000))
    11
    """

    first: int = 5
    ratio: float = 1.15

    def __post_init__(self) -> None:
        positive_int("first", self.first)
        real("ratio", self.ratio, above=1.0)

    def due(self, step: int) -> bool:
        """Whether this step is one of them."""
        if step == 0:
            return True
        if step < self.first or step % self.first:
            return False
        count = step // self.first
        k = math.ceil(math.log(count) / math.log(self.ratio))
        return any(math.floor(self.ratio**near) == count for near in (k - 1, k, k + 1))
