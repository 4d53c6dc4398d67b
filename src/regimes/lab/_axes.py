"""What a study scans: axes, how stacked ones are cut into trials, and their grid."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Axis:
    """One scanned parameter: a field of the parameters that holds a tuple of values.

    The values of a stacked axis go into one trial together, as a batch (seeds that train side by
    side); those of other axes make separate trials. With `batch`, the name of another field, a
    stacked axis is cut into trials of so many values (0: all in one), which workers share; the
    summary has the axis whole again. How an axis is cut is not a parameter of the experiment: the
    field is in no trial's key, only the values of the batch are.
    """

    name: str
    stacked: bool = False
    unit: str = "1"
    batch: str | None = None

    def __post_init__(self) -> None:
        if self.batch is not None and not self.stacked:
            raise ValueError(f"axis {self.name!r} is cut into batches, so it must be stacked")

    def choices(self, params: Any) -> list[Any]:
        """What the axis is in each trial: a value, or a tuple of them where it is stacked.

        Raises:
            ValueError: no value, or one twice.
        """
        values = getattr(params, self.name)
        if not values or len(set(values)) < len(values):
            raise ValueError(f"axis {self.name} needs one value or more, each once, got {values}")
        if not self.stacked:
            return list(values)
        return batches(values, getattr(params, self.batch) if self.batch else 0)


def batches(values: Sequence[Any], size: int) -> list[tuple[Any, ...]]:
    """Values in consecutive groups of this size; 0 leaves them together.

    >>> batches((0, 1, 2, 3, 4), 2), batches((0, 1, 2), 0)
    ([(0, 1), (2, 3), (4,)], [(0, 1, 2)])
    """
    if size < 0:
        raise ValueError(f"a batch holds one value or more, or 0 for all of them, got {size}")
    size = size or len(values)
    return [tuple(values[i : i + size]) for i in range(0, len(values), size)]


def grid(axes: Sequence[Axis], params: Any) -> Iterator[dict[str, Any]]:
    """Every point of the scan, the last axis running fastest."""
    names = [axis.name for axis in axes]
    combinations = itertools.product(*(axis.choices(params) for axis in axes))
    return (dict(zip(names, values, strict=True)) for values in combinations)
