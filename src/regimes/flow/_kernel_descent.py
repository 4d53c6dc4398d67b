"""`kernel_descent`: a linear model trained by steps, in the space of its outputs."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np
import torch
from torch import Tensor

from regimes._check import positive_int, real, shown
from regimes.flow._batches import Batches
from regimes.flow._losses import Loss, LossLike, resolve_loss
from regimes.flow._optimisers import SGD, Optimiser, resolve_optimiser
from regimes.flow._rates import RateFactor, constant


@final
@dataclass(frozen=True, eq=False, repr=False)
class LinearRun:
    """A linear model after training on k targets at once; every field has them first.

    Attributes:
        outputs_train: (k, n), or (k, n, c) for c outputs.
        outputs_test: the same on the test points, or None.
        losses: mean training loss at the looks, (k, looks).
        looks: steps taken when they were looked at, (looks,).
        displacement: |theta - theta_0| at the end, (k,).
        change: theta - theta_0 by its product with theta_0, (k,); None where theta_0 is not known.
        dual: a of `theta - theta_0 = sum_i a_i grad f(x_i)`, (k, n) or (k, n, c); None where the
            parameters themselves were trained.
        parameters: theta - theta_0, (k, P) in the order of `TangentKernel.parameter_names`; None
            where the dual was trained.
        way: how the steps were made, and why so.
        seconds: wall time of the steps.
    """

    outputs_train: Tensor
    outputs_test: Tensor | None
    losses: Tensor
    looks: Tensor
    displacement: Tensor
    change: Tensor | None
    dual: Tensor | None
    parameters: Tensor | None
    way: str
    seconds: float

    def __repr__(self) -> str:
        low, high = float(self.losses[:, -1].min()), float(self.losses[:, -1].max())
        ends = f"{low:.3g}" if low == high else f"{low:.3g} to {high:.3g}"
        return (
            f"LinearRun: {len(self.losses)} target(s), {int(self.looks[-1])} steps, "
            f"training loss {ends}; {self.way}"
        )

    def steps_until(self, loss: float) -> Tensor:
        """Steps taken at the first look with a training loss of at most this, NaN if none, (k,)."""
        below = self.losses <= real("loss", loss)
        first = self.looks.double()[below.to(torch.int8).argmax(1)]
        return torch.where(below.any(1), first, torch.full_like(first, torch.nan))


def kernel_descent(
    gram: Tensor,
    y: Tensor,
    gram_test: Tensor | None = None,
    *,
    rate: float,
    batch_size: int | None = None,
    optimiser: str | Optimiser = "momentum",
    schedule: RateFactor | None = None,
    loss: LossLike = "cross_entropy",
    max_steps: int = 1000,
    check_every: int | None = None,
    start: Tensor | None = None,
    start_test: Tensor | None = None,
    at_origin: Tensor | None = None,
    seed: int = 0,
) -> LinearRun:
    """SGD of a linear model by its Gram alone: `theta - theta_0 = sum_i a_i grad f(x_i)`.

    A step on a batch b moves `a_b` by `-rate l'(f_b) / |b|`, with the same momentum as the
    parameters have, and `f_b = K_b a`: exactly the path of the parameters under `descend` or
    torch.optim.SGD, for |b| n multiply-adds where parameters need |b| P. All targets take the same
    batches, so that their products are one: a hundred targets cost little more than one.

    Args:
        gram: K between training points, (n, n), or (n, c, n, c) for c outputs.
        y: one target (n,), or k of them (k, n): labels +-1 or class indices, as the loss wants
            them; real targets (k, n, c) for the mean square of several outputs.
        gram_test: K(test, train), (m, n) or (m, c, n, c).
        rate: learning rate of the parameters.
        batch_size: points per step, drawn afresh each epoch without repetition; None takes all.
        optimiser: "sgd", "momentum" (0.9) or `SGD(momentum)`; Adam has no such form.
        schedule: as in `descend`.
        loss: as in `descend`.
        max_steps: steps taken.
        check_every: steps between looks at all training points; None: an epoch.
        start: outputs at a = 0, of the training points, (n,) or (n, c); None: 0.
        start_test: the same of the test points.
        at_origin: `<theta_0, grad f(x_i)>`, (n,) or (n, c), for `LinearRun.change`.
        seed: of the batches.

    Example:
        >>> K = torch.tensor([[2.0, 1.0], [1.0, 2.0]])
        >>> run = kernel_descent(K, torch.tensor([[1.0, -1.0], [1.0, 1.0]]), rate=0.1, max_steps=50)
        >>> run.outputs_train.sign()
        tensor([[ 1., -1.],
                [ 1.,  1.]])
    """
    update = resolve_optimiser(optimiser)
    if not isinstance(update, SGD):
        raise ValueError(
            f"kernel_descent takes plain steps or momentum, got {optimiser!r}: other rules are not "
            "linear in the gradient; use descend_linear with way='features'"
        )
    grams = _grams(gram, gram_test)
    task = Task.of(y, loss, grams.n, grams.c, grams.train.dtype, gram.device)
    shape = (len(task.y), grams.n * grams.c)
    dual, velocity = grams.train.new_zeros(shape), grams.train.new_zeros(shape)
    base, base_test = _rows("start", start, grams), _rows("start_test", start_test, grams, True)

    def outputs() -> Tensor:
        return (dual @ grams.train.T + base).view(len(task.y), grams.n, grams.c)

    def step(points: Tensor | None, factor: float) -> None:
        if points is None:
            velocity.mul_(update.momentum).sub_(task.slope(outputs(), None).flatten(1))
        else:
            rows = (points[:, None] * grams.c + grams.range).flatten()
            some = torch.addmm(base[:, rows], dual, grams.train[rows].T)
            slope = task.slope(some.view(len(task.y), -1, grams.c), points)
            velocity.mul_(update.momentum).index_add_(1, rows, slope.flatten(1), alpha=-1.0)
        dual.add_(velocity, alpha=rate * factor)

    looks, losses, seconds = walk(
        step, lambda: task.losses(outputs()), grams.n, batch_size, schedule, max_steps, check_every,
        rate, seed, gram.device,
    )  # fmt: skip
    square = ((dual @ grams.train.T) * dual).sum(1).clamp_min(0.0)
    test = None if grams.test is None else dual @ grams.test.T + base_test
    shaped = (lambda t: t) if grams.c == 1 else (lambda t: t.unflatten(1, (-1, grams.c)))
    return LinearRun(
        shaped(outputs().flatten(1)),
        None if test is None else shaped(test),
        losses,
        looks,
        square.sqrt(),
        None if at_origin is None else dual @ _rows("at_origin", at_origin, grams)[0],
        shaped(dual),
        None,
        f"dual steps on a Gram of {grams.n:,} points",
        seconds,
    )


@final
@dataclass(frozen=True, eq=False)
class Task:
    """Targets of a linear model with the loss they are judged by."""

    y: Tensor  # (k, n) or (k, n, c)
    loss: Loss

    @classmethod
    def of(
        cls, y: Tensor, loss: LossLike, n: int, c: int, dtype: torch.dtype, device: torch.device
    ) -> Task:
        """Targets that suit n points and c outputs, or a ValueError."""
        resolved = resolve_loss(loss, c)
        if not isinstance(y, Tensor):
            raise ValueError(f"y must be a tensor of targets, got {shown(y)}")
        several = y.is_floating_point() and c > 1  # real targets have an axis of outputs
        labels = y if y.ndim == (3 if several else 2) else y[None]
        if labels.ndim < 2 or labels.shape[1] != n:
            raise ValueError(f"y must have shape ({n},) or (k, {n}), got {tuple(y.shape)}")
        labels = labels.to(device)
        labels = labels.to(dtype) if labels.is_floating_point() or c == 1 else labels
        resolved.check(labels, c)
        return cls(labels, resolved)

    def slope(self, outputs: Tensor, points: Tensor | None) -> Tensor:
        """Derivative of the mean loss of a batch by its outputs (k, b, c)."""
        y = self.y if points is None else self.y[:, points]
        return self.loss.derivative(outputs, y) / outputs.shape[1]

    def losses(self, outputs: Tensor) -> Tensor:
        """Mean loss of all points, (k,)."""
        return self.loss.value(outputs, self.y).double().mean(1)


def walk(
    step: Callable[[Tensor | None, float], None],
    losses: Callable[[], Tensor],
    n: int,
    batch_size: int | None,
    schedule: RateFactor | None,
    max_steps: int,
    check_every: int | None,
    rate: float,
    seed: int,
    device: torch.device,
) -> tuple[Tensor, Tensor, float]:
    """Take the steps; when training points were looked at, their losses then, and the seconds."""
    real("rate", rate, above=0.0)
    steps, factor = positive_int("max_steps", max_steps), schedule or constant()
    if not callable(factor):
        raise ValueError(
            f"schedule must be a function of the steps taken such as drops([...]), got {schedule!r}"
        )
    epoch = 1 if batch_size is None else max(1, n // positive_int("batch_size", batch_size))
    every = epoch if check_every is None else positive_int("check_every", check_every)
    batches = None
    if batch_size is not None:
        batches = Batches(torch.tensor([n]), batch_size, [seed])
    looks, seen = [0], [losses()]
    began = time.perf_counter()
    for taken in range(steps):
        points = None if batches is None else batches.next([0])[0].to(device)
        step(points, factor(taken))
        if (taken + 1) % every == 0 or taken + 1 == steps:
            looks.append(taken + 1)
            seen.append(losses())
    found = torch.stack(seen, 1).cpu()
    seconds = time.perf_counter() - began
    if not bool(found.isfinite().all()):
        raise ValueError(f"the steps diverged: lower the rate, which is {rate:g}")
    return torch.from_numpy(np.array(looks)), found, seconds


@final
@dataclass(frozen=True, eq=False)
class _Grams:
    train: Tensor  # (n c, n c)
    test: Tensor | None  # (m c, n c)
    n: int
    c: int
    range: Tensor  # 0..c-1


def _grams(gram: Tensor, gram_test: Tensor | None) -> _Grams:
    if not isinstance(gram, Tensor) or gram.ndim not in (2, 4) or not gram.is_floating_point():
        raise ValueError(f"gram must have shape (n, n) or (n, c, n, c), got {shown(gram)}")
    half = gram.ndim // 2
    if gram.shape[:half] != gram.shape[half:]:
        raise ValueError(f"gram must be square, got {tuple(gram.shape)}")
    if gram_test is not None and gram_test.shape[half:] != gram.shape[half:]:
        raise ValueError(
            f"gram_test is K(test, train): its last axes must be {tuple(gram.shape[half:])}, "
            f"got {tuple(gram_test.shape)}"
        )
    n, c = len(gram), gram.shape[1] if half == 2 else 1
    test = None if gram_test is None else gram_test.reshape(-1, n * c)
    return _Grams(gram.reshape(n * c, n * c), test, n, c, torch.arange(c, device=gram.device))


def _rows(name: str, values: Tensor | None, grams: _Grams, test: bool = False) -> Tensor:
    """Values of all points as one row (1, n c), zeros where none are given."""
    like = grams.test if test else grams.train
    if like is None:
        like = grams.train[:0]
    if values is None:
        return grams.train.new_zeros(1, len(like))
    if not isinstance(values, Tensor) or values.numel() != len(like):
        raise ValueError(f"{name} must hold {len(like)} outputs, got {shown(values)}")
    return values.reshape(1, -1).to(grams.train)
