"""The integrator: explicit steps of all members at once, each with its own time and step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import final

import numpy as np
import torch

from regimes.flow._bookkeeping import (
    NUMBERS,
    Batch,
    Bookkeeper,
    Ends,
    MakeSnapshot,
    numbers_of,
    to_host,
)
from regimes.flow._checkpoint import Keeper
from regimes.flow._control import Changes, Judgement, Tolerances, judge
from regimes.flow._field import Evaluation, Field, State, advance, keep, norm
from regimes.flow._joined import joined
from regimes.flow._lone import beside, every, finite_numbers, larger, lone, some, where
from regimes.flow._observers import Recorder
from regimes.flow._readings import Floats, Readings
from regimes.flow._rounding import Rounding
from regimes.flow._settings import Settings
from regimes.flow._status import Status

_NO_STEP = 4e-16  # a step this small against the time no longer changes it


@torch.no_grad()
def integrate(
    field: Field,
    state: State,
    settings: Settings,
    recorder: Recorder,
    snapshot: MakeSnapshot,
    keeper: Keeper,
    rounding: Rounding | None = None,
) -> Ends:
    """Integrate until every member has come to an end.

    Controls are small arrays on the CPU, everything else stays where the state is: a step costs one
    evaluation of the field and one transfer of a few numbers per member. With `rounding` the books
    say how much of the way was below it.
    """
    state = joined(state)
    evaluation = field.evaluate(state)
    size = len(evaluation.predictions)
    velocity = settings.momentum.start(state)
    batch = Batch(np.arange(size), field, state, velocity, evaluation)
    books = Bookkeeper(batch, settings.events, recorder, snapshot)
    if (moment := keeper.resume(batch, books)) is not None:
        batch, readings = moment.batch, moment.readings
    else:
        books.step[:] = _first_steps(settings, books.first, batch)
        readings = books.readings(batch.ids, books.first, books.time.copy())
        everybody = np.ones(size, dtype=bool)
        who_ended = _WhoEnded(settings, books, everybody)
        batch, readings = books.settle(batch, readings, everybody, who_ended)
    while len(batch.ids):
        batch, readings = _advance(batch, readings, settings, books, rounding)
        keeper.after_step(batch, readings, books)
    return books.ends()


def _first_steps(settings: Settings, first: Mapping[str, Floats], batch: Batch) -> Floats:
    chosen, objective = settings.rule.first, batch.field.objective
    if isinstance(chosen, int | float):
        return np.full(len(first["loss"]), chosen)
    with np.errstate(divide="ignore", invalid="ignore"):
        guess = np.where(first["weight"] > 0, 0.01 * first["weight"], 1.0) / first["gradient"]
        if chosen is None:
            squared = batch.field.gradient_change(batch.evaluation, batch.evaluation).before
            scale = objective.alpha.flatten() ** objective.power
            lowers = 0.01 * first["loss"] / to_host({"fall": scale * squared})["fall"]
            lowers = np.where(lowers > 0, lowers, np.inf)
            guess = np.where(first["weight"] > 0, np.minimum(guess, lowers), lowers)
    return np.where(np.isfinite(guess), guess, 1.0)


def _advance(
    batch: Batch,
    readings: Readings,
    settings: Settings,
    books: Bookkeeper,
    rounding: Rounding | None,
) -> tuple[Batch, Readings]:
    """Propose a step for every member, judge it, and move those it is granted to."""
    ids, stand = lone(batch.ids), readings.numbers
    now = stand.time
    wished, step = _lengths(books.step[ids], stand, settings)
    predictions = batch.evaluation.predictions
    dt = beside(predictions, step)
    slope = settings.method(batch.field, batch.state, batch.evaluation.speed, dt)
    velocity = settings.momentum.velocity(batch.carried, slope, step, now)
    proposal = advance(batch.state, velocity, dt)
    evaluation = batch.field.evaluate(proposal)
    wanted = numbers_of(batch.field, evaluation, proposal)
    wanted["d_output"] = batch.field.objective.largest_change(predictions, evaluation.predictions)
    if settings.tolerances.gradient is not None:
        wanted |= vars(batch.field.gradient_change(batch.evaluation, evaluation))
    if settings.tolerances.weight is not None and settings.momentum.active:
        wanted["moved"] = dt * norm(velocity)
    numbers = to_host(wanted)
    changes = _changes(numbers, stand, step, settings)
    verdict = judge(changes, step, now, settings.tolerances, settings.rule)
    accepted = verdict.accepted
    # a step cut short to end at a given time says nothing about the length of the next
    books.step[ids] = where(accepted & (step < wished), wished, verdict.next_step)
    _count(books, ids, changes, verdict, settings.tolerances)
    if rounding is not None:
        books.unresolved[ids] += rounding.unresolved(stand, ids, step, accepted, changes)
    after = now + where(accepted, step, 0.0)
    if settings.t_end is not None:
        after = where(accepted & (step >= settings.t_end - now), settings.t_end, after)
    books.time[ids] = after
    batch = _moved(batch, proposal, velocity, evaluation, accepted)
    readings = books.readings(batch.ids, _merged(accepted, numbers, readings), readings.time)
    return books.settle(batch, readings, accepted, _WhoEnded(settings, books, changes.finite))


def _merged(
    accepted: Floats, numbers: Mapping[str, Floats], readings: Readings
) -> Mapping[str, Floats]:
    """The numbers of members whose step is taken, and the others' as they were."""
    if every(accepted):
        return numbers
    return {name: np.where(accepted, numbers[name], getattr(readings, name)) for name in NUMBERS}


def _lengths(steps: Floats, readings: Readings, settings: Settings) -> tuple[Floats, Floats]:
    """The steps that control asks for, and the same cut to end at t_end."""
    tolerance, t_end = settings.tolerances.weight, settings.t_end
    if tolerance is not None and not settings.momentum.active:
        with np.errstate(divide="ignore", invalid="ignore"):
            longest = tolerance * readings.weight / readings.gradient
        steps = where(longest < steps, longest, steps)
    if t_end is None:
        return steps, steps
    remaining = t_end - readings.time
    cut = where(remaining < steps, remaining, steps)
    return steps, where(readings.gradient == 0, remaining, cut)


def _changes(
    numbers: Mapping[str, Floats], readings: Readings, step: Floats, settings: Settings
) -> Changes:
    gradient = weight = 0.0 * step
    if settings.tolerances.gradient is not None:
        gradient = _relative_change(
            *[lone(numbers[name]) for name in ("before", "after", "difference")]
        )
    if settings.tolerances.weight is not None:
        moved = lone(numbers["moved"]) if "moved" in numbers else step * readings.gradient
        weight = moved / where(readings.weight > 0, readings.weight, np.inf)
    finite = finite_numbers(lone(numbers["loss"])) & finite_numbers(lone(numbers["gradient"]))
    return Changes(lone(numbers["d_output"]), gradient, weight, finite)


def _count(
    books: Bookkeeper,
    ids: Floats,
    changes: Changes,
    verdict: Judgement,
    asked: Tolerances,
) -> None:
    accepted, forced = verdict.accepted, verdict.forced
    for name, happened in (("taken", accepted), ("refused", ~accepted), ("forced", forced)):
        books.counts[name][ids] += happened
    for name, worst in books.worst.items():
        if getattr(asked, name) is None:
            continue
        seen = where(accepted & ~forced, getattr(changes, name), 0.0)
        worst[ids] = larger(worst[ids], seen)


@final
class _WhoEnded:
    """Which members have come to which end; the first that applies counts."""

    def __init__(self, settings: Settings, books: Bookkeeper, proposal_finite: Floats) -> None:
        self.settings, self.books, self.proposal_finite = settings, books, proposal_finite

    def __call__(self, ids: Floats, readings: Readings) -> dict[Status, Floats]:
        settings, now, ids = self.settings, readings.numbers, lone(ids)
        stuck = self.books.step[ids] <= _NO_STEP * larger(now.time, 1e-290)
        lost = ~finite_numbers(now.loss) | ~finite_numbers(now.gradient)
        arrived = False if settings.until is None else lone(settings.until.test(readings))
        fitted = settings.until is not None and settings.until.name == Status.FITTED
        late = False if settings.t_end is None else now.time >= settings.t_end
        still = (now.gradient == 0) & (settings.t_end is None) & (not settings.momentum.active)
        tried = self.books.counts["taken"][ids] + self.books.counts["refused"][ids]
        overdue = settings.max_seconds is not None and self.books.seconds > settings.max_seconds
        return {
            Status.DIVERGED: lost | (stuck & ~lone(self.proposal_finite)),
            Status.FITTED: arrived if fitted else False,
            Status.REACHED: late if fitted else arrived | late,
            Status.STALLED: stuck | still,
            Status.OUT_OF_STEPS: tried >= settings.max_steps,
            Status.OUT_OF_TIME: overdue,
        }


def _relative_change(before: Floats, after: Floats, difference: Floats) -> Floats:
    """`|g - g'|^2 / (|g| |g'|)` of squared norms, 0 where either vanishes [Geiger 2020, eq. 9]."""
    size = np.sqrt(before * after)
    some_size = where(size > 0, size, np.inf)
    return where(size > 0, difference / some_size, 0.0)


def _moved(
    batch: Batch, state: State, velocity: State, evaluation: Evaluation, accepted: Floats
) -> Batch:
    """The batch with the steps of accepted members taken."""
    if not some(accepted):
        return batch
    carried = velocity if batch.carried else {}
    if every(accepted):
        return Batch(batch.ids, batch.field, state, carried, evaluation)
    mask = torch.from_numpy(accepted).to(evaluation.predictions.device)
    old = batch.evaluation
    return Batch(
        batch.ids,
        batch.field,
        keep(mask, state, batch.state),
        keep(mask, carried, batch.carried),
        Evaluation(
            evaluation.predictions.where(mask.view(-1, 1, 1), old.predictions),
            keep(mask, evaluation.speed, old.speed),
        ),
    )
