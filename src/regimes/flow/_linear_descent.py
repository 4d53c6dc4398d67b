"""`descend_linear`: the linearisation of a network trained by steps, by the cheapest way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, final

import torch
from torch import Tensor, nn

from regimes._check import choose, instance
from regimes._memory import parse_bytes, readable
from regimes.flow._kernel_descent import LinearRun, Task, kernel_descent, walk
from regimes.flow._losses import LossLike
from regimes.flow._optimisers import SGD, Memory, Optimiser, resolve_optimiser
from regimes.flow._rates import RateFactor
from regimes.tangent import TangentKernel

_WAYS = {name: name for name in ("auto", "gram", "features", "products")}
_PASSES = 6  # forward passes that a step by products costs: value and derivative, then backward


def descend_linear(
    network: nn.Module,
    x: Tensor,
    y: Tensor,
    x_test: Tensor | None = None,
    *,
    rate: float,
    batch_size: int | None = None,
    optimiser: str | Optimiser = "momentum",
    schedule: RateFactor | None = None,
    loss: LossLike = "cross_entropy",
    max_steps: int = 1000,
    check_every: int | None = None,
    biased: bool = False,
    way: str = "auto",
    memory: str | int | None = None,
    output: Callable[[Any], Any] | None = None,
    seed: int = 0,
) -> LinearRun:
    """Train the linearisation of a network [Ortiz-Jimenez 2021, eq. 1] on k targets at once.

    Three ways give the same path up to rounding. "gram" makes all products between gradients once
    and then never meets a parameter again (`kernel_descent`); "features" stores the gradients
    (n, c, P) and steps the parameters; "products" stores nothing and takes a forward-mode and a
    backward pass each step. "auto" takes the one of fewest multiply-adds among those that fit the
    memory; `LinearRun.way` says which and why.

    Args:
        network: any module; its parameters are the anchor. Batch norm and dropout are frozen.
        x: n training points.
        y: one target (n,), or k of them (k, n), as in `kernel_descent`.
        x_test: test points, or None.
        rate: learning rate.
        batch_size: as in `kernel_descent`.
        optimiser: as in `descend`; Adam has no "gram".
        schedule: as in `descend`.
        loss: as in `descend`.
        max_steps: steps taken.
        check_every: steps between looks at all training points; None: an epoch.
        biased: start from the network's own outputs instead of 0.
        way: "auto", "gram", "features" or "products".
        memory: bound on what is stored; None takes a share of what is free.
        output: as in `TangentKernel`.
        seed: of the batches.

    Example:
        >>> from regimes import nets
        >>> x = torch.randn(20, 3, generator=torch.Generator().manual_seed(0))
        >>> net = nets.FullyConnected(3, 50, seed=0)
        >>> run = descend_linear(net, x, x[:, 0].sign(), rate=0.5, batch_size=5, max_steps=100)
        >>> bool((run.outputs_train[0].sign() == x[:, 0].sign()).all())
        True
    """
    instance("x", x, Tensor, "a tensor of points (n, ...)")
    kernel = TangentKernel(network, memory=memory, output=output)
    update = resolve_optimiser(optimiser)
    start, start_test = kernel.outputs(x), None if x_test is None else kernel.outputs(x_test)
    c = start.shape[1]
    task = Task.of(y, loss, len(x), c, start.dtype, start.device)
    size = batch_size or len(x)
    chosen, told = _chosen_way(
        choose(way, _WAYS, "way"), kernel, x, c, len(task.y), size * max_steps,
        isinstance(update, SGD), parse_bytes(memory, start.device),
    )  # fmt: skip
    common: dict[str, Any] = {
        "rate": rate, "batch_size": batch_size, "schedule": schedule, "max_steps": max_steps,
        "check_every": check_every, "seed": seed,
    }  # fmt: skip
    if not biased:
        start, start_test = torch.zeros_like(start), None
    theta = torch.cat([p.flatten() for p in kernel.parameters])
    if chosen == "gram":
        run = kernel_descent(
            kernel(x),
            y,
            None if x_test is None else kernel(x_test, x),
            optimiser=optimiser,
            loss=loss,
            start=start,
            start_test=start_test,
            at_origin=kernel.pushed(x, theta),
            **common,
        )
        return replace(run, way=told)
    source: _Source = _Stored(kernel, x, c) if chosen == "features" else _Passes(kernel, x, c)
    return _by_parameters(source, task, update, start, start_test, x_test, theta, told, common)


def _by_parameters(
    source: _Source,
    task: Task,
    update: Optimiser,
    start: Tensor,
    start_test: Tensor | None,
    x_test: Tensor | None,
    theta: Tensor,
    told: str,
    common: dict[str, Any],
) -> LinearRun:
    """Steps of the displacement (k, P) itself."""
    k, c = len(task.y), start.shape[1]
    moved = {"theta": theta.new_zeros(k, len(theta))}
    memory: Memory = update.start(moved)
    taken = 0

    def step(points: Tensor | None, factor: float) -> None:
        nonlocal memory, taken
        some = source.at(points)
        base = start if points is None else start[points]
        outputs = some.push(moved["theta"]).view(k, -1, c) + base
        pulled = some.pull(task.slope(outputs, points).flatten(1))
        taken += 1
        count = torch.full((k,), float(taken), dtype=torch.float64)
        direction, memory = update.direction({"theta": -pulled}, memory, count)
        moved["theta"].add_(direction["theta"], alpha=common["rate"] * factor)

    def outputs() -> Tensor:
        return source.at(None).push(moved["theta"]).view(k, -1, c) + start

    looks, losses, seconds = walk(
        step, lambda: task.losses(outputs()), len(start), common["batch_size"],
        common["schedule"], common["max_steps"], common["check_every"], common["rate"],
        common["seed"], start.device,
    )  # fmt: skip
    test = None
    if x_test is not None:
        found = _Passes(source.kernel, x_test, c).push(moved["theta"]).view(k, -1, c)
        test = found if start_test is None else found + start_test
    shaped = (lambda t: t[..., 0]) if c == 1 else (lambda t: t)
    return LinearRun(
        shaped(outputs()),
        None if test is None else shaped(test),
        losses,
        looks,
        moved["theta"].norm(dim=1),
        moved["theta"] @ theta,
        None,
        moved["theta"],
        told,
        seconds,
    )


@final
@dataclass(frozen=True, eq=False)
class _Passes:
    """Products with the gradients of some points, by passes through the network."""

    kernel: TangentKernel
    x: Tensor
    c: int

    def at(self, points: Tensor | None) -> _Passes:
        return self if points is None else replace(self, x=self.x[points])

    def push(self, u: Tensor) -> Tensor:
        """J u for u of shape (k, P): (k, b c)."""
        return self.kernel.pushed(self.x, u).reshape(-1, len(u)).T

    def pull(self, v: Tensor) -> Tensor:
        """J^T v for v of shape (k, b c): (k, P)."""
        columns = v.T.view(len(self.x), self.c, -1)
        return self.kernel.pulled(self.x, columns if self.c > 1 else columns[:, 0])


@final
class _Stored:
    """The same by gradients that were written out once; the rows of a batch are copied together."""

    def __init__(self, kernel: TangentKernel, x: Tensor, c: int) -> None:
        self.kernel, self._c = kernel, c
        features = kernel.features(x)
        self._all = features.reshape(-1, features.shape[-1])
        self._rows = self._all
        self._range = torch.arange(c, device=features.device)
        self._room = self._all[:0].clone()

    def at(self, points: Tensor | None) -> _Stored:
        if points is None:
            self._rows = self._all
        else:
            rows = (points[:, None] * self._c + self._range).flatten()
            if len(self._room) != len(rows):
                self._room = self._all.new_empty(len(rows), self._all.shape[1])
            self._rows = torch.index_select(self._all, 0, rows, out=self._room)
        return self

    def push(self, u: Tensor) -> Tensor:
        return u @ self._rows.T

    def pull(self, v: Tensor) -> Tensor:
        return v @ self._rows


_Source = _Passes | _Stored


def _multiply_adds(kernel: TangentKernel, x: Tensor) -> float:
    """Those of one forward pass of a sample, as far as torch counts them."""
    from torch.utils.flop_counter import FlopCounterMode

    with FlopCounterMode(display=False) as counter:
        kernel.outputs(x[:1])
    return max(counter.get_total_flops() / 2, sum(p.numel() for p in kernel.parameters))


def _chosen_way(
    way: str,
    kernel: TangentKernel,
    x: Tensor,
    c: int,
    k: int,
    visits: int,
    linear: bool,
    budget: int,
) -> tuple[str, str]:
    """The way to take, and in words why: what each stores and how much it multiplies."""
    rows, count = len(x) * c, sum(p.numel() for p in kernel.parameters)
    item = kernel.parameters[0].element_size()
    passes = _multiply_adds(kernel, x)
    costs = {
        "gram": (3 * item * rows**2, rows**2 * count / 2 + visits * c * rows * k),
        "features": (item * rows * count, 3 * rows * passes / c + 2 * visits * c * count * k),
        "products": (0, _PASSES * visits * passes * k),
    }
    if not linear:
        del costs["gram"]
    if way not in ("auto", *costs):
        raise ValueError(
            "way='gram' takes plain steps or momentum: other rules are not linear in the gradient; "
            "use way='features' or 'products'"
        )
    fitting = [name for name, (stored, _) in costs.items() if stored <= budget]
    best = min(fitting, key=lambda name: costs[name][1]) if way == "auto" else way
    each = ", ".join(
        f"{name} {work:.1e} multiply-adds" + (f" and {readable(stored)}" if stored else "")
        for name, (stored, work) in costs.items()
    )
    asked = "" if way == "auto" else ", as was asked"
    return best, f"by {best}{asked} ({each}; budget {readable(budget)})"
