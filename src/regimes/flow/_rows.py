"""Rows that many members leave along a run, kept close together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import final

import torch
from torch import Tensor

_FIRST = 64  # rows that there is room for at first


@final
class Rows:
    """A member's number, a time and a value per row, in blocks that double when they are full.

    A row costs its own numbers and 16 bytes: Python objects would take a hundred times as much.
    """

    def __init__(self) -> None:
        self._used = 0
        self._blocks: tuple[Tensor, Tensor, Tensor] | None = None

    def add(self, members: Tensor, times: Tensor, values: Tensor) -> None:
        """Append rows: (k,) int64, (k,) float64 and (k, ...).

        Raises:
            ValueError: values of another shape than before.
        """
        new = (members, times, values)
        if self._blocks is None:
            self._blocks = (members[:0], times[:0], values[:0])
        if values.shape[1:] != self._blocks[2].shape[1:]:
            raise ValueError(
                f"an entry had shape {tuple(self._blocks[2].shape[1:])} before and has "
                f"{tuple(values.shape[1:])} now; it must keep its shape along the run"
            )
        end = self._used + len(members)
        if end > len(self._blocks[0]):
            room = max(2 * len(self._blocks[0]), end, _FIRST)
            members, times, values = (_longer(b, self._used, room) for b in self._blocks)
            self._blocks = (members, times, values)
        for block, part in zip(self._blocks, new, strict=True):
            block[self._used : end] = part
        self._used = end

    @property
    def filled(self) -> tuple[Tensor, Tensor, Tensor]:
        """Members, times and values of all rows, in the order they came."""
        if self._blocks is None:
            nothing = torch.empty(0, dtype=torch.float64)
            return nothing.long(), nothing, nothing
        members, times, values = (block[: self._used] for block in self._blocks)
        return members, times, values

    def by_member(self) -> tuple[Tensor, Tensor, Tensor]:
        """The same, member after member, each in the order its rows came."""
        members, times, values = self.filled
        order = members.argsort(stable=True)
        return members[order], times[order], values[order]

    def kept(self) -> dict[str, Tensor]:
        """All rows, for a checkpoint."""
        return dict(zip(("members", "times", "values"), self.filled, strict=True))

    def restore(self, kept: Mapping[str, Tensor]) -> None:
        """The inverse of `kept`."""
        self._blocks = (kept["members"], kept["times"], kept["values"])
        self._used = len(kept["members"])


def _longer(block: Tensor, used: int, room: int) -> Tensor:
    made = block.new_empty((room, *block.shape[1:]))
    made[:used] = block[:used]
    return made
