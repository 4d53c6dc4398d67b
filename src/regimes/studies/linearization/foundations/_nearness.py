"""How near the linearisation stays to its network: with the width, and when it is taken later."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from regimes.lab import Array, Point, TrialResult
from regimes.studies.linearization import _tasks, _training

RATE = 0.01  # of both models after the anchor


@dataclass(frozen=True)
class Width:
    """A seed draws networks and images."""

    widths: tuple[int, ...] = (16, 32)
    points: int = 40
    steps: int = 10
    seed: tuple[int, ...] = (0, 1)


@dataclass(frozen=True)
class Later:
    """A seed draws a network, images and batches."""

    n_train: int = 200
    n_test: int = 60
    before: tuple[int, ...] = (0, 5)  # steps of the network before it is linearised
    steps: int = 10
    seed: tuple[int, ...] = (0, 1)


def width(params: Width, point: Point) -> TrialResult:
    """LIN-35: |f_nn - f_lin| / |f_nn - f_0| after full steps of 1/lambda_1 on the square."""
    import torch

    import regimes as rg

    found = np.zeros((len(point.seed), len(params.widths)))
    for i, seed in enumerate(point.seed):
        data = _tasks.task("digits", params.points, 10, seed, "float64")
        data = data.pipe(rg.data.flatten())
        for j, h in enumerate(params.widths):
            net = rg.nets.FullyConnected(
                data.in_shape[0], h, 2, bias=True, seed=seed, dtype=torch.float64
            )
            gram = rg.tangent.TangentKernel(net)(data.x_train)
            start = net(data.x_train).detach()[:, 0]
            rate = data.n_train / float(torch.linalg.eigvalsh(gram)[-1])
            common: dict[str, Any] = {
                "rate": rate,
                "optimiser": "sgd",
                "loss": "mse",
                "max_steps": params.steps,
            }
            run = rg.flow.descend(
                net, data, subtract_init=False, check_every=params.steps, events=(), **common
            )
            linear = rg.flow.kernel_descent(gram, data.y_train, start=start, **common)
            own = run.outputs_train[0, :, 0]
            found[i, j] = float((own - linear.outputs_train[0]).norm() / (own - start).norm())
    return TrialResult(
        arrays={
            "width_gap": Array(("width_seed", "width"), found),
            "widths": Array("width", np.array(params.widths)),
        }
    )


def later(params: Later, point: Point) -> TrialResult:
    """LIN-23: the same on test points, for networks linearised after some steps of training."""
    found = np.zeros((len(point.seed), len(params.before), 2))
    for i, seed in enumerate(point.seed):
        for j, before in enumerate(params.before):
            found[i, j] = _gap_after(params, seed, before)
    return TrialResult(
        arrays={
            "later_gap": Array(("later_seed", "before"), found[..., 0]),
            "later_agreement": Array(("later_seed", "before"), found[..., 1]),
            "steps_before": Array("before", np.array(params.before)),
        }
    )


def _gap_after(params: Later, seed: int, before: int) -> tuple[float, float]:
    import regimes as rg

    data = _tasks.task("digits", params.n_train, params.n_test, seed, "float32")
    net = _tasks.network("mlp", data.in_shape, seed)
    common: dict[str, Any] = {
        "optimiser": "momentum",
        "batch_size": min(128, data.n_train),
        "loss": rg.flow.binary_cross_entropy(),
        "seed": seed,
    }
    plain: dict[str, Any] = {"subtract_init": False, "events": (), **common}
    if before:
        rate = _training.Protocol().rate
        run = rg.flow.descend(net, data, rate=rate, max_steps=before, check_every=before, **plain)
        net = run.ensemble.member(0)
    run = rg.flow.descend(
        net, data, rate=RATE, max_steps=params.steps, check_every=params.steps, **plain
    )
    linear = rg.flow.descend_linear(
        net, data.x_train, data.y_train, data.x_test, rate=RATE, max_steps=params.steps,
        check_every=params.steps, biased=True, way="gram", **common,
    )  # fmt: skip
    assert run.outputs_test is not None
    assert linear.outputs_test is not None
    own, other = run.outputs_test[0, :, 0], linear.outputs_test[0]
    start = net(data.x_test).detach()[:, 0]
    gap = float((other - own).norm() / (own - start).norm())
    return gap, float((own.sign() == other.sign()).float().mean())
