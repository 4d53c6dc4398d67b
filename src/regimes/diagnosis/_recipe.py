"""A usual training loop, for those who give a loss and an optimiser instead of a function."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from regimes._adapter import columns
from regimes._check import positive_int, shown
from regimes._random import generator
from regimes.curvature._losses import LossLike, point_loss
from regimes.diagnosis._case import called
from regimes.diagnosis._points import minibatches, placed
from regimes.diagnosis._probes import Probes, understood
from regimes.diagnosis._sharpness import labels_for, usual_loss

_BATCH = 32
Make = Callable[[Iterable[nn.Parameter]], Optimizer]


def recipe(
    optimizer: Make,
    loss: LossLike | None,
    epochs: int,
    pick: Callable[[Any], Any] | None,
    seed: int,
) -> Callable[[nn.Module, Any], None]:
    """`fit(network, train)` that takes the optimiser's steps on the mean loss of batches.

    Args:
        optimizer: from the trainable parameters to an optimiser, as `lambda p: SGD(p, lr=0.1)`.
        loss: as in `Curvature`; None takes the usual one for the labels.
        epochs: passes over the training points.
        pick: from what the network returns to its outputs.
        seed: of the order of arrays; a loader has its own.
    """
    if not callable(optimizer):
        raise ValueError(
            "optimizer must be a function from parameters to an optimiser, such as "
            f"lambda p: torch.optim.SGD(p, lr=0.1); got {shown(optimizer)}"
        )
    positive_int("epochs", epochs)

    def fit(network: nn.Module, train: Any) -> None:
        steps = optimizer([p for p in network.parameters() if p.requires_grad])
        if not isinstance(steps, Optimizer):
            raise ValueError(f"optimizer must make a torch.optim.Optimizer, got {shown(steps)}")
        like = next(network.parameters())
        draws = generator(seed, "recipe")
        for _ in range(epochs):
            for x, y in minibatches(train, _BATCH, draws):
                steps.zero_grad()
                outputs = columns(called(network, placed(x, like)), pick)
                _mean_loss(loss, outputs, y.to(like.device), network).backward()
                steps.step()

    return fit


def _mean_loss(loss: LossLike | None, outputs: Tensor, y: Tensor, network: nn.Module) -> Tensor:
    probes = understood(Probes(None, y, "numbers"), outputs.shape[1], "train")
    labels = labels_for(probes, network)
    chosen = usual_loss(probes) if loss is None else loss
    known = point_loss(chosen, outputs.shape[1], labels)
    total = known.total(outputs, labels) / len(outputs)
    if not bool(torch.isfinite(total)):
        raise ValueError(
            "the loss is no longer finite: the training diverged; give the optimiser a smaller step"
        )
    return total
