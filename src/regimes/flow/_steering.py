"""Steps whose control stays beside the state: the host looks once in a while.

On a GPU a step of small networks takes less time than one answer of the host. Here the numbers that
control looks at are the rows of one table (rows, m) beside the state, and a step is a function of
tensors alone. A member at its end stands still until the host takes it out. What happened in a
block of steps is read off the tables they left, in one transfer. Where a step is short, its calls
are recorded once as a CUDA graph and replayed.

The arithmetic is that of the host (`_step.py`, `_control.py`); runs agree to rounding.
"""

from __future__ import annotations

import time as clock
from dataclasses import dataclass, fields
from typing import Any, final

import numpy as np
import torch
from torch import Tensor

from regimes.flow._bookkeeping import NUMBERS, Batch, Bookkeeper, numbers_of
from regimes.flow._checkpoint import Keeper
from regimes.flow._control import judge
from regimes.flow._deep_field import DeepField
from regimes.flow._field import Evaluation, Field, State, advance, keep
from regimes.flow._history import COLUMNS, following
from regimes.flow._kernel_field import KernelField
from regimes.flow._lone import beside, larger, where
from regimes.flow._losses import CrossEntropy, MarginLoss, MeanSquare
from regimes.flow._observers import Recorder
from regimes.flow._readings import Floats, Readings
from regimes.flow._rounding import Rounding, fallen
from regimes.flow._settings import Settings
from regimes.flow._shallow_field import ShallowField
from regimes.flow._status import Status
from regimes.flow._step import ENDS, changes, lengths, which_ended

_FIRST, _BLOCK = 4, 32  # steps of the first block and of the longest between two looks
_SHORT = 3e-3  # seconds: a shorter step waits for its calls
_CAPTURE_FROM = 12  # steps after which capturing may pay
_STANDING = 0.25  # share of members at their end that a captured step carries along

_READINGS = tuple(each.name for each in fields(Readings))
_WORST = ("output", "gradient", "weight")
_ROWS = (
    *_READINGS,
    *(f"worst {name}" for name in _WORST),
    *("step_size", "refused", "forced", "unresolved", "next", "marked", "ended"),
    *("resolution", "scale"),
)


@final
@dataclass(frozen=True, eq=False)
class Moment:
    """Members between two steps.

    Attributes:
        state: what moves.
        evaluation: the field there.
        table: numbers of control, (rows, m) in float64; `_ROWS`, then a row of times per event.
    """

    state: State
    evaluation: Evaluation
    table: Tensor

    def tensors(self) -> list[Tensor]:
        """All of them."""
        speed = self.evaluation.speed
        return [*self.state.values(), self.evaluation.predictions, *speed.values(), self.table]


def steers(batch: Batch, settings: Settings, recorder: Recorder) -> bool:
    """Whether nothing asks the host at every step, and asking would cost."""
    known = [*settings.events] if settings.until is None else [*settings.events, settings.until]
    return (
        _costly(batch.evaluation.predictions.device)
        and not recorder.names
        and not settings.momentum.active
        and all(event.compares for event in known)
    )


def _costly(device: torch.device) -> bool:
    """Whether a step that waits for the host leaves the device idle."""
    return device.type == "cuda"


def steer(
    batch: Batch,
    readings: Readings,
    settings: Settings,
    books: Bookkeeper,
    keeper: Keeper,
    rounding: Rounding | None,
) -> None:
    """Integrate until every member has come to an end, and write it all down in the books."""
    moment = _moment(batch, readings, settings, books, rounding)
    replay: Replay | None = None
    length, gone = _FIRST, 0
    while len(batch.ids):
        begin = clock.perf_counter()
        steps = max(1, min(length, settings.max_steps - books.least_tried(batch.ids)))
        if replay is None:
            moment, log = _block(batch.field, moment, settings, steps)
        else:
            moment, log = replay.moment, replay.run(steps)
        tables = log.cpu().numpy()
        each = (clock.perf_counter() - begin) / steps
        gone += steps
        _write(tables, batch.ids, settings, books)
        now = tables[-1]
        done = _row(now, "ended") >= 0
        late = settings.max_seconds is not None and books.seconds > settings.max_seconds
        waits = replay is not None and not done.all() and done.mean() < _STANDING
        if late or (done.any() and not waits):
            replay = None
            batch, moment, now = _let_go(batch, moment, now, books, late)
        pays = each < _SHORT and gone >= _CAPTURE_FROM and len(batch.ids) > 0
        if replay is None and pays and _captures(batch.field):
            replay = Replay(batch.field, moment, settings)
            moment = replay.moment
        length = min(2 * length, _BLOCK)
        keeper.after_step(_batch(batch, moment), _reading(now), books)


def _block(field: Field, moment: Moment, settings: Settings, steps: int) -> tuple[Moment, Tensor]:
    """The moment after some steps, and the tables they left, (steps, rows, m)."""
    tables = []
    for _ in range(steps):
        moment = advanced(field, moment, settings)
        tables.append(moment.table)
    return moment, torch.stack(tables)


def advanced(field: Field, moment: Moment, settings: Settings) -> Moment:
    """One step of every member that is on its way, refused or taken."""
    # tensors, in arithmetic that is written for arrays
    own: dict[str, Any] = dict(zip(_ROWS, moment.table.unbind(), strict=False))
    events: list[Any] = list(moment.table[len(_ROWS) :])
    stand = Readings(**{name: own[name] for name in _READINGS})
    going = own["ended"] < 0
    before = moment.evaluation
    wished, step = lengths(own["step_size"], stand, settings)
    dt = beside(before.predictions, step)
    velocity = settings.method(field, moment.state, before.speed, dt)
    proposal = advance(moment.state, velocity, dt)
    after = field.evaluate(proposal)
    wanted = numbers_of(field, after, proposal)
    wanted["d_output"] = field.objective.largest_change(before.predictions, after.predictions)
    if settings.tolerances.gradient is not None:
        wanted |= vars(field.gradient_change(before, after))
    packed = torch.stack(list(wanted.values())).double().unbind()
    numbers: dict[str, Any] = dict(zip(wanted, packed, strict=True))
    found = changes(numbers, stand, step, settings)
    verdict = judge(found, step, stand.time, settings.tolerances, settings.rule)
    accepted = verdict.accepted & going
    new = dict(own)
    following_step = where(accepted & (step < wished), wished, verdict.next_step)
    new["step_size"] = where(going, following_step, own["step_size"])
    new["step"] = own["step"] + accepted
    new["refused"] = own["refused"] + (going & ~accepted)
    new["forced"] = own["forced"] + (verdict.forced & going)
    for name in _WORST:
        if getattr(settings.tolerances, name) is not None:
            seen = where(accepted & ~verdict.forced, getattr(found, name), 0.0)
            new[f"worst {name}"] = larger(own[f"worst {name}"], seen)
    unseen = accepted & (found.output < own["resolution"])
    lost = where(unseen, fallen(own["scale"], stand, step), 0.0)
    new["unresolved"] = own["unresolved"] + lost
    new["previous_time"] = stand.time
    new["time"] = stand.time + where(accepted, step, 0.0)
    if settings.t_end is not None:
        at_end = accepted & (step >= settings.t_end - stand.time)
        new["time"] = where(at_end, settings.t_end, new["time"])
    for name in NUMBERS:
        new[name] = where(accepted, numbers[name], own[name])
    readings = Readings(**{name: new[name] for name in _READINGS})
    for at, event in enumerate(settings.events):
        happened = accepted & events[at].isnan() & event.test(readings)
        events[at] = where(happened, readings.time, events[at])
    ended = which_ended(
        settings,
        readings,
        step=new["step_size"],
        tried=new["step"] + new["refused"],
        finite=found.finite,
        arrived=False if settings.until is None else settings.until.test(readings),
        overdue=False,
    )
    for number, who in reversed(list(enumerate(ended.values()))):
        if isinstance(who, Tensor):
            new["ended"] = where(going & who, float(number), new["ended"])
    marked = accepted & (readings.step >= own["next"]) | (going & (new["ended"] >= 0))
    new["marked"] = marked.double()
    new["next"] = where(marked, following(readings.step).floor(), own["next"])
    table = torch.stack([*(new[name] for name in _ROWS), *events])
    state, speed = keep(accepted, proposal, moment.state), keep(accepted, after.speed, before.speed)
    predictions = after.predictions.where(accepted.view(-1, 1, 1), before.predictions)
    return Moment(state, Evaluation(predictions, speed), table)


@final
class Replay:
    """A step recorded as a CUDA graph; `moment` is where the members stand, in fixed memory."""

    def __init__(self, field: Field, moment: Moment, settings: Settings) -> None:
        self.moment = Moment(
            {name: value.clone() for name, value in moment.state.items()},
            Evaluation(
                moment.evaluation.predictions.clone(),
                {name: value.clone() for name, value in moment.evaluation.speed.items()},
            ),
            moment.table.clone(),
        )
        table = moment.table
        self._log = table.new_empty(_BLOCK, *table.shape)
        self._at = torch.zeros(1, dtype=torch.int64, device=table.device)
        aside = torch.cuda.Stream(table.device)
        aside.wait_stream(torch.cuda.current_stream(table.device))
        with torch.cuda.stream(aside):  # libraries set themselves up outside of the recording
            for _ in range(2):
                advanced(field, self.moment, settings)
        torch.cuda.current_stream(table.device).wait_stream(aside)
        self._graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self._graph):
            following_moment = advanced(field, self.moment, settings)
            pairs = zip(self.moment.tensors(), following_moment.tensors(), strict=True)
            for into, value in pairs:
                into.copy_(value)
            self._log.index_copy_(0, self._at, following_moment.table.unsqueeze(0))
            self._at += 1

    def run(self, steps: int) -> Tensor:
        """Take so many steps, at most `_BLOCK`; the tables they leave, (steps, rows, m)."""
        self._at.zero_()
        for _ in range(steps):
            self._graph.replay()
        return self._log[:steps]


def _captures(field: Field) -> bool:
    """Whether a step is a fixed list of calls that never ask the host."""
    if field.objective.y.device.type != "cuda":
        return False
    loss = field.objective.loss
    known = isinstance(loss, CrossEntropy | MeanSquare)
    known |= isinstance(loss, MarginLoss) and loss.slope is not None
    return known and isinstance(field, ShallowField | DeepField | KernelField)


def _moment(
    batch: Batch,
    readings: Readings,
    settings: Settings,
    books: Bookkeeper,
    rounding: Rounding | None,
) -> Moment:
    """The members as the books have them."""
    ids, nothing = batch.ids, np.zeros(len(batch.ids))
    rows = {
        **readings.named,
        "step_size": books.step[ids],
        "refused": books.counts["refused"][ids],
        "forced": books.counts["forced"][ids],
        **{f"worst {name}": books.worst[name][ids] for name in _WORST},
        "unresolved": books.unresolved[ids],
        "next": books.next_rows[ids],
        "marked": nothing,
        "ended": nothing - 1,
        "resolution": nothing if rounding is None else rounding.resolution[ids],
        "scale": nothing if rounding is None else rounding.scale[ids],
    }
    times = [books.event_times(event.name)[ids] for event in settings.events]
    table = np.stack([*(rows[name].astype(np.float64) for name in _ROWS), *times])
    device = batch.evaluation.predictions.device
    # plain tensors: one member's need not be one vector where calls cost nothing
    evaluation = Evaluation(batch.evaluation.predictions, dict(batch.evaluation.speed))
    return Moment(dict(batch.state), evaluation, torch.from_numpy(table).to(device))


def _row(table: Floats, name: str) -> Floats:
    """A row of (..., rows, m)."""
    return table[..., _ROWS.index(name), :]


def _reading(table: Floats) -> Readings:
    """The readings in a table."""
    named = {name: _row(table, name).copy() for name in _READINGS}
    return Readings(**named | {"step": named["step"].astype(np.int64)})


def _write(tables: Floats, ids: Floats, settings: Settings, books: Bookkeeper) -> None:
    """Rows of the history that a block left, and where the members stand after it."""
    moments, who = np.nonzero(_row(tables, "marked"))
    if len(who):
        columns = [_ROWS.index(name) for name in COLUMNS]
        books.take_rows(ids[who], tables[moments, :, who][:, columns])
    now = tables[-1]
    books.time[ids], books.step[ids] = _row(now, "time"), _row(now, "step_size")
    books.unresolved[ids], books.next_rows[ids] = _row(now, "unresolved"), _row(now, "next")
    for name, row in (("taken", "step"), ("refused", "refused"), ("forced", "forced")):
        books.counts[name][ids] = _row(now, row)
    for name in _WORST:
        books.worst[name][ids] = _row(now, f"worst {name}")
    for event, times in zip(settings.events, now[len(_ROWS) :], strict=True):
        books.event_times(event.name)[ids] = times


def _let_go(
    batch: Batch, moment: Moment, now: Floats, books: Bookkeeper, late: bool
) -> tuple[Batch, Moment, Floats]:
    """The members that go on; the others are kept, and all of them where it is too late."""
    ended = _row(now, "ended")
    done = ended >= 0
    if late:
        columns = [_ROWS.index(name) for name in COLUMNS]
        books.take_rows(batch.ids[~done], now[columns][:, ~done].T)
    whole = _batch(batch, moment)
    statuses = {status: ended == number for number, status in enumerate(ENDS)}
    statuses[Status.OUT_OF_TIME] = ~done
    gone = done | late
    on = ~gone
    left = books.let_go(whole, gone, {s: who & gone for s, who in statuses.items()})
    kept = torch.from_numpy(np.flatnonzero(on)).to(moment.table.device)
    state, speed = dict(left.state), dict(left.evaluation.speed)
    evaluation = Evaluation(left.evaluation.predictions, speed)
    return left, Moment(state, evaluation, moment.table[:, kept]), now[:, on]


def _batch(batch: Batch, moment: Moment) -> Batch:
    """The batch at a moment."""
    return Batch(batch.ids, batch.field, moment.state, {}, moment.evaluation)
