"""What training keeps: a quantity per neuron, the gradient's formula, rotations of the data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

import regimes as rg
from regimes.lab import Array, Point, TrialResult
from regimes.studies._stripe import READOUT, WEIGHT, network, neurons, start, train
from regimes.studies._types import Tensor

if TYPE_CHECKING:
    from regimes.studies.compression.foundations._formulas import Drawn


@dataclass(frozen=True)
class Conservation:
    """A seed is a network and its data."""

    step_limits: tuple[float, ...] = (0.02, 0.01)
    conservation_width: int = 30
    seed: tuple[int, ...] = (0, 1)


def conservation(params: Conservation, point: Point) -> TrialResult:
    """COMP-02: how far `beta^2 - |w|^2 - b^2` drifts until t*, for several step limits."""
    d, width, seeds = 5, params.conservation_width, point.seed
    sets = [rg.data.stripe(n_train=200, n_test=1, d=d, seed=seed) for seed in seeds]
    first = neurons(start(d, width, seeds, dtype="float64"))
    drifts, growths = [], []
    for limit in params.step_limits:
        run = train(
            sets,
            width=width,
            seeds=seeds,
            alpha=1e-6,
            dtype="float64",
            device=point.device,
            until="t_star",
            weight=limit,
        )
        last = neurons({name: value.cpu() for name, value in run.parameters.items()})
        drifts.append((_invariant(*last) - _invariant(*first)).abs().amax(1).numpy())
        growths.append((last[2] ** 2 - first[2] ** 2).amax(1).numpy())
    scale = _invariant(*first).abs().amax(1).numpy()
    return TrialResult(
        {"conservation_width": width},
        arrays={
            "step_limit": Array("limit", params.step_limits),
            "drift": Array(("limit", "network"), np.array(drifts) / scale),
            "drift_of_growth": Array(("limit", "network"), np.array(drifts) / np.array(growths)),
        },
    )


def _invariant(w: Tensor, b: Tensor, beta: Tensor) -> Tensor:
    return beta**2 - (w**2).sum(-1) - b**2


def gradient(params: Drawn, point: Point) -> TrialResult:
    """COMP-03: [Paccolat 2021, eq. 4] against automatic differentiation, in both precisions."""
    return TrialResult(
        {
            f"gradient_error_{dtype}": max(_gradient_error(dtype, seed) for seed in point.seed)
            for dtype in ("float32", "float64")
        }
    )


def _gradient_error(dtype: str, seed: int) -> float:
    """Largest relative difference among w, b and beta, half-way in training (some points fit)."""
    import torch

    d, width, alpha = 5, 100, 0.5
    kind = getattr(torch, dtype)
    data = rg.data.stripe(n_train=200, n_test=1, d=d, seed=seed).to(kind)
    net, other = (network(d, width, seed + k, dtype=dtype) for k in (0, 1))
    x, y = data.x_train, data.y_train
    start = other(x)[:, 0].detach()
    size = (net(x)[:, 0].detach() - start).abs().median()
    scale = alpha / size  # half of the points have |F| > 1/2, so some have their margin
    margin = y * scale * (net(x)[:, 0] - start)
    loss = (1 - margin).relu().mean() / scale
    named = dict(net.named_parameters())
    automatic = [-g for g in torch.autograd.grad(loss, list(named.values()))]
    with torch.no_grad():
        w, b, beta = named[WEIGHT], named["layers.0.bias"], named[READOUT][0]
        pull = y * (margin < 1) / len(x)  # c_mu
        inside = x @ w.T / d**0.5 + b
        active = (inside > 0).to(kind) * pull[:, None]
        factor = 2**0.5 / width
        formula = {
            WEIGHT: factor * beta[:, None] * (active.T @ x) / d**0.5,
            "layers.0.bias": factor * beta * active.sum(0),
            READOUT: (factor * (active * inside).sum(0))[None],
        }
    return max(
        float((formula[name] - found).abs().max() / found.abs().max())
        for name, found in zip(named, automatic, strict=True)
    )


@dataclass(frozen=True)
class Rotation:
    """A seed is a data set and its network; the first one also draws the rotation."""

    n_test: int = 500
    rotation_end_loss: float = 0.4
    seed: tuple[int, ...] = tuple(range(8))


def rotation(params: Rotation, point: Point) -> TrialResult:
    """COMP-47: the gradient lemma, the rotated flow, and fresh weights on rotated data."""
    import torch

    from regimes._random import generator

    seeds, first = point.seed, point.seed[0]
    boost = torch.tensor([[np.cosh(0.7), np.sinh(0.7)], [np.sinh(0.7), np.cosh(0.7)]])
    x = torch.randn(50, 2, generator=generator(first, "lemma"), dtype=torch.float64)
    lemma = rg.measure.gradient_covariance_gap(
        lambda points: torch.tanh(points[:, 0] ** 2 - points[:, 1] ** 2), x, boost.double()
    )
    d, width = 4, 50
    square = torch.randn(d, d, generator=generator(first + 1, "turn"), dtype=torch.float64)
    turn = torch.linalg.qr(square)[0]
    sets = [
        rg.data.stripe(n_train=200, n_test=params.n_test, d=d, seed=seed, dtype=torch.float64)
        for seed in seeds
    ]
    turned = [
        replace(each, x_train=each.x_train @ turn.T, x_test=each.x_test @ turn.T) for each in sets
    ]
    net, other = (network(d, width, first, dtype="float64") for _ in range(2))
    with torch.no_grad():
        weight = dict(other.named_parameters())[WEIGHT]
        weight.copy_(weight @ turn.T)
    pair = [
        rg.flow.gradient_flow(
            one,
            each,
            alpha=1e-2,
            divide_by="alpha",
            rule=rg.flow.StepRule(first="weights", shrink=2.0),
            max_steps=100,
        )
        for one, each in ((net, sets[0]), (other, turned[0]))
    ]
    outputs: Any = [run.outputs_test for run in pair]
    gap = (outputs[0] - outputs[1]).abs().max()
    end: Any = rg.flow.loss_below(params.rotation_end_loss)
    errors = []
    for number, chosen in enumerate((sets, turned)):
        run = train(
            chosen,
            width=width,
            seeds=[seed + 100 * number for seed in seeds],
            alpha=1e-3,
            dtype="float64",
            until=end,
            max_steps=20_000,
        )
        errors.append(run.test_errors)
    return TrialResult(
        {
            "lemma_gap": float(lemma),
            "rotated_gap": float(gap),
            "rotated_loss": float(pair[0].losses[0, -1]),
        },
        arrays={"rotation_error": Array(("frame", "data_set"), torch.stack(errors))},
    )
