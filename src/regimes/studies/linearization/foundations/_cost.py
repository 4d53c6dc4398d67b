"""What a Gram costs, and what training does."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from regimes.lab import Array, Point, TrialResult
from regimes.studies.linearization import _tasks, _training

OUTPUTS = (1, 2, 4)
COUNTED = 200  # points of the Grams whose multiply-adds are counted
WHOLE = 60_000  # points that the paper's Grams are of
OTHER = 100  # first seed of the larger Grams


@dataclass(frozen=True)
class Cost:
    """A seed draws network and inputs; every number is a median of so many repeats."""

    points: tuple[int, ...] = (100, 200)
    larger: tuple[int, ...] = (200, 400)  # where what grows as m is small beside what grows as m^2
    side: int = 8
    channels: int = 1
    repeats: int = 3
    epochs: int = 2
    seed: tuple[int, ...] = (0, 1, 2)


def cost(params: Cost, point: Point) -> TrialResult:
    """LIN-30 to LIN-32: seconds of Grams, multiply-adds, seconds of a training."""
    import torch

    import regimes as rg

    shape = (params.channels, params.side, params.side)
    seconds, beyond = (
        np.stack([_seconds(shape, sizes, params.repeats, seed + first) for seed in point.seed])
        for sizes, first in ((params.points, 0), (params.larger, OTHER))
    )
    counted = []
    for c in OUTPUTS:
        several = rg.nets.MLP(64, 100, 3, c, init="lecun", seed=0)
        some = torch.zeros(COUNTED, 64)
        plan = rg.tangent.TangentKernel(several, engine="jacobian").plan(some, some.clone())
        counted.append(sum(layer.work.products for layer in plan.layers) / several.n_params)
    data = _tasks.task("digits", 1500, 297, point.seed[0], "float32")
    net = _tasks.network("mlp", data.in_shape, point.seed[0])
    began = time.process_time()
    _training.train_networks(net, [data], _training.Protocol(params.epochs))
    own = time.process_time() - began
    return TrialResult(
        {"cost_training": own, "cost_epochs": params.epochs},
        {
            "cost_seconds": Array(("cost_seed", "cost_size"), seconds),
            "cost_points": Array("cost_size", np.array(params.points)),
            "cost_seconds_larger": Array(("cost_seed", "cost_larger"), beyond),
            "cost_points_larger": Array("cost_larger", np.array(params.larger)),
            "cost_counted": Array("cost_output", np.array(counted)),
            "cost_outputs": Array("cost_output", np.array(OUTPUTS)),
        },
    )


def _seconds(shape: tuple[int, ...], sizes: tuple[int, ...], repeats: int, seed: int) -> np.ndarray:
    """CPU seconds of one network's Gram of so many points, medians of repeats."""
    import torch

    import regimes as rg
    from regimes._random import generator

    x = torch.randn(max(sizes), *shape, generator=generator(seed, "linearization/cost"))
    kernel = rg.tangent.TangentKernel(_tasks.network("mlp", shape, seed))
    kernel(x[: sizes[0]])  # its structure is found once
    medians = []
    for m in sizes:
        laps = []
        for _ in range(repeats):
            began = time.process_time()
            kernel(x[:m])
            laps.append(time.process_time() - began)
        medians.append(np.median(laps))
    return np.array(medians)
