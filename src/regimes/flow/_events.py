"""Events: what may happen to a member, when it did, and what ends its run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

from regimes._check import choose, real
from regimes.flow._losses import Loss
from regimes.flow._readings import Floats, Readings


@final
@dataclass(frozen=True)
class Event:
    """A condition on the readings of each member; its first time is recorded.

    Attributes:
        name: the key in `Run.event_times`.
        test: from the readings of m members to booleans (m,).
        needs_margin: whether it asks for margins that the loss must define.
        compares: whether the test only compares readings, one by one, so that it does so with
            tensors too. A run on a GPU waits for the host at every step where it asks another.
    """

    name: str
    test: Callable[[Readings], Floats]
    needs_margin: bool = False
    compares: bool = False


def fitted() -> Event:
    """Every training point has the loss's margin [Geiger 2020, sec. 2]."""
    return Event("fitted", lambda p: p.satisfied >= 1.0, needs_margin=True, compares=True)


def fraction_fitted(fraction: float = 0.1, name: str | None = None) -> Event:
    """More than `fraction` of the points have the margin; for 10 % the t* of [Paccolat 2021]."""
    part = real("fraction", fraction, above=0.0, below=1.0)
    return Event(
        name or f"fitted_{part:g}", lambda p: p.satisfied > part, needs_margin=True, compares=True
    )


def loss_halved() -> Event:
    """The loss is below half of its first value, as in [Geiger 2020, eq. 19]."""
    return Event("halved", lambda p: p.loss < 0.5 * p.first_loss, compares=True)


def loss_below(value: float) -> Event:
    """The mean loss is below `value`."""
    limit = real("value", value)
    return Event(f"loss<{limit:g}", lambda p: p.loss < limit, compares=True)


def all_correct() -> Event:
    """Every training point is on its right side."""
    return Event("correct", lambda p: p.least_margin > 0.0, compares=True)


def margin_above(margin: float) -> Event:
    """Every training point has more than this margin."""
    least = real("margin", margin)
    return Event(f"margin>{least:g}", lambda p: p.least_margin > least, compares=True)


_NAMED: dict[str, Callable[[], Event]] = {
    "fitted": fitted,
    "t_star": lambda: fraction_fitted(0.1, "t_star"),
    "halved": loss_halved,
    "correct": all_correct,
}


def resolve_event(event: str | Event) -> Event:
    """An event by name: fitted, t_star, halved, correct; or as it is."""
    return event if isinstance(event, Event) else choose(event, _NAMED, "event")()


def check_event(event: Event, loss: Loss) -> None:
    """Refuse to wait for a margin that the loss does not define."""
    if event.needs_margin and loss.margin is None:
        raise ValueError(
            f"until={event.name!r} waits for every point to reach the loss's margin, but "
            f"{loss.name} has none: it falls for ever and never reaches zero. Use "
            "until=flow.loss_below(1e-3), flow.margin_above(1.0) or 'correct', or give t_end"
        )
