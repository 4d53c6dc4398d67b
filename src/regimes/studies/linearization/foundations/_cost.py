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


@dataclass(frozen=True)
class Cost:
    """A seed draws network and inputs; every number is a median of so many repeats."""

    points: tuple[int, ...] = (100, 200)
    side: int = 8
    channels: int = 1
    repeats: int = 3
    epochs: int = 2
    seed: tuple[int, ...] = (0, 1, 2)


def cost(params: Cost, point: Point) -> TrialResult:
    """LIN-30 to LIN-32: seconds of Grams, multiply-adds, seconds of a training."""
    import torch

    import regimes as rg
    from regimes._random import generator

    shape = (params.channels, params.side, params.side)
    seconds = np.zeros((len(point.seed), len(params.points)))
    for i, seed in enumerate(point.seed):
        x = torch.randn(max(params.points), *shape, generator=generator(seed, "linearization/cost"))
        kernel = rg.tangent.TangentKernel(_tasks.network("mlp", shape, seed))
        kernel(x[: params.points[0]])  # its structure is found once
        for j, m in enumerate(params.points):
            laps = []
            for _ in range(params.repeats):
                began = time.process_time()
                kernel(x[:m])
                laps.append(time.process_time() - began)
            seconds[i, j] = np.median(laps)
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
            "cost_counted": Array("cost_output", np.array(counted)),
            "cost_outputs": Array("cost_output", np.array(OUTPUTS)),
        },
    )
