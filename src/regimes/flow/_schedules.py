"""When to look: schedules of observers, decided for each member by its own time and steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, final

import numpy as np

from regimes._check import instance, positive_int, real, shown
from regimes.flow._readings import Floats, Readings


class Schedule(Protocol):
    """Which members are due after a step; start and end are always observed."""

    def due(self, readings: Readings, happened: dict[str, Floats]) -> Floats:
        """Booleans (m,); `happened` says for each event which members it came to just now."""
        ...


def check_schedule(name: str, value: object) -> None:
    """Raise a ValueError unless it can be asked who is due."""
    if isinstance(value, type) or not callable(getattr(value, "due", None)):
        raise ValueError(
            f"{name} must be a schedule such as LogTimes(10) or OnEvent('t_star'), "
            f"got {shown(value)}"
        )


@final
@dataclass(frozen=True)
class LogTimes:
    """At most `per_decade` times in each factor ten of time."""

    per_decade: int = 10

    def __post_init__(self) -> None:
        positive_int("per_decade", self.per_decade)

    def due(self, readings: Readings, happened: dict[str, Floats]) -> Floats:
        """Whether a mark 10^(k/per_decade) was passed."""
        with np.errstate(divide="ignore"):
            now = np.floor(self.per_decade * np.log10(readings.time))
            before = np.floor(self.per_decade * np.log10(readings.previous_time))
        return now > before


@final
@dataclass(frozen=True)
class EveryTime:
    """Once in every interval of time of this length."""

    interval: float

    def __post_init__(self) -> None:
        real("interval", self.interval, above=0.0)

    def due(self, readings: Readings, happened: dict[str, Floats]) -> Floats:
        """Whether a multiple of the interval was passed."""
        now = np.floor(readings.time / self.interval)
        return now > np.floor(readings.previous_time / self.interval)


@final
@dataclass(frozen=True)
class EverySteps:
    """After every so many steps."""

    steps: int = 1

    def __post_init__(self) -> None:
        positive_int("steps", self.steps)

    def due(self, readings: Readings, happened: dict[str, Floats]) -> Floats:
        """Whether the number of steps is a multiple."""
        return readings.step % self.steps == 0


@final
@dataclass(frozen=True)
class OnEvent:
    """When an event first happens to a member."""

    event: str

    def due(self, readings: Readings, happened: dict[str, Floats]) -> Floats:
        """Whether it happened in this step."""
        if self.event not in happened:
            raise ValueError(
                f"no event {self.event!r} in this run; it watches {', '.join(sorted(happened))}. "
                "Add it with events=[...]"
            )
        return happened[self.event]


@final
@dataclass(frozen=True)
class Never:
    """At the start and the end alone."""

    def due(self, readings: Readings, happened: dict[str, Floats]) -> Floats:
        """Nobody."""
        return np.zeros(len(readings.time), dtype=bool)


@final
@dataclass(frozen=True)
class AnyOf:
    """When any of the schedules says so."""

    schedules: tuple[Schedule, ...]

    def __post_init__(self) -> None:
        instance("schedules", self.schedules, (list, tuple), "a tuple of schedules")
        for each in self.schedules:
            check_schedule("schedules", each)

    def due(self, readings: Readings, happened: dict[str, Floats]) -> Floats:
        """The union."""
        return np.any([each.due(readings, happened) for each in self.schedules], axis=0)
