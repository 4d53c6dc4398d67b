"""Observers: functions of a snapshot that are called when their schedule says so."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
import torch
from torch import Tensor

from regimes._check import instance
from regimes.flow._readings import Floats, Readings
from regimes.flow._schedules import LogTimes, Schedule, check_schedule


@final
@dataclass(frozen=True)
class Observer:
    """What to look at and when; the start and the end are always looked at.

    Attributes:
        measure: from a snapshot of m members to a tensor (m, ...). The snapshot has what the flow
            has (parameters, predictions, networks), so any measure and any kernel can be asked for.
        when: a schedule such as `LogTimes(10)`, `EveryTime(1.0)`, `OnEvent("t_star")`.
    """

    measure: Callable[[Any], Tensor]
    when: Schedule = field(default_factory=LogTimes)

    def __post_init__(self) -> None:
        instance("measure", self.measure, Callable, "a function of a snapshot")  # type: ignore[arg-type]
        check_schedule("when", self.when)


@final
@dataclass(frozen=True, eq=False)
class Recording:
    """What an observer saw.

    Attributes:
        times: one tensor (k_i,) per member.
        values: one tensor (k_i, ...) per member.
    """

    times: tuple[Tensor, ...]
    values: tuple[Tensor, ...]

    @property
    def last(self) -> Tensor:
        """The last value of every member, (R, ...)."""
        return torch.stack([value[-1] for value in self.values])

    @property
    def first(self) -> Tensor:
        """The first value of every member, (R, ...)."""
        return torch.stack([value[0] for value in self.values])

    def at(self, times: Tensor) -> Tensor:
        """The value nearest in time to `times` (R,) of every member, (R, ...); NaN for no time."""
        found = []
        for own, value, time in zip(self.times, self.values, times, strict=True):
            if bool(time.isnan()):
                found.append(torch.full_like(value[0], torch.nan))
            else:
                found.append(value[(own - time).abs().argmin()])
        return torch.stack(found)


@final
class Recorder:
    """Calls the observers and keeps what they return, member by member."""

    def __init__(self, observers: Mapping[str, Observer], members: int) -> None:
        instance("observe", observers, Mapping, "a dict from names to flow.Observer")
        for name, observer in observers.items():
            if not isinstance(observer, Observer):
                raise ValueError(
                    f"observe[{name!r}] must be a flow.Observer(measure, when), "
                    f"got {type(observer).__name__}"
                )
        self._observers = dict(observers)
        self._seen: dict[str, list[list[tuple[float, Tensor]]]] = {
            name: [[] for _ in range(members)] for name in observers
        }

    @property
    def names(self) -> list[str]:
        """Of the observers."""
        return list(self._observers)

    def look(
        self,
        ids: Floats,
        readings: Readings,
        happened: dict[str, Floats],
        snapshot: Callable[[Floats], Any],
        *,
        moved: Floats,
        always: Floats,
    ) -> None:
        """Observe the members that moved and are due; `always` marks starts and ends."""
        for name, observer in self._observers.items():
            due = np.flatnonzero((observer.when.due(readings, happened) & moved) | always)
            if len(due) == 0:
                continue
            seen = observer.measure(snapshot(due))
            if not isinstance(seen, Tensor) or seen.ndim < 1 or len(seen) != len(due):
                shape = tuple(seen.shape) if isinstance(seen, Tensor) else type(seen).__name__
                raise ValueError(
                    f"observer {name!r} must return a tensor ({len(due)}, ...), one entry per "
                    f"member of the snapshot, got {shape}"
                )
            for number, value in zip(due, seen.detach().cpu().clone(), strict=True):
                kept = self._seen[name][ids[number]]
                if not (kept and kept[-1][0] == readings.time[number]):
                    kept.append((float(readings.time[number]), value))

    def kept(self) -> dict[str, Tensor]:
        """Everything seen so far, for a checkpoint."""
        found = {}
        for name, member, seen in self._each():
            if seen:
                times = torch.tensor([time for time, _ in seen], dtype=torch.float64)
                found[f"{name}/{member}/times"] = times
                found[f"{name}/{member}/values"] = torch.stack([value for _, value in seen])
        return found

    def restore(self, kept: Mapping[str, Tensor]) -> None:
        """The inverse of `kept`."""
        for name, member, seen in self._each():
            if f"{name}/{member}/times" in kept:
                times = kept[f"{name}/{member}/times"].tolist()
                values = kept[f"{name}/{member}/values"].unbind()
                seen[:] = list(zip(times, values, strict=True))

    def _each(self) -> Iterator[tuple[str, int, list[tuple[float, Tensor]]]]:
        for name, members in self._seen.items():
            for member, seen in enumerate(members):
                yield name, member, seen

    def recordings(self) -> dict[str, Recording]:
        """Everything seen."""
        return {
            name: Recording(
                tuple(torch.tensor([t for t, _ in one], dtype=torch.float64) for one in seen),
                tuple(torch.stack([v for _, v in one]) for one in seen),
            )
            for name, seen in self._seen.items()
        }
