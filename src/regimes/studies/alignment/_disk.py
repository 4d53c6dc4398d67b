"""Learning a disk, and the modes of the kernel on a grid."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from regimes.studies._types import Module, Tensor

DEPTH = 6  # weight matrices


def start(n_train: int, grid: int, width: int, seed: int, dtype: str, device: str) -> Any:
    """The data with their grid, and a network of one output."""
    import torch

    from regimes import data, nets

    made = data.disk(n_train, seed, n_test=0, grid=grid, dtype=getattr(torch, dtype))
    made = made.to(getattr(torch, dtype), device)
    net = nets.FullyConnected(
        2,
        width,
        depth=DEPTH - 1,
        parametrization="standard",
        init="torch_default",
        bias=True,
        seed=seed,
        dtype=getattr(torch, dtype),
        device=device,
    )
    return made, net


def descend(
    net: Module, x: Tensor, y: Tensor, *, rate: float, steps: int, look: Callable[[int], None]
) -> None:
    """Full gradient descent on the cross-entropy of labels +-1; `look` is called at every step."""
    import torch
    import torch.nn.functional as F

    optimiser = torch.optim.SGD(net.parameters(), lr=rate)
    look(0)
    for step in range(1, steps + 1):
        optimiser.zero_grad(set_to_none=True)
        F.softplus(-y * net(x)[:, 0]).mean().backward()
        optimiser.step()
        look(step)


def moments(steps: int, count: int) -> list[int]:
    """Step 0 and log-spaced steps from 10 on, the last included.

    >>> moments(2000, 5)
    [0, 10, 38, 141, 532, 2000]
    """
    import numpy as np

    first = min(10, steps)
    return [0, *sorted({round(step) for step in np.geomspace(first, steps, count)})]
