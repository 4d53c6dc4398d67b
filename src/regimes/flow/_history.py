"""The course of every member at moments that are dense first, then every 100 steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import final

import numpy as np
import torch
from torch import Tensor

from regimes.flow._readings import Floats, Readings

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


@final
class History:
    """Rows (time, loss, ...) of each member; the start and the end are always among them."""

    def __init__(self, members: int) -> None:
        self._rows: list[list[tuple[float, ...]]] = [[] for _ in range(members)]
        self._next = np.zeros(members, dtype=np.int64)

    def add(
        self, ids: Floats, readings: Readings, sizes: Floats, accepted: Floats, ends: Floats
    ) -> None:
        """Keep a row of each member that is at such a moment or at its end."""
        marked = ends | (accepted & (readings.step >= self._next[ids]))
        if not marked.any():
            return
        due = np.flatnonzero(marked)
        done = readings.step[due]
        self._next[ids[due]] = (done + 1 + _SPACING * (1 - np.exp(-done / _ONSET))).astype(np.int64)
        columns = [sizes if name == "step_size" else getattr(readings, name) for name in COLUMNS]
        rows = np.stack([np.asarray(column, dtype=np.float64)[due] for column in columns], axis=1)
        for number, row in zip(due, rows.tolist(), strict=True):
            kept = self._rows[ids[number]]
            if kept and kept[-1][0] == row[0]:
                kept.pop()
            kept.append(tuple(row))

    def kept(self) -> dict[str, Tensor]:
        """All rows, for a checkpoint."""
        rows = [row for member in self._rows for row in member]
        return {
            "rows": torch.tensor(rows, dtype=torch.float64).view(-1, len(COLUMNS)),
            "lengths": torch.tensor([len(member) for member in self._rows]),
            "next": torch.from_numpy(self._next),
        }

    def restore(self, kept: Mapping[str, Tensor]) -> None:
        """The inverse of `kept`."""
        members = kept["rows"].split(kept["lengths"].tolist())
        self._rows = [[tuple(row) for row in member.tolist()] for member in members]
        self._next = kept["next"].numpy()

    def padded(self) -> dict[str, Tensor]:
        """Each column as (R, K); a member with fewer rows repeats its last."""
        longest = max(len(rows) for rows in self._rows)
        full = [rows + [rows[-1]] * (longest - len(rows)) for rows in self._rows]
        table = torch.tensor(full, dtype=torch.float64)  # (R, K, columns)
        return {name: table[..., i].contiguous() for i, name in enumerate(COLUMNS)}
