"""How to integrate, gathered from the arguments of the front doors and checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from regimes._check import choose, instance, positive_int, real
from regimes.flow._control import StepRule, Tolerances
from regimes.flow._events import Event, check_event, resolve_event
from regimes.flow._losses import Loss
from regimes.flow._methods import METHODS, Method
from regimes.flow._momentum import Momentum


@final
@dataclass(frozen=True, eq=False)
class Settings:
    """How to integrate: steps, what ends a member's run, what is recorded on the way.

    Attributes:
        tolerances: what one step may change.
        rule: how step lengths follow.
        momentum: a velocity, or none.
        method: how a step's velocity comes from the field.
        until: the event that ends a member's run, or None.
        events: events whose first times are recorded, `until` among them.
        t_end: flow time at which every run ends exactly, or None.
        max_steps: steps tried per member, taken or refused.
        max_seconds: wall clock for all members, or None.
    """

    tolerances: Tolerances
    rule: StepRule
    momentum: Momentum
    method: Method
    until: Event | None
    events: tuple[Event, ...]
    t_end: float | None
    max_steps: int
    max_seconds: float | None

    @property
    def copies(self) -> int:
        """How many more states a step holds than one of Euler's without momentum."""
        stages = {"euler": 0, "heun": 2, "runge_kutta": 5}[self.method.__name__]
        return stages + 3 * self.momentum.active

    @property
    def described(self) -> dict[str, object]:
        """What tells these settings from others; functions go by their names."""
        return {
            "tolerances": self.tolerances,
            "rule": self.rule,
            "momentum": self.momentum,
            "method": self.method.__name__,
            "until": None if self.until is None else self.until.name,
            "events": [event.name for event in self.events],
            "t_end": self.t_end,
            "max_steps": self.max_steps,
            "max_seconds": self.max_seconds,
        }


def make_settings(
    loss: Loss,
    *,
    until: str | Event | None,
    events: Sequence[str | Event],
    t_end: float | None,
    tolerances: Tolerances | None,
    rule: StepRule | None,
    momentum: Momentum | None,
    method: str,
    max_steps: int,
    max_seconds: float | None,
    default_weight: float | None,
) -> Settings:
    """The settings of a run, or a ValueError that says what does not fit together."""
    for name, value, kind in (
        ("tolerances", tolerances, Tolerances),
        ("rule", rule, StepRule),
        ("momentum", momentum, Momentum),
    ):
        if value is not None:
            instance(name, value, kind, f"a flow.{kind.__name__}")
    stop, watched = ends_and_events(loss, until, events, t_end)
    chosen = choose(method, METHODS, "method")
    if method != "euler" and momentum is not None and momentum.active:
        raise ValueError(f"momentum flow has steps of its own; use method='euler', not {method!r}")
    usual, jumpy = Tolerances(), Tolerances(gradient=None, weight=default_weight)
    return Settings(
        tolerances=tolerances or (usual if loss.smooth else jumpy),
        rule=rule or (StepRule() if loss.smooth else StepRule(shrink=2.0)),
        momentum=momentum or Momentum(),
        method=chosen,
        until=stop,
        events=watched,
        t_end=None if t_end is None else real("t_end", t_end, above=0.0),
        max_steps=positive_int("max_steps", max_steps),
        max_seconds=None if max_seconds is None else real("max_seconds", max_seconds, above=0.0),
    )


def ends_and_events(
    loss: Loss, until: str | Event | None, events: Sequence[str | Event], t_end: float | None
) -> tuple[Event | None, tuple[Event, ...]]:
    """The event that ends a run, and all that are watched but for those the loss cannot know."""
    if until is None and t_end is None:
        raise ValueError("until=None needs t_end: otherwise nothing ends the flow")
    stop = None if until is None else resolve_event(until)
    if stop is not None:
        check_event(stop, loss)
    events = [events] if isinstance(events, str | Event) else events
    instance("events", events, (list, tuple), "a list of events or of their names")
    known = [
        event
        for event in map(resolve_event, events)
        if not (event.needs_margin and loss.margin is None)
    ]
    watched = {event.name: event for event in known}
    if stop is not None:
        watched[stop.name] = stop
    return stop, tuple(watched.values())
