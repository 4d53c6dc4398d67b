"""`gradient_flow`: the continuous-time training of many networks at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from regimes._memory import parse_bytes
from regimes.data import Dataset
from regimes.flow._bookkeeping import Ends
from regimes.flow._checkpoint import Checkpoint, Keeper
from regimes.flow._control import StepRule, Tolerances
from regimes.flow._deep_field import deep_field, is_deep
from regimes.flow._events import Event
from regimes.flow._field import Evaluation, Field, State
from regimes.flow._integrate import integrate
from regimes.flow._losses import Loss, resolve_loss
from regimes.flow._members import Members, NetworkLike, gather
from regimes.flow._momentum import Momentum
from regimes.flow._network_field import NetworkField
from regimes.flow._objective import Objective
from regimes.flow._observers import Observer, Recorder
from regimes.flow._readings import Floats, Readings
from regimes.flow._run import Run
from regimes.flow._settings import make_settings
from regimes.flow._shallow_field import is_shallow, shallow_field
from regimes.flow._snapshots import NetworkSnapshot, predict
from regimes.flow._tiles import autograd_bytes, tile_of


def gradient_flow(
    network: NetworkLike,
    data: Dataset | Sequence[Dataset],
    *,
    loss: str | Loss = "hinge",
    alpha: float | Sequence[float] | Tensor = 1.0,
    ensemble: int | Sequence[int] | None = None,
    n_train: int | Sequence[int] | None = None,
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
    other.

    Whatever is given as a list has one entry per member; what is given once is shared by all.

    Args:
        network: a network; an `Ensemble`; or a function from a seed to a network.
        data: a data set, or one per member (sizes may differ).
        loss: "hinge", "qhinge", "softhinge_20", "cross_entropy", "mse", or a `Loss`.
        alpha: scale of the predictor, > 0: small is feature learning, large is lazy.
        ensemble: number of networks of successive seeds, or the seeds themselves.
        n_train: use only the first so many training points.
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
        memory: budget such as "2GiB"; default a share of what is free. When the members do not fit
            together they are differentiated some at a time, and the run's notes say so.
        checkpoint: where to leave the state now and then, and where to go on from; in a trial of
            the lab `point.checkpoint()`. A run that was stopped ends like one that was not.

    Returns:
        A `Run`, one entry per member.

    Raises:
        ValueError: alpha <= 0, labels that do not suit the loss, an end that never comes, float32
            that cannot resolve the predictions, or lists of different lengths.

    Example:
        >>> from regimes import data, nets
        >>> ds = data.stripe(n_train=50, n_test=200, d=3, seed=0)
        >>> net = nets.FullyConnected(3, 50, parametrization="mean_field", bias=True, seed=0)
        >>> run = gradient_flow(net, ds, loss="hinge", alpha=0.01, ensemble=4, until="fitted")
        >>> [status.value for status in run.status], run.outputs_test.shape
        (['fitted', 'fitted', 'fitted', 'fitted'], torch.Size([4, 200, 1]))
    """
    members = gather(network, data, alpha=alpha, ensemble=ensemble, n_train=n_train)
    objective = objective_of(members, loss, subtract_init=subtract_init, divide_by=divide_by)
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
    _check_resolution(members, objective, settings.tolerances)
    recorder = Recorder(observe or {}, members.ensemble.size)

    def described() -> dict[str, object]:
        own = {"kind": "gradient_flow"} | settings.described
        return own | describe(members, objective, recorder, subtract_init, memory)

    keeper = Keeper(checkpoint, described, members.train.x.device)
    field, notes = field_of(members, objective, keeper.budget(memory))

    def snapshot(
        numbers: Floats, state: State, evaluation: Evaluation, readings: Readings
    ) -> NetworkSnapshot:
        return NetworkSnapshot(
            numbers, readings, state, evaluation.predictions, members, subtract_init
        )

    ends = integrate(field, members.ensemble.parameters, settings, recorder, snapshot, keeper)
    return finished(members, ends, recorder, subtract_init, notes)


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
) -> Run:
    """The result of a run of networks: the ends and the outputs on the test points."""
    test = members.test
    outputs_test = None
    if test.y.shape[1]:
        now = members.ensemble.with_parameters(ends.state)
        outputs_test = predict(
            now,
            members.ensemble,
            members.alpha,
            test.x,
            member_inputs=test.own,
            subtract_init=subtract_init,
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
        seconds=ends.seconds,
        notes=notes,
    )


def objective_of(
    members: Members, loss: str | Loss, *, subtract_init: bool, divide_by: str
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
        )
    if start.ndim != 3:
        raise ValueError(f"networks must return outputs (n, c), got {tuple(start.shape[1:])}")
    resolved = resolve_loss(loss, start.shape[-1])
    resolved.check(train.y, start.shape[-1])
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
    members: Members, objective: Objective, memory: int | str | None
) -> tuple[Field, tuple[str, ...]]:
    """The fastest field that the networks allow."""
    train = members.train
    if is_shallow(members.ensemble):
        budget = parse_bytes(memory, train.x.device) // 4  # masks live beside parameters and data
        return shallow_field(members.ensemble, train.x, objective, budget), ()
    field: Field
    if is_deep(members.ensemble):
        field, note = deep_field(members.ensemble, train.x, objective, own=train.own, memory=memory)
    else:
        each = autograd_bytes(members.ensemble, train.x[0] if train.own else train.x)
        tile, note = tile_of(members.ensemble, each, memory, train.x.device)
        field = NetworkField(members.ensemble, train.x, train.own, objective, tile)
    return field, (() if note is None else (note,))


def _check_resolution(members: Members, objective: Objective, tolerances: Tolerances) -> None:
    """Refuse to integrate differences f - f0 that the precision rounds away."""
    if objective.start is None:
        return
    f = objective.start
    size = f.abs().amax((1, 2)).double().cpu()
    if not bool(size.isfinite().all()):
        return  # the member will be called diverged
    resolution = members.alpha * size * torch.finfo(f.dtype).eps
    worst = int(resolution.argmax())
    if float(resolution[worst]) > 0.2 * tolerances.output:
        way_out = (
            "make the network and the data in float64"
            if f.dtype != torch.float64
            else "use kernel_flow, the limit of large alpha"
        )
        raise ValueError(
            f"alpha={float(members.alpha[worst]):g} of member {worst} is too large for {f.dtype}: "
            f"F = alpha (f - f0) is resolved to {float(resolution[worst]):.1g} only, and steps of "
            f"{tolerances.output:g} are asked for; {way_out}"
        )
