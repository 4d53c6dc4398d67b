"""Energies without spheres: from counts of atoms, and from Coulomb matrices."""

from __future__ import annotations

import math
from typing import Any

from regimes.lab import Point
from regimes.studies._types import Tensor

Part = tuple[Any, ...]  # charges, positions, energies
RIDGES = (1e-9, 1e-7, 1e-5, 1e-3)
WIDTHS = (2.0, 4.0, 8.0, 16.0, 32.0, 64.0)  # of Gaussians, times the root of the dimension


def counts(Z: Any) -> Any:
    """How many atoms of each kind a molecule has, (n, 5), float64."""
    import torch

    from regimes import data

    return torch.stack([(z == Z).sum(1) for z in data.ELEMENTS], 1).double()


def rmse(found: Tensor, energies: Tensor) -> float:
    """Root mean square error, in kcal/mol."""
    return float((found - energies).square().mean().sqrt())


def errors(params: Any, point: Point, train: Part, test: Part) -> dict[str, float]:
    """Of one model on one split."""
    name = point.model
    if name == "linear":
        predict = linear(train)
        return {"rmse": rmse(predict(test[0]), test[2])}
    if name == "mlp":
        predict = composition(train, params.mlp_steps, point.seed)
        return {"rmse": rmse(predict(test[0]), test[2])}
    if name in ("rbf", "laplace", "rbf_random"):
        return _ridge(name, train, test, point.seed)
    raise ValueError(f"unknown model {name!r}; use linear, mlp, rbf, rbf_random or laplace")


def linear(train: Part) -> Any:
    """Least squares on the counts."""
    import torch

    Z, _, E = train
    weight = torch.linalg.lstsq(_with_one(counts(Z)), E[:, None], driver="gelsd").solution
    return lambda Z: (_with_one(counts(Z)) @ weight)[:, 0]


def composition(train: Part, steps: int, seed: int) -> Any:
    """A perceptron 5 -> 50 -> 20 -> 1 with ReLU on the counts, Adam on all of them at once."""
    import torch
    from torch import nn

    from regimes._random import generator

    Z, _, E = train
    x, mean, scale = counts(Z), E.mean(), E.std()
    shift, width = x.mean(0), x.std(0).clamp_min(1e-6)
    net = nn.Sequential(
        nn.Linear(5, 50, device="meta"),
        nn.ReLU(),
        nn.Linear(50, 20, device="meta"),
        nn.ReLU(),
        nn.Linear(20, 1, device="meta"),
    ).double()
    net.to_empty(device="cpu")
    draws = generator(seed, "composition")
    with torch.no_grad():
        for parameter in net.parameters():
            fan = parameter.shape[-1] if parameter.ndim > 1 else 50
            drawn = torch.rand(parameter.shape, generator=draws, dtype=torch.float64)
            parameter.copy_((2 * drawn - 1) / math.sqrt(fan))
    optimiser = torch.optim.Adam(net.parameters(), lr=3e-3)
    rate = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)
    inputs, targets = (x - shift) / width, (E - mean) / scale
    for _ in range(steps):
        optimiser.zero_grad()
        (net(inputs)[:, 0] - targets).square().mean().backward()
        optimiser.step()
        rate.step()

    @torch.no_grad()
    def predict(Z: Tensor) -> Any:
        return net((counts(Z) - shift) / width)[:, 0] * scale + mean

    return predict


def _ridge(name: str, train: Part, test: Part, seed: int) -> dict[str, float]:
    """Kernel ridge regression on Coulomb matrices; width and ridge chosen on held-out molecules."""
    import torch

    from regimes import data

    kind = "random" if name.endswith("random") else "sorted"
    x, y = (data.coulomb_matrix(Z, R, kind, seed=seed).flatten(1) for Z, R, _ in (train, test))
    fit = max(1, min(len(x) * 4 // 5, 1500))  # enough to choose by

    def distance(a: Tensor, b: Tensor) -> Any:
        return torch.cdist(a, b, p=1) if name == "laplace" else torch.cdist(a, b).square()

    def kernel(squares: Any, width: float) -> Any:
        scale = width * x.shape[1] ** 0.5
        return torch.exp(-squares / scale if name == "laplace" else -squares / (2 * scale**2))

    E, mean = train[2], train[2].mean()
    inside, held = distance(x[:fit], x[:fit]), distance(x[-fit // 4 :], x[:fit])
    best = (math.inf, 0.0, 0.0)
    for width in WIDTHS:
        K, k = kernel(inside, width), kernel(held, width)
        values, vectors = torch.linalg.eigh(K)
        turned = vectors.mT @ (E[:fit] - mean)
        for ridge in RIDGES:
            alpha = vectors @ (turned / (values.clamp_min(0) + ridge))
            best = min(best, (rmse(k @ alpha + mean, E[-fit // 4 :]), width, ridge))
    _, width, ridge = best
    K = kernel(distance(x, x), width)
    K.diagonal().add_(ridge)
    alpha = torch.cholesky_solve((E - mean)[:, None], torch.linalg.cholesky(K))[:, 0]
    found = kernel(distance(y, x), width) @ alpha + mean
    return {"rmse": rmse(found, test[2]), "width": width, "ridge": ridge}


def _with_one(x: Any) -> Any:
    import torch

    return torch.cat([x, torch.ones_like(x[:, :1])], 1)
