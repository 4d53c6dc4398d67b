"""`descend`: gradient descent, SGD, momentum and Adam on stacked networks."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from functools import partial
from typing import Any, final

import numpy as np
import torch
from torch import Tensor

from regimes._check import positive_int, real
from regimes.data import Dataset
from regimes.flow._batches import Batches
from regimes.flow._bookkeeping import (
    Batch,
    Bookkeeper,
    Ends,
    MakeSnapshot,
    below,
    numbers_of,
    to_host,
    within,
)
from regimes.flow._captured import Captured, flat, nested, worth_capturing
from regimes.flow._checkpoint import Checkpoint, Keeper
from regimes.flow._deep_field import DeepField
from regimes.flow._events import Event
from regimes.flow._field import Evaluation, Field, State, advance
from regimes.flow._gradient_flow import describe, field_of, finished, objective_of
from regimes.flow._joined import joined
from regimes.flow._losses import LossLike
from regimes.flow._members import Members, NetworkLike, gather
from regimes.flow._network_field import NetworkField
from regimes.flow._objective import Objective
from regimes.flow._observers import Observer, Recorder
from regimes.flow._optimisers import Memory, Optimiser, resolve_optimiser
from regimes.flow._rates import RateFactor, constant
from regimes.flow._readings import Floats, Readings
from regimes.flow._run import Run
from regimes.flow._settings import ends_and_events
from regimes.flow._snapshots import NetworkSnapshot
from regimes.flow._status import Status
from regimes.flow._tiles import COPIES


def descend(
    network: NetworkLike,
    data: Dataset | Sequence[Dataset],
    *,
    rate: float | Sequence[float],
    optimiser: str | Optimiser = "sgd",
    batch_size: int | None = None,
    schedule: RateFactor | None = None,
    weight_decay: float = 0.0,
    loss: LossLike = "hinge",
    alpha: float | Sequence[float] | Tensor = 1.0,
    ensemble: int | Sequence[int] | None = None,
    n_train: int | Sequence[int] | None = None,
    grid: bool = False,
    output: Callable[[Any], Any] | None = None,
    until: str | Event | None = None,
    events: Sequence[str | Event] = ("t_star", "halved", "fitted"),
    max_steps: int = 1000,
    max_seconds: float | None = None,
    check_every: int = 1,
    subtract_init: bool = True,
    divide_by: str = "alpha^2",
    observe: Mapping[str, Observer] | None = None,
    seed: int = 0,
    memory: int | str | None = None,
    checkpoint: Checkpoint | None = None,
) -> Run:
    """Train by discrete steps, with the members, events, observers and result of `gradient_flow`.

    `w <- w + rate(t) direction(-grad of the mean loss of a batch)`; time is the sum of the rates.
    Networks run in evaluation mode, so batch norm uses its running statistics.

    Args:
        network: as in `gradient_flow`.
        data: as in `gradient_flow`.
        rate: learning rate, one for all or one per member.
        optimiser: "gd", "sgd", "momentum" (0.9), "adam", `SGD(momentum)`, `Adam(...)`.
        batch_size: points per step, drawn afresh each epoch without repetition; None takes all.
        schedule: from the number of steps taken to a factor of the rate: `linear_decay(steps)`,
            `drops([...])`, `hold_then_lower(steps)`; None is constant.
        weight_decay: lambda of `(lambda/2) |w - w0|^2`, towards the start.
        loss: as in `gradient_flow`.
        alpha: as in `gradient_flow`.
        ensemble: as in `gradient_flow`.
        n_train: as in `gradient_flow`.
        grid: as in `gradient_flow`; a list of rates is the outermost.
        output: as in `gradient_flow`.
        until: event that ends a member's run, looked at every `check_every` steps; None runs all
            `max_steps`.
        events: as in `gradient_flow`.
        max_steps: steps of every member.
        max_seconds: wall clock before all are "out of time".
        check_every: steps between looks at the whole training set, for events and observers.
        subtract_init: as in `gradient_flow`.
        divide_by: as in `gradient_flow`; it changes what the rate means.
        observe: as in `gradient_flow`.
        seed: of the batches; member i draws from `seed + i`.
        memory: as in `gradient_flow`.
        checkpoint: as in `gradient_flow`.

    Returns:
        A `Run`; a member that took all its steps is "reached" without `until`, else "out of steps".

    Raises:
        ValueError: rates that are not positive, batches larger than a training set, and everything
            that `gradient_flow` refuses.

    Example:
        >>> from regimes import data, nets
        >>> ds = data.stripe(n_train=100, n_test=100, d=3, seed=0)
        >>> net = nets.FullyConnected(3, 50, seed=0)
        >>> run = descend(net, ds, rate=0.5, batch_size=20, ensemble=3)
        >>> bool((run.losses[:, -1] < run.losses[:, 0]).all())
        True
    """
    members = gather(
        network,
        data,
        alpha=alpha,
        ensemble=ensemble,
        n_train=n_train,
        rate=rate,
        grid=grid,
        output=output,
    )
    objective = objective_of(
        members, loss, subtract_init=subtract_init, divide_by=divide_by, memory=memory
    )
    if schedule is not None and not callable(schedule):
        raise ValueError(
            f"schedule must be a function of the steps taken such as drops([...]), got {schedule!r}"
        )
    stop, watched = ends_and_events(objective.loss, until, events, t_end=math.inf)
    size = members.ensemble.size
    steps, factor = positive_int("max_steps", max_steps), schedule or constant()
    update, every = resolve_optimiser(optimiser), positive_int("check_every", check_every)
    recorder = Recorder(observe or {}, size)

    def described() -> dict[str, object]:
        return describe(members, objective, recorder, subtract_init, memory) | {
            "kind": "descend",
            "rate": members.rates,
            "optimiser": update if is_dataclass(update) else type(update).__name__,
            "batch_size": batch_size,
            "schedule": [factor(step) for step in (0, steps // 2, steps - 1)],
            "weight_decay": weight_decay,
            "until": None if stop is None else stop.name,
            "events": [event.name for event in watched],
            "max_steps": steps,
            "max_seconds": max_seconds,
            "check_every": every,
            "seed": seed,
        }

    keeper = Keeper(checkpoint, described, members.train.x.device)
    copies = COPIES + 3 * len(update.start({})) + 2 * (batch_size is not None)
    field, notes = field_of(members, objective, keeper.budget(memory), copies=copies)
    stepper = _Stepper(
        members=members,
        objective=objective,
        rates=np.array(members.rates),
        optimiser=update,
        schedule=factor,
        decay=_not_negative("weight_decay", weight_decay),
        batches=_batches(members, batch_size, seed),
        field=field,
    )

    def snapshot(
        numbers: Floats, state: State, evaluation: Evaluation, readings: Readings
    ) -> NetworkSnapshot:
        return NetworkSnapshot(
            numbers, readings, state, evaluation.predictions, members, subtract_init
        )

    ends = _descend(
        stepper,
        field,
        stop,
        watched,
        recorder,
        snapshot,
        keeper,
        max_steps=steps,
        check_every=every,
        max_seconds=None if max_seconds is None else real("max_seconds", max_seconds, above=0.0),
    )
    return finished(members, ends, recorder, subtract_init, notes, memory)


@final
@dataclass(eq=False)
class _Stepper:
    """Takes steps of some members; batches and rates go by their numbers in the run."""

    members: Members
    objective: Objective
    rates: Floats
    optimiser: Optimiser
    schedule: RateFactor
    decay: float
    batches: Batches | None
    field: Field
    _placed: tuple[Floats, Tensor] | None = None
    _captured: Captured | None = None

    def step(self, batch: Batch, memory: Memory, taken: int) -> tuple[State, Memory, Floats]:
        """State and memory after one step, and the learning rates that were used."""
        speed = batch.evaluation.speed if self.batches is None else self._batch_speed(batch)
        if self.decay:
            rows = torch.from_numpy(batch.ids)
            home = self.members.ensemble.parameters
            speed = {
                k: v - self.decay * (batch.state[k] - home[k][rows.to(v.device)])
                for k, v in speed.items()
            }
        predictions = batch.evaluation.predictions
        count = torch.full(
            (len(batch.ids),), taken + 1.0, dtype=torch.float64, device=predictions.device
        )
        direction, memory = self.optimiser.direction(speed, memory, count)
        factor = self.schedule(taken)
        dt = (self._rates_on(batch) * factor).to(predictions.dtype)
        return advance(batch.state, direction, dt), memory, self.rates[batch.ids] * factor

    def _rates_on(self, batch: Batch) -> Tensor:
        """The rates of these members where they are, (m,): moving them would wait for the GPU."""
        if self._placed is None or self._placed[0] is not batch.ids:
            device = batch.evaluation.predictions.device
            self._placed = batch.ids, torch.from_numpy(self.rates[batch.ids]).to(device)
        return self._placed[1]

    def together(self, batch: Batch, taken: int, steps: int) -> tuple[Batch, Floats] | None:
        """So many steps recorded as one graph, and their rates (steps, m); None where they cannot.

        Whole batches on a GPU alone.
        """
        plain = self.batches is None and not self.decay
        if not plain or not worth_capturing(batch, self.optimiser, steps):
            return None
        if self._captured is None or not self._captured.holds(batch):
            self._captured = None  # its memory is free before the next one asks for as much
            self._captured = Captured(batch, self.optimiser, steps)
        factors = np.array([self.schedule(taken + k) for k in range(steps)])
        rates = factors[:, None] * self.rates[batch.ids]
        return self._captured.run(batch, rates, taken), rates

    def kept(self, taken: int) -> dict[str, Tensor]:
        """Steps taken and where the batches stand, for a checkpoint."""
        drawn = {} if self.batches is None else within("batches", self.batches.kept())
        return {"taken": torch.tensor(taken)} | drawn

    def restore(self, kept: Mapping[str, Tensor]) -> int:
        """The inverse of `kept`: the steps taken."""
        if self.batches is not None:
            self.batches.restore(below("batches", kept))
        return int(kept["taken"])

    def _batch_speed(self, batch: Batch) -> State:
        """Minus the gradient of the mean loss of one random batch per member."""
        assert self.batches is not None
        device = batch.evaluation.predictions.device
        members = torch.from_numpy(batch.ids).to(device)
        points = self.batches.next(batch.ids.tolist()).to(device)
        train, row = self.members.train, torch.arange(len(members), device=device)[:, None]
        x = train.x[members[:, None], points] if train.own else train.x[points]
        y = train.y[members[:, None], points] if train.own else train.y[0][points]
        whole = self.objective.select(members)
        part = dataclasses.replace(
            whole,
            y=y,
            counts=torch.full_like(whole.counts, points.shape[1]),
            mask=None,
            start=None if whole.start is None else whole.start[row, points],
        )
        if isinstance(self.field, DeepField):
            return self.field.on(x, part).evaluate(batch.state).speed
        ensemble = self.members.ensemble
        chosen = ensemble.select(members) if ensemble.buffers else ensemble
        tile = self.field.tile if isinstance(self.field, NetworkField) else len(members)
        return NetworkField(chosen, x, True, part, tile).evaluate(batch.state).speed


@torch.no_grad()
def _descend(
    stepper: _Stepper,
    field: Field,
    stop: Event | None,
    watched: tuple[Event, ...],
    recorder: Recorder,
    snapshot: MakeSnapshot,
    keeper: Keeper,
    *,
    max_steps: int,
    check_every: int,
    max_seconds: float | None,
) -> Ends:
    state: State = joined(stepper.members.ensemble.parameters)
    evaluation = field.evaluate(state)
    size = len(evaluation.predictions)
    remembered = stepper.optimiser.start(state)
    batch = Batch(np.arange(size), field, state, flat(remembered), evaluation)
    books = Bookkeeper(batch, watched, recorder, snapshot)
    books.step[:] = stepper.rates

    def who_ended(ids: Floats, readings: Readings) -> dict[Status, Floats]:
        nobody = np.zeros(len(ids), dtype=bool)
        arrived = nobody if stop is None else stop.test(readings)
        fitted = stop is not None and stop.name == Status.FITTED
        through = readings.step >= max_steps
        late = max_seconds is not None and books.seconds > max_seconds
        return {
            Status.DIVERGED: ~np.isfinite(readings.loss) | ~np.isfinite(readings.gradient),
            Status.FITTED: arrived if fitted else nobody,
            Status.REACHED: (nobody if fitted else arrived) | (through & (stop is None)),
            Status.OUT_OF_STEPS: through,
            Status.OUT_OF_TIME: nobody | late,
        }

    taken = 0
    if (moment := keeper.resume(batch, books)) is not None:
        batch, readings = moment.batch, moment.readings
        taken = stepper.restore(moment.more)
    else:
        readings = books.readings(batch.ids, books.first, books.time.copy())
        batch, readings = books.settle(batch, readings, np.ones(size, dtype=bool), who_ended)
    while len(batch.ids):
        ahead = min(check_every - taken % check_every, max_steps - taken)
        if (found := stepper.together(batch, taken, ahead)) is not None:
            batch, each = found
            taken += ahead
            for rates in each:
                books.time[batch.ids] += rates
        else:
            memory = nested(batch.carried)
            state, memory, rates = stepper.step(batch, memory, taken)
            taken += 1
            books.time[batch.ids] += rates
            evaluated = batch.evaluation
            if stepper.batches is None:  # the next step needs the full gradient
                evaluated = batch.field.evaluate(state)
            batch = Batch(batch.ids, batch.field, state, flat(memory), evaluated)
        if taken % check_every == 0 or taken == max_steps:
            if stepper.batches is not None:
                batch = dataclasses.replace(batch, evaluation=batch.field.evaluate(batch.state))
            books.counts["taken"][batch.ids] = taken
            numbers = to_host(numbers_of(batch.field, batch.evaluation, batch.state))
            readings = books.readings(batch.ids, numbers, readings.time)
            moved = np.ones(len(batch.ids), dtype=bool)
            batch, readings = books.settle(batch, readings, moved, who_ended)
        keeper.after_step(batch, readings, books, partial(stepper.kept, taken))
    return books.ends()


def _batches(members: Members, batch_size: int | None, seed: int) -> Batches | None:
    if batch_size is None:
        return None
    seeds = [seed + i for i in range(members.ensemble.size)]
    return Batches(members.counts, positive_int("batch_size", batch_size), seeds)


def _not_negative(name: str, value: float) -> float:
    if real(name, value) < 0:
        raise ValueError(f"{name} must not be negative, got {value!r}")
    return float(value)
