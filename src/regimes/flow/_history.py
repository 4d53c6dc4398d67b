"""The course of every member at moments that are dense first, then every 100 steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, final

import numpy as np
import torch
from torch import Tensor

from regimes.flow._lone import every, lone, some, where
from regimes.flow._readings import Floats, Readings
from regimes.flow._rows import Rows

_AT_ONCE = 64  # additions that wait to be kept together: each costs as much as many
# After step s the next row is at `int(s + 1 + A (1 - exp(-s/tau)))`: dense first, then every A.
_SPACING, _ONSET = 100.0, 1e4  # docs/themes/regimes.md, "Steps of the flow"

COLUMNS = (
    "time",
    "loss",
    "step_size",
    "satisfied",
    "least_margin",
    "gradient",
    "weight",
    "step",
)


def following(done: Any) -> Any:
    """The step of the next row after one at step `done`; the whole number below it counts."""
    part = -done / _ONSET
    return done + 1 + _SPACING * (1 - (part.exp() if isinstance(part, Tensor) else np.exp(part)))


@final
class History:
    """Rows (time, loss, ...) of each member; the start and the end are always among them."""

    def __init__(self, members: int) -> None:
        self._rows = Rows()
        self._waiting: list[tuple[Floats, Floats]] = []
        self._next = np.zeros(members, dtype=np.int64)

    def add(
        self, ids: Floats, readings: Readings, sizes: Floats, accepted: Floats, ends: Floats
    ) -> None:
        """Keep a row of each member that is at such a moment or at its end."""
        who, done = lone(ids), readings.numbers.step
        marked = ends | (accepted & (done >= self._next[who]))
        if not some(marked):
            return
        self._next[who] = where(marked, following(done), self._next[who])
        columns = [sizes if name == "step_size" else getattr(readings, name) for name in COLUMNS]
        rows = np.array(columns, dtype=np.float64).T
        self.take(*(ids, rows) if every(marked) else (ids[marked], rows[marked]))

    @property
    def next(self) -> Floats:
        """The step from which on each member has its next row, (R,)."""
        return self._next

    def take(self, ids: Floats, rows: Floats) -> None:
        """Keep rows (k, columns) of these members (k,)."""
        self._waiting.append((ids, rows))
        if len(self._waiting) == _AT_ONCE:
            self._collect()

    def _collect(self) -> None:
        if not self._waiting:
            return
        ids, rows = (np.concatenate(parts) for parts in zip(*self._waiting, strict=True))
        times, values = torch.from_numpy(rows[:, 0].copy()), torch.from_numpy(rows)
        self._rows.add(torch.from_numpy(ids), times, values)
        self._waiting = []

    def kept(self) -> dict[str, Tensor]:
        """All rows, for a checkpoint."""
        self._collect()
        return self._rows.kept() | {"next": torch.from_numpy(self._next)}

    def restore(self, kept: Mapping[str, Tensor]) -> None:
        """The inverse of `kept`."""
        self._rows.restore(kept)
        self._next = kept["next"].numpy()

    def padded(self) -> dict[str, Tensor]:
        """Each column as (R, K); a member with fewer rows repeats its last."""
        self._collect()
        members, times, values = self._rows.by_member()
        # of several rows at one time, such as an end in the step after a row, the last counts
        last = torch.ones_like(members, dtype=torch.bool)
        last[:-1] = (members[1:] != members[:-1]) | (times[1:] != times[:-1])
        members, values = members[last], values[last]
        lengths = torch.bincount(members, minlength=len(self._next))
        place = torch.arange(int(lengths.max())).minimum(lengths[:, None] - 1)
        place += lengths.cumsum(0)[:, None] - lengths[:, None]  # where a member's rows begin
        return {name: values[:, i][place] for i, name in enumerate(COLUMNS)}
