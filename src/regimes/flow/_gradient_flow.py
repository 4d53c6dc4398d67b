"""`gradient_flow`: the continuous-time training of many networks at once."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from regimes._check import instance
from regimes.data import Dataset
from regimes.flow._bookkeeping import Ends
from regimes.flow._checkpoint import Checkpoint, Keeper
from regimes.flow._control import StepRule, Tolerances
from regimes.flow._deep_field import deep_field, is_deep
from regimes.flow._events import Event
from regimes.flow._field import Evaluation, Field, State
from regimes.flow._integrate import integrate
from regimes.flow._losses import LossLike, resolve_loss
from regimes.flow._members import Members, NetworkLike, gather
from regimes.flow._momentum import Momentum
from regimes.flow._network_field import NetworkField
from regimes.flow._normalised_hinge import NormalisedHinge
from regimes.flow._objective import Objective, check_unit
from regimes.flow._observers import Observer, Recorder
from regimes.flow._readings import Floats, Readings
from regimes.flow._rounding import Rounding
from regimes.flow._run import Run
from regimes.flow._settings import make_settings
from regimes.flow._shallow_field import is_shallow, shallow_field
from regimes.flow._slopes import check_slope
from regimes.flow._snapshots import NetworkSnapshot, predict
from regimes.flow._tiles import COPIES, measured_pass, tile_of


def gradient_flow(
    network: NetworkLike,
    data: Dataset | Sequence[Dataset],
    *,
    loss: LossLike = "hinge",
    alpha: float | Sequence[float] | Tensor = 1.0,
    ensemble: int | Sequence[int] | None = None,
    n_train: int | Sequence[int] | None = None,
    grid: bool = False,
    output: Callable[[Any], Any] | None = None,
    until: str | Event | None = "fitted",
    events: Sequence[str | Event] = ("t_star", "halved", "fitted"),
    t_end: float | None = None,
    subtract_init: bool = True,
    divide_by: str = "alpha^2",
    tolerances: Tolerances | None = None,
    rule: StepRule | None = None,
    momentum: Momentum | None = None,
    method: str = "euler",
    observe: Mapping[str, Observer] | None = None,
    max_steps: int = 100_000,
    max_seconds: float | None = None,
    memory: int | str | None = None,
    checkpoint: Checkpoint | None = None,
) -> Run:
    """Integrate `dw/dt = -grad (1/(alpha^2 n)) sum_mu l(F_mu, y_mu)`, `F = alpha (f - f0)`.

    [Geiger 2020, eqs. 6 to 9], [Paccolat 2021, eq. 2]. Explicit steps; a step of a member is taken
    only when its predictions and gradient change by less than `tolerances`. Every member has its
    own time, step and end, and leaves the batch when it is done; members do not influence each
    other, but for rounding: sums over a batch are taken in another order. Usually that is 1e-12 in
    the outputs. Where steps reach the edge of stability rounding grows along the run, the sooner
    the looser `tolerances.gradient` is; at 1e-3 and above a member alone and in a batch may differ
    by 1e-4 and more, as any two runs do whose weights start apart by their last bit.

    Whatever is given as a list has one entry per member; what is given once is shared by all. With
    `grid=True` there is a member for every combination of the lists instead.

    Args:
        network: a network; an `Ensemble`; or a function from a seed to a network. Networks return
            (n, c) or (n,).
        data: a data set, or one per member (sizes may differ).
        loss: "hinge", "qhinge", "softhinge_20", "cross_entropy", "mse"; a function l(F, y), see
            `FunctionLoss`; or a `Loss`, whose derivative is checked before the run.
        alpha: scale of the predictor, > 0: small is feature learning, large is lazy.
        ensemble: number of networks of successive seeds, or the seeds themselves.
        n_train: use only the first so many training points.
        grid: True to combine the lists of alpha, data, n_train and networks, the last running
            fastest: `alpha=[1, 10, 100], ensemble=20, grid=True` are 60 members, and
            `Run.on_grid(run.test_errors)` has shape (3, 20).
        output: from what a network returns to the tensor that is meant, such as
            `lambda o: o.logits`; None where it is or holds only one (of floats, with axes).
        until: the event that ends a member's run: "fitted" (every point has its margin), "t_star"
            (10 % have it), "halved", "correct", an `Event`; or None, with `t_end`.
        events: further events whose first times are recorded; those the loss does not know
            (margins with the cross-entropy) are left out.
        t_end: flow time at which every run ends, exactly.
        subtract_init: False for `F = alpha f`.
        divide_by: what the mean loss is divided by: "alpha^2" [Geiger 2020, eq. 7], "alpha"
            [Paccolat 2021, eq. 2] or "1". It changes the unit of time alone.
        tolerances: what a step may change. Default: predictions by 0.1 and the gradient as
            [Geiger 2020, eqs. 8 and 9] say; with the hinge predictions by 0.1 and weights by 5 %,
            because its gradient jumps (docs/themes/compression.md, "Network and flow").
        rule: how step lengths follow; with the hinge a refused step is halved by default.
        momentum: a velocity with a relaxation time.
        method: "euler" (the papers', one evaluation per step), "heun" (two, second order) or "rk4"
            (four, fourth order); the last two pay off where the flow is smooth.
        observe: name -> `Observer`, results in `Run.recordings`.
        max_steps: steps tried per member before it is "out of steps".
        max_seconds: wall clock before all are "out of time".
        memory: budget such as "2GiB" for all that is held at a time, parameters and predictions
            included; default a share of what is free. When the members do not fit together they
            are differentiated some at a time, and the run's notes say so. What the run records
            (history, observers) comes on top: 72 bytes a row, and an observer's own numbers.
        checkpoint: where to leave the state now and then, and where to go on from; in a trial of
            the lab `point.checkpoint()`. A run that was stopped ends like one that was not.

    Returns:
        A `Run`, one entry per member.

    Raises:
        ValueError: alpha <= 0, labels that do not suit the loss, an end that never comes, float32
            that cannot resolve the predictions, or lists of different lengths.

    Warns:
        RuntimeWarning: members that rounding moved, see `Run.unresolved`.

    Example:
        >>> from regimes import data, nets
        >>> ds = data.stripe(n_train=50, n_test=200, d=3, seed=0)
        >>> net = nets.FullyConnected(3, 50, parametrization="mean_field", bias=True, seed=0)
        >>> run = gradient_flow(net, ds, loss="hinge", alpha=0.01, ensemble=4, until="fitted")
        >>> [status.value for status in run.status], run.outputs_test.shape
        (['fitted', 'fitted', 'fitted', 'fitted'], torch.Size([4, 200, 1]))
    """
    members = gather(
        network,
        data,
        alpha=alpha,
        ensemble=ensemble,
        n_train=n_train,
        grid=grid,
        output=output,
    )
    objective = objective_of(
        members, loss, subtract_init=subtract_init, divide_by=divide_by, memory=memory
    )
    settings = make_settings(
        objective.loss,
        until=until,
        events=events,
        t_end=t_end,
        tolerances=tolerances,
        rule=rule,
        momentum=momentum,
        method=method,
        max_steps=max_steps,
        max_seconds=max_seconds,
        default_weight=0.05,
    )
    rounding = Rounding.of(members, objective.power, memory)
    rounding.check(settings.tolerances)
    recorder = Recorder(observe or {}, members.ensemble.size)

    def described() -> dict[str, object]:
        own = {"kind": "gradient_flow"} | settings.described
        return own | describe(members, objective, recorder, subtract_init, memory)

    keeper = Keeper(checkpoint, described, members.train.x.device)
    copies = COPIES + settings.copies
    field, notes = field_of(members, objective, keeper.budget(memory), copies=copies)

    def snapshot(
        numbers: Floats, state: State, evaluation: Evaluation, readings: Readings
    ) -> NetworkSnapshot:
        return NetworkSnapshot(
            numbers, readings, state, evaluation.predictions, members, subtract_init
        )

    start = members.ensemble.parameters
    ends = integrate(field, start, settings, recorder, snapshot, keeper, rounding)
    if note := rounding.note(ends.unresolved.numpy(), ends.status):
        warnings.warn(note, RuntimeWarning, stacklevel=2)
        notes += (note,)
    return finished(members, ends, recorder, subtract_init, notes, memory)


def describe(
    members: Members,
    objective: Objective,
    recorder: Recorder,
    subtract_init: bool,
    memory: int | str | None,
) -> dict[str, object]:
    """What tells a run of networks from others, for its checkpoints."""
    return {
        "loss": objective.loss.name,
        "divide_by": objective.divide_by,
        "subtract_init": subtract_init,
        "memory": memory,
        "observe": recorder.names,
        "n_train": members.counts.tolist(),
        "alpha": members.alpha.tolist(),
        "parameters": {
            name: (tuple(value.shape), value.dtype)
            for name, value in members.ensemble.parameters.items()
        },
    }


def finished(
    members: Members,
    ends: Ends,
    recorder: Recorder,
    subtract_init: bool,
    notes: tuple[str, ...],
    memory: int | str | None = None,
) -> Run:
    """The result of a run of networks: the ends and the outputs on the test points."""
    test = members.test
    outputs_test = None
    now = members.ensemble.moved_to(ends.state)
    if test.y.shape[1]:
        outputs_test = predict(
            now,
            members.ensemble,
            members.alpha,
            test.x,
            member_inputs=test.own,
            subtract_init=subtract_init,
            memory=memory,
        )
    return Run(
        history=ends.history,
        outputs_train=ends.predictions,
        outputs_test=outputs_test,
        y_test=test.y if test.y.shape[1] else None,
        parameters=ends.state,
        status=ends.status,
        event_times=ends.event_times,
        recordings=recorder.recordings(),
        steps=ends.counts["taken"],
        refused=ends.counts["refused"],
        forced=ends.counts["forced"],
        worst=ends.worst,
        unresolved=ends.unresolved,
        seconds=ends.seconds,
        notes=notes,
        networks=now,
        grid=members.axes,
    )


def objective_of(
    members: Members,
    loss: LossLike,
    *,
    subtract_init: bool,
    divide_by: str,
    memory: int | str | None = None,
) -> Objective:
    """What the members descend, their initial function included."""
    with torch.no_grad():
        train = members.train
        start = predict(
            members.ensemble,
            members.ensemble,
            torch.ones(members.ensemble.size),
            train.x,
            member_inputs=train.own,
            subtract_init=False,
            memory=memory,
        )
    if start.ndim != 3:
        raise ValueError(f"networks must return outputs (n, c), got {tuple(start.shape[1:])}")
    instance("subtract_init", subtract_init, bool, "True or False")
    resolved = resolve_loss(loss, start.shape[-1])
    resolved.check(train.y, start.shape[-1])
    if isinstance(resolved, NormalisedHinge) and members.mask is not None:
        raise ValueError(
            f"{resolved.name} takes the norm of all training points, so members need as many of "
            f"them, got {sorted(set(members.counts.tolist()))}; train each number in a run of its "
            "own"
        )
    check_slope(resolved, train.y, tuple(start.shape))
    check_unit(divide_by, members.alpha, start.dtype)
    return Objective(
        loss=resolved,
        y=train.y,
        counts=members.counts.to(start).unsqueeze(1),
        mask=members.mask,
        alpha=members.alpha.to(start).view(-1, 1, 1),
        start=start if subtract_init else None,
        divide_by=divide_by,
    )


def field_of(
    members: Members, objective: Objective, memory: int | str | None, *, copies: int = COPIES
) -> tuple[Field, tuple[str, ...]]:
    """The fastest field that the networks allow."""
    train, ensemble = members.train, members.ensemble
    field: Field
    if is_shallow(ensemble):
        field, note = shallow_field(ensemble, train.x, objective, memory=memory, copies=copies)
    elif is_deep(ensemble):
        field, note = deep_field(
            ensemble, train.x, objective, own=train.own, memory=memory, copies=copies
        )
    else:
        x = train.x[0] if train.own else train.x
        each, predictions = measured_pass(ensemble, x)
        tile, note = tile_of(
            ensemble, each, memory, x.device, predictions=predictions, copies=copies
        )
        field = NetworkField(ensemble, train.x, train.own, objective, tile)
    return field, (() if note is None else (note,))
