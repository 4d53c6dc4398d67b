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
from regimes.flow._lone import beside, every, larger, lone, some, where
from regimes.flow._observers import Recorder
from regimes.flow._readings import Floats, Readings
from regimes.flow._rounding import Rounding
from regimes.flow._settings import Settings
from regimes.flow._status import Status
from regimes.flow._steering import steer, steers
from regimes.flow._step import changes, lengths, which_ended


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
    evaluation of the field and one transfer of a few numbers per member. On a GPU, where nothing
    asks the host at every step, controls are beside the state too (`_steering.py`). With `rounding`
    the books say how much of the way was below it.
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
    if steers(batch, settings, recorder):
        steer(batch, readings, settings, books, keeper, rounding)
        return books.ends()
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
    wished, step = lengths(books.step[ids], stand, settings)
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
    found = changes(numbers, stand, step, settings)
    verdict = judge(found, step, now, settings.tolerances, settings.rule)
    accepted = verdict.accepted
    # a step cut short to end at a given time says nothing about the length of the next
    books.step[ids] = where(accepted & (step < wished), wished, verdict.next_step)
    _count(books, ids, found, verdict, settings.tolerances)
    if rounding is not None:
        books.unresolved[ids] += rounding.unresolved(stand, ids, step, accepted, found)
    after = now + where(accepted, step, 0.0)
    if settings.t_end is not None:
        after = where(accepted & (step >= settings.t_end - now), settings.t_end, after)
    books.time[ids] = after
    batch = _moved(batch, proposal, velocity, evaluation, accepted)
    readings = books.readings(batch.ids, _merged(accepted, numbers, readings), readings.time)
    return books.settle(batch, readings, accepted, _WhoEnded(settings, books, found.finite))


def _merged(
    accepted: Floats, numbers: Mapping[str, Floats], readings: Readings
) -> Mapping[str, Floats]:
    """The numbers of members whose step is taken, and the others' as they were."""
    if every(accepted):
        return numbers
    return {name: np.where(accepted, numbers[name], getattr(readings, name)) for name in NUMBERS}


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
    """Which of the members in the books have come to which end."""

    def __init__(self, settings: Settings, books: Bookkeeper, proposal_finite: Floats) -> None:
        self.settings, self.books, self.proposal_finite = settings, books, proposal_finite

    def __call__(self, ids: Floats, readings: Readings) -> dict[Status, Floats]:
        settings, books, ids = self.settings, self.books, lone(ids)
        return which_ended(
            settings,
            readings.numbers,
            step=books.step[ids],
            tried=books.counts["taken"][ids] + books.counts["refused"][ids],
            finite=lone(self.proposal_finite),
            arrived=False if settings.until is None else lone(settings.until.test(readings)),
            overdue=settings.max_seconds is not None and books.seconds > settings.max_seconds,
        )


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
