"""`kernel_flow`: training in function space under a kernel that does not move."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from regimes.flow._checkpoint import Checkpoint, Keeper
from regimes.flow._control import StepRule, Tolerances
from regimes.flow._events import Event
from regimes.flow._field import Evaluation, State
from regimes.flow._grams import check_kernels
from regimes.flow._integrate import integrate
from regimes.flow._kernel_field import DUAL, OUTPUTS, KernelField
from regimes.flow._losses import LossLike, resolve_loss
from regimes.flow._momentum import Momentum
from regimes.flow._objective import Objective
from regimes.flow._observers import Observer, Recorder
from regimes.flow._readings import Floats, Readings
from regimes.flow._run import Run
from regimes.flow._settings import make_settings
from regimes.flow._slopes import check_slope
from regimes.flow._snapshots import KernelSnapshot


def kernel_flow(
    gram: Tensor,
    y_train: Tensor,
    gram_test: Tensor | None = None,
    *,
    y_test: Tensor | None = None,
    loss: LossLike = "hinge",
    outputs: int = 1,
    until: str | Event | None = "fitted",
    events: Sequence[str | Event] = ("t_star", "halved", "fitted"),
    t_end: float | None = None,
    tolerances: Tolerances | None = None,
    rule: StepRule | None = None,
    momentum: Momentum | None = None,
    method: str = "euler",
    observe: Mapping[str, Observer] | None = None,
    max_steps: int = 100_000,
    max_seconds: float | None = None,
    checkpoint: Checkpoint | None = None,
) -> Run:
    """Integrate `do/dt = -(1/n) K l'(o, y)` from o = 0, with the steps and events of gradient_flow.

    [Geiger 2020, eq. 28], [Paccolat 2021, eq. 3]: the limit alpha -> infinity of `gradient_flow`
    (with `divide_by="alpha^2"`) when K is the tangent kernel at the start, and the performance of a
    learned kernel when K is taken later. Multiplying K by a constant only rescales time.

    Args:
        gram: K between training points, (n, n), or (R, n, n) for R members.
        y_train: labels, (n,) or (R, n).
        gram_test: K between test points and training points, (n_test, n) or (R, n_test, n).
        y_test: labels of the test points, (n_test,) or (R, n_test), for `Run.test_errors`.
        loss: as in `gradient_flow`.
        outputs: number of outputs c; each uses the same K.
        until: as in `gradient_flow`.
        events: as in `gradient_flow`.
        t_end: as in `gradient_flow`.
        tolerances: as in `gradient_flow`; the gradient is measured by `c^T K c`, and `weight` is
            not defined here.
        rule: as in `gradient_flow`.
        momentum: as in `gradient_flow`.
        method: as in `gradient_flow`.
        observe: observers of `KernelSnapshot`s.
        max_steps: as in `gradient_flow`.
        max_seconds: as in `gradient_flow`.
        checkpoint: as in `gradient_flow`.

    Returns:
        A `Run` whose `parameters` hold the dual weights a, (R, n, c): outputs are `K(x, train) a`.

    Raises:
        ValueError: shapes that do not fit, labels that do not suit the loss, a Gram that is not
            symmetric or has a negative eigenvalue: its flow would climb.

    Example:
        >>> x = torch.linspace(-1, 1, 8, dtype=torch.float64)
        >>> K = torch.exp(-(x[:, None] - x).abs())
        >>> run = kernel_flow(K, torch.sign(x), K)
        >>> run.status[0].value, bool((run.outputs_test[0, :, 0] * torch.sign(x) >= 0.99).all())
        ('fitted', True)
    """
    kernels = check_kernels(gram, y_train, gram_test, y_test, outputs)
    if tolerances is not None and tolerances.weight is not None:
        raise ValueError("the dual weights of a kernel start at 0: leave tolerances.weight out")
    resolved = resolve_loss(loss, outputs)
    resolved.check(kernels.y, outputs)
    check_slope(resolved, kernels.y, (kernels.size, gram.shape[-1], outputs))
    ones = gram.new_ones(kernels.size, 1)
    objective = Objective(
        loss=resolved,
        y=kernels.y,
        counts=ones * gram.shape[-1],
        mask=None,
        alpha=ones.unsqueeze(-1),
        start=None,
        divide_by="1",
    )
    settings = make_settings(
        resolved,
        until=until,
        events=events,
        t_end=t_end,
        tolerances=tolerances,
        rule=rule,
        momentum=momentum,
        method=method,
        max_steps=max_steps,
        max_seconds=max_seconds,
        default_weight=None,
    )
    recorder = Recorder(observe or {}, kernels.size)
    nothing = gram.new_zeros(kernels.size, gram.shape[-1], outputs)

    def snapshot(
        numbers: Floats, state: State, evaluation: Evaluation, readings: Readings
    ) -> KernelSnapshot:
        return KernelSnapshot(numbers, readings, state[DUAL], evaluation.predictions)

    field = KernelField(kernels.train, objective)
    start = {DUAL: nothing, OUTPUTS: nothing.clone()}

    def described() -> dict[str, object]:
        return settings.described | {
            "kind": "kernel_flow",
            "loss": resolved.name,
            "observe": recorder.names,
            "dual": (tuple(nothing.shape), nothing.dtype),
        }

    keeper = Keeper(checkpoint, described, gram.device)
    ends = integrate(field, start, settings, recorder, snapshot, keeper)
    dual = ends.state[DUAL]
    return Run(
        history=ends.history,
        outputs_train=ends.predictions,
        outputs_test=None if kernels.test is None else torch.matmul(kernels.test, dual),
        y_test=None if y_test is None else (y_test if y_test.ndim == 2 else y_test[None]),
        parameters={DUAL: dual},
        status=ends.status,
        event_times=ends.event_times,
        recordings=recorder.recordings(),
        steps=ends.counts["taken"],
        refused=ends.counts["refused"],
        forced=ends.counts["forced"],
        worst=ends.worst,
        unresolved=ends.unresolved,
        seconds=ends.seconds,
    )


def kernel_steps(gram: Tensor, y: Tensor, times: Tensor, loss: LossLike = "hinge") -> Tensor:
    """Dual weights (n,) of the frozen-kernel flow after Euler steps between given times.

    For comparisons with another run at its own steps: near the longest stable step a choice of
    lengths hangs on rounding, and two integrations of one flow differ by more than their kernels.

    Args:
        gram: K between training points, (n, n).
        y: their labels, (n,).
        times: from 0 on, increasing, (k,), as in the `times` of a recording.
        loss: as in `gradient_flow`.

    Example:
        >>> K, y = torch.eye(2, dtype=torch.float64), torch.tensor([1.0, -1.0]).double()
        >>> kernel_steps(K, y, torch.tensor([0.0, 0.5, 1.0]))
        tensor([ 0.5000, -0.5000], dtype=torch.float64)
    """
    if gram.shape != (len(y), len(y)) or times.ndim != 1:
        raise ValueError(
            f"gram must have shape (n, n) for n labels and times (k,), got {tuple(gram.shape)}, "
            f"{tuple(y.shape)} and {tuple(times.shape)}"
        )
    resolved = resolve_loss(loss, 1)
    dual = torch.zeros_like(y)
    for step in times.diff().tolist():
        outputs = (gram @ dual)[None, :, None]
        dual = dual - step / len(y) * resolved.derivative(outputs, y[None])[0, :, 0]
    return dual
