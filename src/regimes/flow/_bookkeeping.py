"""What is written down along a run, whoever takes the steps: events, history, observers, ends."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any, TypeVar, final

import numpy as np
import torch
from torch import Tensor

from regimes.flow._events import Event
from regimes.flow._field import Evaluation, Field, State, norm
from regimes.flow._history import History
from regimes.flow._joined import joined
from regimes.flow._lone import lone, some, where
from regimes.flow._observers import Recorder
from regimes.flow._readings import Floats, Readings
from regimes.flow._status import Status

# From the numbers of some members in the run, their state and evaluation, and their readings.
MakeSnapshot = Callable[[Floats, State, Evaluation, Readings], Any]

T = TypeVar("T")

NUMBERS = ("loss", "satisfied", "least_margin", "gradient", "weight")


@final
@dataclass(frozen=True, eq=False)
class Ends:
    """The end of every member, in the order they were given."""

    state: dict[str, Tensor]
    predictions: Tensor
    status: tuple[Status, ...]
    history: dict[str, Tensor]
    event_times: dict[str, Tensor]
    counts: dict[str, Tensor]
    worst: dict[str, Tensor]
    unresolved: Tensor
    seconds: float


@final
@dataclass(frozen=True, eq=False)
class Batch:
    """The members still on their way.

    Attributes:
        ids: their numbers in the run.
        field: their dynamics.
        state: what moves.
        carried: what the stepper remembers besides, such as velocities; may be empty.
        evaluation: the field at the state.
    """

    ids: Floats
    field: Field
    state: State
    carried: Mapping[str, Tensor]
    evaluation: Evaluation

    def select(self, kept: Floats) -> Batch:
        """The batch of some members, given as a mask."""
        where = torch.from_numpy(np.flatnonzero(kept)).to(self.evaluation.predictions.device)
        return Batch(
            self.ids[kept],
            self.field.select(where),
            joined({k: v[where] for k, v in self.state.items()}),
            {k: v[where] for k, v in self.carried.items()},
            Evaluation(
                self.evaluation.predictions[where],
                {k: v[where] for k, v in self.evaluation.speed.items()},
            ),
        )

    def kept(self) -> dict[str, Tensor]:
        """Everything but the field, for a checkpoint."""
        return (
            {"ids": torch.from_numpy(self.ids), "predictions": self.evaluation.predictions}
            | within("state", self.state)
            | within("speed", self.evaluation.speed)
            | within("carried", self.carried)
        )

    @staticmethod
    def restored(kept: Mapping[str, Tensor], start: Batch) -> Batch:
        """The batch that was kept, with the field of its members in `start`."""
        ids, predictions = kept["ids"], kept["predictions"]
        everybody = len(ids) == len(start.ids)
        return Batch(
            ids.numpy(),
            start.field if everybody else start.field.select(ids.to(predictions.device)),
            joined(below("state", kept)),
            below("carried", kept),
            Evaluation(predictions, joined(below("speed", kept))),
        )


@final
class Bookkeeper:
    """Times, counts, events, history, observations and ends of R members."""

    def __init__(
        self, batch: Batch, events: tuple[Event, ...], recorder: Recorder, snapshot: MakeSnapshot
    ) -> None:
        size = len(batch.ids)
        self._events, self._recorder, self._snapshot = events, recorder, snapshot
        self._begin = clock.perf_counter()
        self.time, self.step = np.zeros(size), np.zeros(size)
        self.counts = {k: np.zeros(size, dtype=np.int64) for k in ("taken", "refused", "forced")}
        self.worst = {k: np.zeros(size) for k in ("output", "gradient", "weight")}
        self.unresolved = np.zeros(size)
        self._event_times = {event.name: np.full(size, np.nan) for event in events}
        self._status = [Status.OUT_OF_TIME] * size
        self._history = History(size)
        self._state = {k: torch.empty_like(v) for k, v in batch.state.items()}
        self._predictions = torch.empty_like(batch.evaluation.predictions)
        self.first = to_host(numbers_of(batch.field, batch.evaluation, batch.state))

    @property
    def seconds(self) -> float:
        """Wall time since the start."""
        return clock.perf_counter() - self._begin

    def readings(self, ids: Floats, numbers: Mapping[str, Floats], before: Floats) -> Readings:
        """Where these members stand; `before` is their time one step ago."""
        return Readings(
            time=self.time[ids],
            previous_time=before,
            step=self.counts["taken"][ids],
            first_loss=self.first["loss"][ids],
            **{name: numbers[name] for name in NUMBERS},
        )

    def settle(
        self,
        batch: Batch,
        readings: Readings,
        moved: Floats,
        who_ended: Callable[[Floats, Readings], Mapping[Status, Floats]],
    ) -> tuple[Batch, Readings]:
        """Write down what happened to the members that moved, and let those at an end go.

        `who_ended` tells which members have come to which end; the first that applies counts.
        """
        ids, moved = batch.ids, lone(moved)
        who, now = lone(ids), readings.numbers
        happened = {}
        for event in self._events:
            times = self._event_times[event.name]
            seen = times[who]
            new = moved & (seen != seen)  # not yet a number
            if some(new):
                new = new & lone(event.test(readings))
                times[who] = where(new, now.time, seen)
            happened[event.name] = new
        ended = who_ended(ids, readings)
        done = lone(reduce(or_, ended.values()))
        starts = moved & (now.step == 0)
        self._history.add(ids, readings, self.step[ids], moved, done | starts)
        self._recorder.look(
            ids,
            readings,
            happened,
            lambda which: self._shown(batch, readings, which),
            moved=moved,
            always=done | starts,
        )
        if not some(done):
            return batch, readings
        done = np.atleast_1d(done)
        return self.let_go(batch, done, ended), readings.select(~done)

    def let_go(self, batch: Batch, done: Floats, ended: Mapping[Status, Floats]) -> Batch:
        """The batch without the members that are at an end, whose states are kept."""
        ids = batch.ids
        for status, those in reversed(list(ended.items())):
            for member in ids[np.broadcast_to(those, ids.shape)]:
                self._status[member] = status
        self._keep(batch, done)
        return batch.select(~done)

    def least_tried(self, ids: Floats) -> int:
        """The fewest steps tried by any of these members."""
        return int((self.counts["taken"][ids] + self.counts["refused"][ids]).min())

    @property
    def next_rows(self) -> Floats:
        """The step from which on each member has its next row in the history, (R,)."""
        return self._history.next

    def event_times(self, name: str) -> Floats:
        """First times of an event, (R,)."""
        return self._event_times[name]

    def take_rows(self, ids: Floats, rows: Floats) -> None:
        """Rows of the history of these members, found elsewhere."""
        self._history.take(ids, rows)

    def _shown(self, batch: Batch, readings: Readings, which: Floats) -> Any:
        chosen = np.zeros(len(batch.ids), dtype=bool)
        chosen[which] = True
        part = batch if chosen.all() else batch.select(chosen)
        return self._snapshot(part.ids, part.state, part.evaluation, readings.select(chosen))

    def _keep(self, batch: Batch, who: Floats) -> None:
        """Put the last state of these members where the whole run's is kept."""
        device = self._predictions.device
        rows = torch.from_numpy(np.flatnonzero(who)).to(device)
        members = torch.from_numpy(batch.ids[who]).to(device)
        for name, value in batch.state.items():
            self._state[name][members] = value[rows]
        self._predictions[members] = batch.evaluation.predictions[rows]

    def kept(self, going: Floats) -> dict[str, Tensor]:
        """All that was written down, for a checkpoint; `going` are the members on their way."""
        ended = self._ended(going)
        order = list(Status)
        numbers = within("first", self.first) | within("event", self._event_times)
        numbers |= within("count", self.counts) | within("worst", self.worst)
        numbers |= {"time": self.time, "step": self.step, "unresolved": self.unresolved}
        return (
            {name: torch.from_numpy(value) for name, value in numbers.items()}
            | {
                "seconds": torch.tensor(self.seconds, dtype=torch.float64),
                "status": torch.tensor([order.index(status) for status in self._status]),
                "predictions": self._predictions[ended],
            }
            | within("state", {name: value[ended] for name, value in self._state.items()})
            | within("history", self._history.kept())
            | within("seen", self._recorder.kept())
        )

    def restore(self, kept: Mapping[str, Tensor], going: Floats) -> None:
        """The inverse of `kept`; seconds spent before count on."""
        ended = self._ended(going)
        order = list(Status)
        self._begin -= float(kept["seconds"])
        self.time, self.step = kept["time"].numpy(), kept["step"].numpy()
        self.unresolved = kept["unresolved"].numpy()
        for mine, name in (
            (self.first, "first"),
            (self._event_times, "event"),
            (self.counts, "count"),
            (self.worst, "worst"),
        ):
            mine.update({key: value.numpy() for key, value in below(name, kept).items()})
        self._status = [order[number] for number in kept["status"].tolist()]
        self._predictions[ended] = kept["predictions"]
        for name, value in below("state", kept).items():
            self._state[name][ended] = value
        self._history.restore(below("history", kept))
        self._recorder.restore(below("seen", kept))

    def _ended(self, going: Floats) -> Tensor:
        members = np.setdiff1d(np.arange(len(self.time)), going)
        return torch.from_numpy(members).to(self._predictions.device)

    def ends(self) -> Ends:
        """The whole run, once every member has come to an end."""
        return Ends(
            state=self._state,
            predictions=self._predictions,
            status=tuple(self._status),
            history=self._history.padded(),
            event_times={k: torch.from_numpy(v) for k, v in self._event_times.items()},
            counts={k: torch.from_numpy(v) for k, v in self.counts.items()},
            worst={k: torch.from_numpy(v) for k, v in self.worst.items()},
            unresolved=torch.from_numpy(self.unresolved),
            seconds=self.seconds,
        )


def within(name: str, values: Mapping[str, T]) -> dict[str, T]:
    """The values under longer names.

    >>> within("count", {"taken": 1})
    {'count/taken': 1}
    """
    return {f"{name}/{key}": value for key, value in values.items()}


def below(name: str, values: Mapping[str, T]) -> dict[str, T]:
    """Those values that `within` had put under a name."""
    start = f"{name}/"
    return {k.removeprefix(start): v for k, v in values.items() if k.startswith(start)}


def numbers_of(field: Field, evaluation: Evaluation, state: State) -> dict[str, Tensor]:
    """What every step has to know of a state, (m,) each."""
    objective, predictions = field.objective, evaluation.predictions
    losses, margins = objective.losses_and_margins(predictions)
    needed = objective.loss.margin if objective.loss.margin is not None else 0.0
    satisfied = margins >= needed
    if objective.mask is not None:
        satisfied = satisfied & objective.mask
    return {
        "loss": losses,
        "satisfied": satisfied.sum(1) / objective.points,
        "least_margin": margins.amin(1),
        "gradient": evaluation.speed_norm,
        "weight": norm(state),
    }


def to_host(numbers: Mapping[str, Tensor]) -> dict[str, Floats]:
    """All numbers in one transfer, as float64 arrays."""
    packed = torch.stack(list(numbers.values())).double().cpu().numpy()
    return dict(zip(numbers, packed, strict=True))
