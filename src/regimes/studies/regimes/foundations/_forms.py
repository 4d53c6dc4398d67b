"""Formulas of spec `regimes` S1-S5 and data of S13 that need no training, each measured."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from regimes.lab import Array, TrialResult
from regimes.studies.regimes._setting import grid, members, task, train

FACTORS = {"relu": 2**0.5, "softplus_5": 1.40438, "tanh": 1.59254, "swish_10": 1.41595}  # S2
SHARPNESS = (1.0, 5.0, 20.0)
SIZES = ((7, 9, 3, 2), (10, 60, 2, 1), (784, 100, 5, 10), (3, 8, 1, 1))  # d, h, L, c of S1
ROWS = 60  # points of a stored curve


def forms(params: Any, point: Any) -> TrialResult:
    """REG-02, REG-03 and REG-05: factors, the soft hinge, the number of parameters."""
    import torch

    from regimes import flow, nets

    factors = [nets.activation(name).factor for name in FACTORS]
    margins = torch.linspace(-40.0, 40.0, 80_001, dtype=torch.float64)  # 1 is among them
    shown = torch.linspace(-0.7, 1.5, 221, dtype=torch.float64)
    one = torch.ones(1, 1, dtype=torch.float64)

    def curve(loss: flow.MarginLoss, at: torch.Tensor) -> torch.Tensor:
        return loss.value(at[None, :, None], one.expand(1, len(at)))[0]

    soft = [flow.soft_hinge(b) for b in SHARPNESS]
    gaps = torch.stack([curve(loss, margins) - curve(flow.hinge(), margins) for loss in soft])
    counts = [
        nets.FullyConnected(d, h, depth=depth, out_dim=c).n_params for d, h, depth, c in SIZES
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
                torch.stack([curve(loss, shown) for loss in (*soft, flow.hinge())]),
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


def parametrisation(params: Any, point: Any) -> TrialResult:
    """REG-01: the flow in the NTK and in the mean-field form, from the same weights."""
    data = task(params.images, params.same_points, 20, device=point.device)
    d, width, seeds, at = data.x_train.shape[1], params.same_width, range(params.seeds), (0.05, 3.0)
    ntk, alpha = members(d, width, 2, at, list(seeds), device=point.device)
    mean_field, _ = members(
        d, width, 2, at, list(seeds), device=point.device, parametrization="mean_field"
    )
    scale = np.repeat(at, len(seeds))
    common = {"eps": params.eps, "max_steps": params.max_steps}
    one = train(ntk, data, alpha, **common)
    # S4: prefactor 1/alpha_code with alpha_code = at; then t = (at/h) t_code
    other = train(mean_field, data, scale.tolist(), divide_by="alpha", **common)
    convert = scale[:, None] / width
    gap = max(
        float((one.parameters[name] - value).abs().max() / value.abs().max())
        for name, value in other.parameters.items()
    )
    times = one.times.numpy(), other.times.numpy() * convert
    losses = one.losses.numpy(), other.losses.numpy()
    rows = [np.linspace(0, each.shape[1] - 1, ROWS).astype(int) for each in times]
    first = np.arange(len(at)) * len(seeds)  # the first seed of every at
    shape = ("form", "same_at", "same_row")
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
            "same_ats": Array("same_at", at),
            "same_times": Array(
                shape, [each[first][:, row] for each, row in zip(times, rows, strict=True)]
            ),
            "same_losses": Array(
                shape, [each[first][:, row] for each, row in zip(losses, rows, strict=True)]
            ),
        },
    )


def early_speed(params: Any, point: Any) -> TrialResult:
    """REG-04: the gradient at the start against the tangent kernel, for seven alphas."""
    import torch

    from regimes import flow
    from regimes.tangent import stacked_gram

    data = task(params.images, params.speed_points, 20, device=point.device)
    d, n = data.x_train.shape[1], len(data.x_train)
    alphas, seeds, width = (
        np.logspace(-3, 3, 7).tolist(),
        list(range(params.seeds)),
        params.speed_width,
    )
    scales = [each * width**0.5 for each in alphas]
    start, alpha = members(d, width, 2, scales, seeds, device=point.device)
    run = flow.gradient_flow(start, data, loss="softhinge_20", alpha=alpha, max_steps=1)
    slope = run.history["gradient"][:, 0].numpy()
    y = data.y_train
    pull = torch.einsum("i,rij,j->r", y, stacked_gram(start, data.x_train), y).cpu().numpy()
    push = 1 / (1 + math.exp(-20.0))  # minus the derivative of the loss at F = 0
    return TrialResult(
        arrays={
            "speed_alpha": Array("speed_scale", alphas),
            "speed": Array(
                ("speed_scale", "speed_seed"),
                grid(np.square(np.array(alpha) * slope), alphas, seeds),
            ),
            "speed_predicted": Array(
                ("speed_scale", "speed_seed"), grid(push**2 * pull / n**2, alphas, seeds)
            ),
        }
    )


def neighbours(params: Any, point: Any) -> TrialResult:
    """REG-66: mean distance to the nearest neighbour of uniform points on a torus of side 1."""
    import torch
    from scipy.spatial import cKDTree

    from regimes._random import generator

    found = np.empty((len(params.torus), params.draws, len(params.torus_points)))
    for i, d in enumerate(params.torus):
        for draw in range(params.draws):
            for k, n in enumerate(params.torus_points):
                source = generator(draw, f"torus/{d}/{n}")
                x = torch.rand(n, d, generator=source, dtype=torch.float64).numpy()
                found[i, draw, k] = cKDTree(x, boxsize=1.0).query(x, k=2)[0][:, 1].mean()
    return TrialResult(
        arrays={
            "torus_d": Array("torus", params.torus),
            "torus_p": Array("torus_points", params.torus_points),
            "neighbour": Array(("torus", "torus_draw", "torus_points"), found),
        }
    )
