"""Random batches of training points, drawn for every member from its own generator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import final

import torch
from torch import Tensor

from regimes._random import generator


@final
class Batches:
    """Each epoch a fresh random partition of a member's points into batches of `size`.

    [Geiger 2021b, eqs. 5 and 6]. An incomplete last batch is dropped.
    """

    def __init__(self, counts: Tensor, size: int, seeds: list[int]) -> None:
        fewest = int(counts.min())
        if size > fewest:
            raise ValueError(
                f"batch_size={size} is larger than the {fewest} training points of a member"
            )
        self._counts, self._size = counts.tolist(), size
        self._draws = [generator(seed, "batches") for seed in seeds]
        self._orders: list[Tensor] = [torch.empty(0, dtype=torch.int64) for _ in seeds]

    def next(self, members: list[int]) -> Tensor:
        """Numbers of the points of the next batch of these members, (m, size)."""
        chosen = []
        for member in members:
            if len(self._orders[member]) < self._size:
                self._orders[member] = torch.randperm(
                    self._counts[member], generator=self._draws[member]
                )
            chosen.append(self._orders[member][: self._size])
            self._orders[member] = self._orders[member][self._size :]
        return torch.stack(chosen)

    def kept(self) -> dict[str, Tensor]:
        """Where every member's draws stand, for a checkpoint."""
        return {
            "generators": torch.stack([draw.get_state() for draw in self._draws]),
            "orders": torch.cat(self._orders),
            "lengths": torch.tensor([len(order) for order in self._orders]),
        }

    def restore(self, kept: Mapping[str, Tensor]) -> None:
        """The inverse of `kept`."""
        for draw, state in zip(self._draws, kept["generators"], strict=True):
            draw.set_state(state.clone())  # torch crashes on a part of another tensor
        self._orders = list(kept["orders"].split(kept["lengths"].tolist()))
