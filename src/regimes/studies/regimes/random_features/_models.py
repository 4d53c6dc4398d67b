"""Random features: least-norm fits, ensembles of them, their mean [Geiger 2021b, sec. 8.1]."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np

import regimes as rg
from regimes.studies._types import ErrorSources, Tensor

_ENTRIES = 2**23  # numbers in one block of features


@final
@dataclass(frozen=True, eq=False)
class Task:
    """Points on the sphere of radius sqrt d and a linear target of variance 1."""

    x: Tensor  # (P, d)
    clean: Tensor  # (P,), the target
    noise: Tensor  # (P,), what is added to it in training
    x_test: Tensor  # (n, d)
    y_test: Tensor  # (n,), the target


def make_task(d: int, points: int, n_test: int, noise: float, seed: int, device: str) -> Task:
    """A training set of this seed; target and test points are the same for every seed."""
    import torch

    from regimes._random import generator

    def normal(stream: str, number: int, *shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator(number, stream), dtype=torch.float64)

    def sphere(x: Tensor) -> Tensor:
        return x / x.norm(dim=1, keepdim=True) * d**0.5

    w = normal("random features/target", 0, d)
    w = w / w.norm()
    x = sphere(normal("random features/train", seed, points, d))
    x_test = sphere(normal("random features/test", 0, n_test, d))
    extra = noise * normal("random features/noise", seed, points)
    values = (x, x @ w, extra, x_test, x_test @ w)
    return Task(*(each.to(device) for each in values))


def features(x: Tensor, width: int, seed: int, count: int, stream: str) -> tuple[Tensor, ...]:
    """`count` draws of the weights F of `width` features, (count, h, d), normal."""
    import torch

    from regimes._random import generator

    source = generator(seed, f"random features/{stream}/{width}")
    drawn = torch.randn(count, width, x.shape[1], generator=source, dtype=torch.float64)
    return tuple(drawn.to(x.device))


def apply(weights: Tensor, x: Tensor) -> Tensor:
    """`sigma(F x/sqrt d)` with the relu of unit second moment, (..., n, h)."""
    return math.sqrt(2.0) * (x @ weights.mT / x.shape[-1] ** 0.5).relu()


@final
@dataclass(frozen=True, eq=False)
class Fits:
    """Minimum-norm fits of many training sets, several draws of the features for each."""

    error: np.ndarray  # (sets, members), mean square distance from the target on test points
    ensemble: np.ndarray  # (sets,), that of the mean prediction
    sources: ErrorSources  # without noise: members are draws of the features
    noise: float  # variance over the labels' noise


def minimum_norm(
    tasks: list[Task], seeds: list[int], width: int, members: int, noise: float
) -> Fits:
    """Fit `members` draws of `width` features to every training set, without ridge.

    A fit is linear in the labels, so that the variance over their noise needs no draws.
    """
    import torch

    single, together, without, noisy = [], [], [], []
    for task, seed in zip(tasks, seeds, strict=True):
        clean, noised, push = [], [], 0.0
        for weights in features(task.x, width, seed, members, "features"):
            operator = apply(weights, task.x_test) @ torch.linalg.pinv(apply(weights, task.x))
            clean.append(operator @ task.clean)
            noised.append(clean[-1] + operator @ task.noise)
            push += float(operator.square().sum(1).mean()) / members
        found = torch.stack(noised)
        single.append((found - task.y_test).square().mean(1).cpu().numpy())
        together.append(float((found.mean(0) - task.y_test).square().mean()))
        without.append(torch.stack(clean))
        noisy.append(noise**2 * push)
    sources = rg.measure.error_sources(torch.stack(without), tasks[0].y_test)
    return Fits(np.array(single), np.array(together), sources, float(np.mean(noisy)))


@final
@dataclass(frozen=True)
class EffectiveRidge:
    """The mean of many ridge fits and the kernel ridge regression nearest to it."""

    fitted: float  # ridge of the nearest
    residual: float  # its relative distance
    same: float  # relative distance with the ridge that was used
    doubt: float  # relative standard error of the mean of the draws
    root: float  # r = lambda + (r/h) tr K (K + r)^-1


def effective_ridge(task: Task, seed: int, width: int, draws: int, ridge: float) -> EffectiveRidge:
    """Ridge regression on `width` features over sqrt h, averaged, against the limiting kernel."""
    import torch

    y, n, n_test = task.clean + task.noise, len(task.x), len(task.x_test)
    eye = torch.eye(n, dtype=y.dtype, device=y.device)
    total, squares = torch.zeros_like(task.y_test), torch.zeros_like(task.y_test)
    chunk = max(1, _ENTRIES // (n_test * width))
    drawn = features(task.x, width, seed, draws, "ridge")
    for first in range(0, draws, chunk):
        weights = torch.stack(drawn[first : first + chunk])
        phi = apply(weights, task.x) / width**0.5
        dual = torch.linalg.solve(phi @ phi.mT + ridge * eye, y.expand(len(phi), n))
        readout = phi.mT @ dual.unsqueeze(-1)
        f = (apply(weights, task.x_test) / width**0.5 @ readout)[..., 0]
        total += f.sum(0)
        squares += f.square().sum(0)
    mean = total / draws
    variance = (squares / draws - mean.square()).mean() / max(1, draws - 1)
    kernel = rg.theory.infinite_width(torch.cat([task.x, task.x_test]), depth=1).nngp
    found = rg.measure.nearest_ridge(kernel[:n, :n], kernel[n:, :n], y, mean, ridge)
    return EffectiveRidge(
        found.ridge,
        found.distance,
        found.distance_before,
        float((variance / mean.square().mean()).sqrt()),
        rg.theory.implicit_ridge(found.eigenvalues.cpu().numpy(), ridge, width),
    )
