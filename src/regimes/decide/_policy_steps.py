"""Explicit steps of the flow of policies: every member with its own time and step.

The steps are judged, and their lengths follow, by `regimes.flow`'s own control; checkpoints are its
own too. Its integrator is not used: it descends a loss over data points within relative changes,
while here a reward must not fall and the change of its gradient is bounded as it is.
"""

from __future__ import annotations

import dataclasses
import functools
import time as clock
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import torch
from torch import Tensor

from regimes.decide._legendre import fastest_rate, leap, longest_step, stages_of
from regimes.decide._policy_field import PolicyField, Rows
from regimes.flow._checkpoint import Shelf
from regimes.flow._control import Changes, Judgement, StepRule, Tolerances, judge
from regimes.flow._status import Status

Floats = np.ndarray

_KEPT = (
    "time", "step", "worst", "first", "reward", "taken", "refused", "next_mark", "rewards", "status"
)  # fmt: skip
_TURNS = 10  # of the power method, where members go on after they have met
_NO_STEP = 4e-16  # a step this small against the time no longer changes it


@final
@dataclass(frozen=True)
class Limits:
    """How steps are judged and what ends a member.

    Attributes:
        tolerance: how far a slope may change in a step, start and policy added.
        rule: how the lengths of steps follow.
        stages: of a step at most; one is Euler's.
        until: time at which every member ends exactly.
        max_steps: steps tried per member, taken or refused.
        wall: seconds for all members, or None.
    """

    tolerance: float
    rule: StepRule
    stages: int
    until: float
    max_steps: int
    wall: float | None


@final
@dataclass(eq=False)
class Going:
    """The members on their way: numbers in the run, logits, slopes and rewards.

    `direction` is where the slope changes fastest; with steps of one stage it is empty.
    """

    ids: Floats
    field: PolicyField
    logits: Tensor
    slope: Tensor
    direction: Tensor
    reward: Floats
    rounding: Floats

    def select(self, kept: Floats) -> Going:
        """Some of them, given as a mask."""
        rows = torch.from_numpy(np.flatnonzero(kept)).to(self.logits.device)
        return Going(
            self.ids[kept],
            self.field.select(rows),
            self.logits[rows],
            self.slope[rows],
            self.direction[rows],
            self.reward[kept],
            self.rounding[kept],
        )


@final
class Books:
    """What is written down of all R members: an entry each, in the order they were given."""

    def __init__(self, logits: Tensor, reward: Floats, first: float, marks: Floats) -> None:
        size = len(logits)
        self.marks, self._following = marks, np.append(marks, np.inf)
        self.time, self.step = np.zeros(size), np.full(size, first)
        self.worst, self.first, self.reward = np.zeros(size), reward, reward.copy()
        self.taken, self.refused = np.zeros((2, size), dtype=np.int64)
        self.next_mark = np.zeros(size, dtype=np.int64)
        self.rewards = np.full((size, len(marks)), np.nan)
        self.status = np.full(size, list(Status).index(Status.OUT_OF_TIME))
        self.logits = logits.clone()
        self._begin = clock.perf_counter()
        self.note(np.arange(size), self.time, reward, reward)

    @property
    def seconds(self) -> float:
        """Wall time since the start, that before an interruption included."""
        return clock.perf_counter() - self._begin

    def note(self, ids: Floats, before: Floats, old: Floats, new: Floats) -> None:
        """Rewards at the marks between `before` and now, on the line from one step to the next."""
        now = self.time[ids]
        due = self._following[self.next_mark[ids]] <= now
        while due.any():
            who = ids[due]
            mark = self.next_mark[who]
            length = now[due] - before[due]
            part = (self.marks[mark] - before[due]) / np.where(length > 0, length, 1.0)
            self.rewards[who, mark] = old[due] + part * (new[due] - old[due])
            self.next_mark[who] += 1
            due = self._following[self.next_mark[ids]] <= now

    def end(self, going: Going, ended: Mapping[Status, Floats]) -> Going:
        """Keep the last state of those at an end, and go on with the others."""
        done = np.logical_or.reduce(list(ended.values()))
        if not done.any():
            return going
        order = list(Status)
        for status, those in reversed(list(ended.items())):  # the first that applies counts
            self.status[going.ids[those]] = order.index(status)
        rows = torch.from_numpy(np.flatnonzero(done)).to(self.logits.device)
        members = torch.from_numpy(going.ids[done]).to(self.logits.device)
        self.logits[members] = going.logits[rows]
        return going.select(~done)

    @property
    def _arrays(self) -> dict[str, Floats]:
        return {name: getattr(self, name) for name in _KEPT}

    def kept(self) -> dict[str, Tensor]:
        """Everything written down, for a checkpoint."""
        arrays = {name: torch.from_numpy(value) for name, value in self._arrays.items()}
        seconds = torch.tensor(self.seconds, dtype=torch.float64)
        return {**arrays, "logits": self.logits, "seconds": seconds}

    def restore(self, kept: Mapping[str, Tensor]) -> None:
        """The inverse of `kept`."""
        for name in self._arrays:
            setattr(self, name, kept[name].numpy())
        self.logits = kept["logits"]
        self._begin -= float(kept["seconds"])


@torch.no_grad()
def climb(
    field: PolicyField, rows: Rows, logits: Tensor, limits: Limits, marks: Floats, shelf: Shelf
) -> Books:
    """Integrate until every member has come to an end.

    Members that take many stages wait for each other at every power of ten: how many a step needs
    grows with time, and one far ahead would have the others look at the field in vain.
    """
    meetings = [limits.until]
    if limits.stages > 1:
        powers = 10.0 ** np.arange(2, 308)
        meetings = [*powers[powers < limits.until].tolist(), limits.until]
    going, books, met = _start(field, logits, limits, marks, shelf)
    for number in range(met, len(meetings)):
        going = _rejoined(field, books) if number > met else going
        part = dataclasses.replace(limits, until=meetings[number])
        _stretch(going, books, rows, part, functools.partial(_save, shelf, books, number))
    return books


def _stretch(
    going: Going, books: Books, rows: Rows, limits: Limits, after_step: Callable[[Going], None]
) -> None:
    """Take all members to the end of the limits.

    A stage of a step costs one look at the field, a step one transfer of two numbers a member; the
    slope found at the end of a step taken is the one that the next begins with.
    """
    trial = slope = change = torch.empty_like(going.logits[:0])
    going = books.end(going, _who_ended(going, books, limits))
    while len(going.ids):
        if len(trial) != len(going.ids):
            trial, slope, change = (torch.empty_like(going.logits) for _ in range(3))
        ids, now = going.ids, books.time[going.ids]
        wished = books.step[ids]
        step = np.minimum(wished, limits.until - now)
        stages = np.ones(len(ids), dtype=np.int64)
        if limits.stages > 1:
            rate = fastest_rate(going.field, going.logits, going.slope, going.direction)
            step = np.minimum(step, longest_step(rate, limits.stages))
            stages = stages_of(rate, step, limits.stages)
        lengths = torch.from_numpy(step).to(going.logits)
        trial = leap(going.field, going.logits, going.slope, lengths, stages, out=trial)
        reward = going.field.slopes(trial, out=slope)
        torch.sub(slope, going.slope, out=change).abs_()
        largest = rows.policy(change).flatten(1).amax(1)
        if rows.starts:
            largest += rows.start(change).amax(1)
        found, largest_change = torch.stack([reward, largest]).double().cpu().numpy()
        verdict = _judge(found, largest_change, step, now, going, limits)
        accepted = verdict.accepted
        # a step cut short to end in time says nothing about the length of the next
        books.step[ids] = np.where(accepted & (step < wished), wished, verdict.next_step)
        books.taken[ids] += accepted
        books.refused[ids] += ~accepted
        books.worst[ids] = np.maximum(books.worst[ids], np.where(accepted, largest_change, 0.0))
        last = step >= limits.until - now
        after = np.where(last, limits.until, now + step)
        books.time[ids] = np.where(accepted, after, now)
        new = np.where(accepted, found, going.reward)
        books.note(ids, now, going.reward, new)
        books.reward[ids] = going.reward = new
        trial, slope = _move(going, trial, slope, accepted)
        going = books.end(going, _who_ended(going, books, limits))
        after_step(going)


def _start(
    field: PolicyField, logits: Tensor, limits: Limits, marks: Floats, shelf: Shelf
) -> tuple[Going, Books, int]:
    """All members as they begin, or where the checkpoint found them; how often they have met."""
    ids = np.arange(len(logits))
    slope = torch.empty_like(logits)
    reward = field.slopes(logits, out=slope).double().cpu().numpy()
    books = Books(logits, reward, float(limits.rule.first or 1.0), marks)
    rounding = _rounding(field, books)
    # any direction will do that is not orthogonal to the fastest
    direction = slope + 1e-3 if limits.stages > 1 else slope[:, :0]
    going = Going(ids, field, logits.clone(), slope, direction, reward, rounding)
    kept = shelf.tensors()
    if kept is None:
        return going, books, 0
    if not np.array_equal(kept["books/first"].numpy(), reward):
        shelf.refuse("its members started with other rewards")
        return going, books, 0
    shelf.forget()
    books.restore({k.removeprefix("books/"): v for k, v in kept.items() if k.startswith("books/")})
    ids = kept["ids"].numpy()
    whole = len(ids) in (0, len(logits))
    members = kept["ids"].to(logits.device)
    going = Going(
        ids,
        field if whole else field.select(members),
        kept["now"],
        kept["slope"],
        kept["direction"],
        books.reward[ids],
        rounding[ids],
    )
    return going, books, int(kept["met"])


def _rejoined(field: PolicyField, books: Books) -> Going:
    """The members that have met, on their way again."""
    ids = np.flatnonzero(books.status == list(Status).index(Status.REACHED))
    members = torch.from_numpy(ids).to(books.logits.device)
    whole = len(ids) in (0, len(books.status))
    own, logits = field if whole else field.select(members), books.logits[members]
    slope = torch.empty_like(logits)
    if len(ids):
        own.slopes(logits, out=slope)
    direction = slope + 1e-3
    for _ in range(_TURNS if len(ids) else 0):
        fastest_rate(own, logits, slope, direction)
    return Going(
        ids, own, logits, slope, direction, books.reward[ids], _rounding(field, books)[ids]
    )


def _rounding(field: PolicyField, books: Books) -> Floats:
    """How far rounding may move the rewards of all members."""
    return field.rounding.double().cpu().numpy() * np.ones(len(books.time))


def _save(shelf: Shelf, books: Books, met: int, going: Going) -> None:
    """Leave the whole run in its checkpoint, when it is time."""
    if not shelf.due(ended=len(going.ids) == 0):
        return
    state = {"ids": torch.from_numpy(going.ids), "now": going.logits, "slope": going.slope}
    state |= {"direction": going.direction, "met": torch.tensor(met)}
    shelf.save(state | {f"books/{name}": value for name, value in books.kept().items()})


def _judge(
    found: Floats, change: Floats, step: Floats, now: Floats, going: Going, limits: Limits
) -> Judgement:
    """Refuse what lowers the reward by more than rounding can, or changes the slope too much."""
    holds = found >= going.reward - going.rounding
    changes = Changes(output=change, gradient=0.0 * step, weight=0.0 * step, finite=holds)
    tolerances = Tolerances(output=limits.tolerance, gradient=None)
    return judge(changes, step, now, tolerances, limits.rule)


def _move(going: Going, trial: Tensor, slope: Tensor, accepted: Floats) -> tuple[Tensor, Tensor]:
    """Take the steps of accepted members; what is returned may be written over."""
    if not accepted.any():
        return trial, slope
    old, going.logits = going.logits, trial
    old_slope, going.slope = going.slope, slope
    if not accepted.all():  # those refused are few: only they are copied
        rows = torch.from_numpy(np.flatnonzero(~accepted)).to(trial.device)
        going.logits[rows] = old[rows]
        going.slope[rows] = old_slope[rows]
    return old, old_slope


def _who_ended(going: Going, books: Books, limits: Limits) -> dict[Status, Any]:
    """Which members have come to which end; the first that applies counts."""
    ids = going.ids
    now = books.time[ids]
    tried = books.taken[ids] + books.refused[ids]
    overdue = limits.wall is not None and books.seconds > limits.wall
    return {
        Status.REACHED: now >= limits.until,
        Status.STALLED: books.step[ids] <= _NO_STEP * np.maximum(now, 1e-290),
        Status.OUT_OF_STEPS: tried >= limits.max_steps,
        Status.OUT_OF_TIME: np.full(len(ids), overdue),
    }
