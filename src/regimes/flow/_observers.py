"""Observers: functions of a snapshot that are called when their schedule says so."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
import torch
from torch import Tensor

from regimes._check import instance
from regimes.flow._readings import Floats, Readings
from regimes.flow._rows import Rows
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
        self._seen = {name: Rows() for name in observers}
        self._latest = {name: np.full(members, np.nan) for name in observers}  # times

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
        if not self._observers:
            return
        moved, always = np.atleast_1d(moved, always)
        happened = {name: np.atleast_1d(who) for name, who in happened.items()}
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
            now, latest = readings.time[due], self._latest[name]
            new = np.flatnonzero(latest[ids[due]] != now)
            if len(new) == 0:
                continue
            latest[ids[due[new]]] = now[new]
            values = seen.detach().cpu()
            try:
                self._seen[name].add(
                    torch.from_numpy(ids[due[new]]),
                    torch.from_numpy(now[new]),
                    values if len(new) == len(due) else values[torch.from_numpy(new)],
                )
            except ValueError as error:
                raise ValueError(f"observer {name!r}: {error}") from None

    def kept(self) -> dict[str, Tensor]:
        """Everything seen so far, for a checkpoint."""
        return {
            f"{name}/{part}": tensor
            for name, seen in self._seen.items()
            for part, tensor in seen.kept().items()
        }

    def restore(self, kept: Mapping[str, Tensor]) -> None:
        """The inverse of `kept`."""
        for name, seen in self._seen.items():
            parts = {part: kept[f"{name}/{part}"] for part in ("members", "times", "values")}
            seen.restore(parts)
            # the last row of a member stands, as it did when it was written
            self._latest[name][parts["members"].numpy()] = parts["times"].numpy()

    def recordings(self) -> dict[str, Recording]:
        """Everything seen."""
        found = {}
        for name, seen in self._seen.items():
            members, times, values = seen.by_member()
            lengths = torch.bincount(members, minlength=len(self._latest[name])).tolist()
            found[name] = Recording(times.split(lengths), values.split(lengths))
        return found
