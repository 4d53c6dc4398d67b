"""Many small ordinary differential equations at once, each with its own adaptive step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from regimes.theory._stripes import Array

# Dormand and Prince 1980: stages, weights of order 5 and their difference from order 4.
_STAGES = [
    [1 / 5],
    [3 / 40, 9 / 40],
    [44 / 45, -56 / 15, 32 / 9],
    [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729],
    [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656],
    [35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84],
]
_ERROR = [71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40]

Field = Callable[[Array, np.ndarray], Array]
Scale = Callable[[Array, Array], Array]


@dataclass
class DormandPrince:
    """Integrates `u' = field(u)` for a batch of autonomous systems, each at its own pace.

    field(u, index) gives the rates (n, m) of the members `index` (n,) in the states u (n, m);
    scale(before, after) the error (n, m) that one step may make in each component. After each
    accepted step `settle(u, index)` may replace the states, say to rescale them.
    """

    field: Field
    scale: Scale
    settle: Callable[[Array, np.ndarray], Array]
    state: Array  # (N, m)
    step: Array  # (N,), the step each member tries next
    max_steps: int
    taken: int = 0  # steps accepted, over all members
    refused: int = 0

    def advance(self, duration: float) -> None:
        """Carry every member forward by `duration`."""
        left = np.full(len(self.state), float(duration))
        rounds = 0
        while len(index := np.flatnonzero(left > 0)):
            rounds += 1
            if rounds > self.max_steps:
                raise RuntimeError(
                    f"{len(index)} of {len(left)} members had not arrived after {self.max_steps} "
                    "steps between two times asked for; raise max_steps or the tolerances"
                )
            # A step that would leave a sliver takes it along.
            tried = np.where(self.step[index] > 0.999 * left[index], left[index], self.step[index])
            before = self.state[index]
            after, error = self._try(before, index, tried)
            size = np.sqrt(np.mean((error / self.scale(before, after)) ** 2, axis=1))
            size = np.where(np.isfinite(size), size, np.inf)
            accepted = size <= 1
            moved = index[accepted]
            self.state[moved] = self.settle(after[accepted], moved)
            left[moved] = np.where(tried < left[index], left[index] - tried, 0.0)[accepted]
            factor = np.clip(0.9 * np.maximum(size, 1e-10) ** -0.2, 0.2, 5.0)
            proposal = tried * factor
            # A step cut short by the end of the interval says nothing against the longer one.
            cut = accepted & (tried < self.step[index])
            self.step[index] = np.where(cut, np.maximum(proposal, self.step[index]), proposal)
            self.taken += len(moved)
            self.refused += len(index) - len(moved)
            if bool((self.step[index] < 1e-13 * max(duration, 1e-3)).any()):
                raise RuntimeError("the step fell to rounding: the field is not finite somewhere")

    def _try(self, u: Array, index: np.ndarray, step: Array) -> tuple[Array, Array]:
        h = step[:, None]
        rates = [self.field(u, index)]
        for row in _STAGES:
            place = u + h * sum(a * k for a, k in zip(row, rates, strict=True))
            rates.append(self.field(place, index))
        # The last stage is evaluated at the new state itself.
        return place, h * sum(e * k for e, k in zip(_ERROR, rates, strict=True))
