"""Random features: minimum-norm fits, ensembles of them, and their mean (spec `regimes` S16)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

if TYPE_CHECKING:
    from torch import Tensor


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
    bias: float  # square distance of the mean over everything from the target
    initialisation: float  # variance over features
    sampling: float  # variance over training points
    noise: float  # variance over the labels' noise


def minimum_norm(
    tasks: list[Task], seeds: list[int], width: int, members: int, noise: float
) -> Fits:
    """Fit `members` draws of `width` features to every training set, without ridge.

    A fit is linear in the labels, so that the variance over their noise needs no draws. The other
    variances are unbiased estimates, which may come out negative where they are small.
    """
    import torch

    single, together, middle, spread, noisy = [], [], [], [], []
    for task, seed in zip(tasks, seeds, strict=True):
        clean, noised, push = [], [], 0.0
        for weights in features(task.x, width, seed, members, "features"):
            operator = apply(weights, task.x_test) @ torch.linalg.pinv(apply(weights, task.x))
            clean.append(operator @ task.clean)
            noised.append(clean[-1] + operator @ task.noise)
            push += float(operator.square().sum(1).mean()) / members
        found, ideal = torch.stack(noised), torch.stack(clean)
        single.append((found - task.y_test).square().mean(1).cpu().numpy())
        together.append(float((found.mean(0) - task.y_test).square().mean()))
        middle.append(ideal.mean(0))
        spread.append(float(ideal.var(0).mean()))
        noisy.append(noise**2 * push)
    means = torch.stack(middle)
    start = float(np.mean(spread))
    sampling = float(means.var(0).mean()) - start / members
    bias = float((means.mean(0) - tasks[0].y_test).square().mean())
    bias -= (sampling + start / members) / len(tasks)
    return Fits(np.array(single), np.array(together), bias, start, sampling, float(np.mean(noisy)))


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
    from scipy.optimize import minimize_scalar

    from regimes.theory import infinite_width

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
    size = mean.square().mean()
    kernel = infinite_width(torch.cat([task.x, task.x_test]), depth=1).nngp
    values, vectors = torch.linalg.eigh(kernel[:n, :n])
    cross, turned = kernel[n:, :n] @ vectors, vectors.T @ y

    def distance(r: float) -> float:
        f = cross @ (turned / (values + r))
        return float((f - mean).square().mean().div(size).sqrt())

    best = minimize_scalar(
        lambda u: distance(math.exp(u)),
        bounds=(math.log(ridge) - 5, math.log(ridge) + 12),
        method="bounded",
        options={"xatol": 1e-6},
    )
    return EffectiveRidge(
        math.exp(best.x),
        distance(math.exp(best.x)),
        distance(ridge),
        float((variance / size).sqrt()),
        ridge_root(values.cpu().numpy(), ridge, width),
    )


def ridge_root(eigenvalues: np.ndarray, ridge: float, width: int) -> float:
    """The positive root of `r = lambda + (r/h) tr K (K + r)^-1` (spec `regimes` REG-69).

    >>> round(ridge_root(np.ones(40), 1e-2, 10**9), 6)  # infinitely many features add nothing
    0.01
    """
    from scipy.optimize import brentq

    spectrum = np.clip(eigenvalues, 0.0, None)

    def excess(r: float) -> float:
        return float(r - ridge - r / width * (spectrum / (spectrum + r)).sum())

    top = ridge + spectrum.sum() / width  # the trace term is at most tr K/h
    return float(brentq(excess, ridge, top * (1 + 1e-9), xtol=1e-15))
