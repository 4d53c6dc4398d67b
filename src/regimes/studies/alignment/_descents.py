"""Descent on the cross-entropy as the paper runs it, with an observer of the kernel beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from regimes.lab import Array
from regimes.studies._types import Dataset, Module, Tensor

MOMENTUM = 0.9
_AT_ONCE = 500  # points of a pass that only counts errors


def descend(
    net: Module,
    made: Dataset,
    *,
    rate: float,
    steps: int,
    batch: int,
    seed: int,
    each_step: Callable[[], None],
    stop: Callable[[int], bool] | None = None,
) -> int:
    """Train in place by momentum 0.9 without decay; returns the number of steps taken.

    Args:
        net: the network, in training mode where it knows one.
        made: points and classes.
        rate: the learning rate.
        steps: at most.
        batch: points a step; batches are drawn without repetition in each epoch.
        seed: of the batches.
        each_step: called after every step.
        stop: asked after every step, with its number, whether to end.
    """
    import torch
    import torch.nn.functional as F

    optimiser = torch.optim.SGD(net.parameters(), lr=rate, momentum=MOMENTUM)
    draws = batches(len(made.x_train), batch, seed)
    net.train()
    for taken in range(1, steps + 1):
        points = next(draws).to(made.x_train.device)
        optimiser.zero_grad(set_to_none=True)
        F.cross_entropy(net(made.x_train[points]), made.y_train[points]).backward()
        optimiser.step()
        each_step()
        if stop is not None and stop(taken):
            return taken
    return steps


def batches(points: int, size: int, seed: int) -> Iterator[Tensor]:
    """Numbers of the points of every batch; what is left of an epoch is dropped."""
    import torch

    from regimes._random import generator

    draws = generator(seed, "alignment/batches")
    while True:
        order = torch.randperm(points, generator=draws)
        yield from order.split(size)[: points // size]


def accuracy(x: Tensor, y: Tensor) -> Callable[[Module], float]:
    """The share of these points that a network puts into their class."""
    return lambda net: float((outputs(net, x).argmax(1) == y).double().mean())


def loss(x: Tensor, y: Tensor) -> Callable[[Module], float]:
    """The mean cross-entropy of these points."""
    import torch.nn.functional as F

    return lambda net: float(F.cross_entropy(outputs(net, x), y))


def outputs(net: Module, x: Tensor) -> Tensor:
    """Outputs of a network that may be training, some points at a time, without a graph."""
    import torch

    training = net.training
    net.eval()
    with torch.no_grad():
        found = torch.cat([net(part) for part in x.split(_AT_ONCE)])
    net.train(training)
    return found


def arrays_of(record: Any, names: dict[str, str]) -> dict[str, Array]:
    """Numbers of an observer's record over "point", under other names, and the steps."""
    found = {"steps": Array("point", record.steps)}
    for name, new in names.items():
        values = record[name]
        dims = ("point",) if values.ndim == 1 else ("point", "layer")
        found[new] = Array(dims, values.float())
    return found
