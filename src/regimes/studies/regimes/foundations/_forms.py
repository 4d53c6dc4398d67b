"""Formulas and data that need no training, each measured."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

import regimes as rg
from regimes.lab import Array, Point, TrialResult
from regimes.studies.regimes._runs import grid
from regimes.studies.regimes._training import train
from regimes.studies.regimes.foundations._networks import data_of, networks_of

FACTORS = {"relu": 2**0.5, "softplus_5": 1.40438, "tanh": 1.59254, "swish_10": 1.41595}
SHARPNESS = (1.0, 5.0, 20.0)
SIZES = ((7, 9, 3, 2), (10, 60, 2, 1), (784, 100, 5, 10), (3, 8, 1, 1))  # d, h, L, c
SAME_SCALES = (0.05, 3.0)  # at which two parametrisations of one model are compared
ROWS = 60  # points of a stored curve


@dataclass(frozen=True)
class Forms:
    """Formulas have nothing to choose."""


def forms(params: Forms, point: Point) -> TrialResult:
    """REG-02, REG-03 and REG-05: factors, the soft hinge, the number of parameters."""
    import torch

    factors = [rg.nets.activation(name).factor for name in FACTORS]
    margins = torch.linspace(-40.0, 40.0, 80_001, dtype=torch.float64)  # 1 is among them
    shown = torch.linspace(-0.7, 1.5, 221, dtype=torch.float64)
    one = torch.ones(1, 1, dtype=torch.float64)

    def curve(loss: rg.flow.MarginLoss, m: torch.Tensor) -> torch.Tensor:
        return loss.value(m[None, :, None], one.expand(1, len(m)))[0]

    soft = [rg.flow.soft_hinge(b) for b in SHARPNESS]
    gaps = torch.stack([curve(loss, margins) - curve(rg.flow.hinge(), margins) for loss in soft])
    counts = [
        rg.nets.FullyConnected(d, h, depth=depth, out_dim=c).n_params for d, h, depth, c in SIZES
    ]
    return TrialResult(
        arrays={
            "factor": Array("activation", factors),
            "factor_check": Array("activation", [_factor(name) for name in FACTORS]),
            "hinge_gap": Array("sharpness", gaps.amax(1)),
            "hinge_gap_place": Array("sharpness", margins[gaps.argmax(1)]),
            "hinge_below": Array("sharpness", gaps.amin(1)),
            "loss_margin": Array("margin_step", shown),
            "loss_curves": Array(
                ("curve", "margin_step"),
                torch.stack([curve(loss, shown) for loss in (*soft, rg.flow.hinge())]),
            ),
            "count": Array("network_size", counts),
            "count_formula": Array(
                "network_size", [d * h + (n - 1) * h**2 + h * c for d, h, n, c in SIZES]
            ),
        }
    )


def _factor(name: str) -> float:
    """`1/sqrt(E sigma(g)^2)` by an adaptive quadrature of the written-out function."""
    from scipy.integrate import quad
    from scipy.special import expit

    written = {
        "relu": lambda u: max(0.0, u),
        "softplus_5": lambda u: float(np.logaddexp(0.0, 5 * u)) / 5,
        "tanh": math.tanh,
        "swish_10": lambda u: u * float(expit(10 * u)),
    }[name]
    parts = [
        quad(lambda u: written(u) ** 2 * math.exp(-u * u / 2), *ends, epsabs=1e-13, limit=200)[0]
        for ends in ((-12.0, 0.0), (0.0, 12.0))
    ]
    return (sum(parts) / math.sqrt(2 * math.pi)) ** -0.5


@dataclass(frozen=True)
class Parametrisation:
    """A seed is a network; eps is what a step may change the gradient by."""

    images: str = "digits"
    points: int = 12
    width: int = 8
    seed: tuple[int, ...] = (0, 1)
    eps: float = 0.1
    max_steps: int = 20_000


def parametrisation(params: Parametrisation, point: Point) -> TrialResult:
    """REG-01: the flow in the NTK and in the mean-field form, from the same weights."""
    data, width, seeds = data_of(params, point), params.width, point.seed
    ntk, alpha = networks_of(point, data, width, SAME_SCALES)
    mean_field, _ = networks_of(point, data, width, SAME_SCALES, parametrization="mean_field")
    scale = np.repeat(SAME_SCALES, len(seeds))
    common: dict[str, Any] = {"eps": params.eps, "max_steps": params.max_steps}
    one = train(ntk, data, alpha, **common)
    # the papers' programs have alpha = scale and divide by it; their time is t h/scale
    other = train(mean_field, data, scale.tolist(), divide_by="alpha", **common)
    convert = scale[:, None] / width
    gap = max(
        float((one.parameters[name] - value).abs().max() / value.abs().max())
        for name, value in other.parameters.items()
    )
    times = one.times.numpy(), other.times.numpy() * convert
    losses = one.losses.numpy(), other.losses.numpy()
    rows = [np.linspace(0, each.shape[1] - 1, ROWS).astype(int) for each in times]
    first = np.arange(len(SAME_SCALES)) * len(seeds)  # the first seed of every scale

    def shown(curves: tuple[np.ndarray, ...]) -> Array:
        found = [each[first][:, row] for each, row in zip(curves, rows, strict=True)]
        return Array(("form", "same_scale", "same_row"), found)

    return TrialResult(
        {
            "same_gap": gap,
            "same_time_gap": float(np.abs(times[1][:, -1] / times[0][:, -1] - 1).max()),
            "same_moved": float(
                max(
                    (one.parameters[name] - value).abs().max()
                    for name, value in ntk.parameters.items()
                )
            ),
            "same_steps": int(one.steps.max()),
        },
        arrays={
            "same_scales": Array("same_scale", SAME_SCALES),
            "same_times": shown(times),
            "same_losses": shown(losses),
        },
    )


@dataclass(frozen=True)
class EarlySpeed:
    """A seed is a network."""

    images: str = "digits"
    points: int = 20
    width: int = 20
    seed: tuple[int, ...] = (0, 1)


def early_speed(params: EarlySpeed, point: Point) -> TrialResult:
    """REG-04: the gradient at the start against the tangent kernel, for seven alphas."""
    import torch

    data, alphas = data_of(params, point), np.logspace(-3, 3, 7).tolist()
    scales = [each * params.width**0.5 for each in alphas]
    start, alpha = networks_of(point, data, params.width, scales)
    rule = rg.flow.StepRule(first="weights")
    run = rg.flow.gradient_flow(
        start, data, loss="softhinge_20", alpha=alpha, rule=rule, max_steps=1
    )
    slope = run.history["gradient"][:, 0].numpy()
    y = data.y_train
    pull = (
        torch.einsum("i,rij,j->r", y, rg.tangent.stacked_gram(start, data.x_train), y).cpu().numpy()
    )
    push = 1 / (1 + math.exp(-20.0))  # minus the derivative of the loss at F = 0
    found = {
        "speed": np.square(np.array(alpha) * slope),
        "speed_predicted": push**2 * pull / len(y) ** 2,
    }
    dims = ("speed_scale", "speed_seed")
    return TrialResult(
        arrays={
            "speed_alpha": Array("speed_scale", alphas),
            **{name: Array(dims, grid(each, alphas, point.seed)) for name, each in found.items()},
        }
    )


@dataclass(frozen=True)
class Neighbours:
    """A seed is a draw of so many points in each dimension."""

    dimensions: tuple[int, ...] = (1, 2, 4)
    points: tuple[int, ...] = (100, 300, 900)
    seed: tuple[int, ...] = (0, 1, 2)


def neighbours(params: Neighbours, point: Point) -> TrialResult:
    """REG-66: mean distance to the nearest neighbour of uniform points on a torus of side 1."""
    import torch
    from scipy.spatial import cKDTree

    from regimes._random import generator

    found = np.empty((len(params.dimensions), len(point.seed), len(params.points)))
    for i, d in enumerate(params.dimensions):
        for j, seed in enumerate(point.seed):
            for k, n in enumerate(params.points):
                source = generator(seed, f"torus/{d}/{n}")
                x = torch.rand(n, d, generator=source, dtype=torch.float64).numpy()
                found[i, j, k] = cKDTree(x, boxsize=1.0).query(x, k=2)[0][:, 1].mean()
    return TrialResult(
        arrays={
            "torus_d": Array("torus", params.dimensions),
            "torus_p": Array("torus_points", params.points),
            "neighbour": Array(("torus", "torus_draw", "torus_points"), found),
        }
    )
