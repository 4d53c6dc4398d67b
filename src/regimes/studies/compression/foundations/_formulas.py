"""Balanced labels, the split of the kernel, an estimator's faults, exponents: without training."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import regimes as rg
from regimes.lab import Array, Point, TrialResult
from regimes.studies._stripe import WEIGHT, network, neurons
from regimes.studies._types import Tensor
from regimes.studies.compression._attractors import EDGES


@dataclass(frozen=True)
class Nothing:
    """Formulas have nothing to choose."""


@dataclass(frozen=True)
class Drawn:
    """A seed is a network, and the points it is asked at."""

    seed: tuple[int, ...] = (0,)


@dataclass(frozen=True)
class Balance:
    """Points per seed and data set."""

    samples: int = 10_000
    seed: tuple[int, ...] = (0,)


def balance(params: Balance, point: Point) -> TrialResult:
    """COMP-01: mass of the stripe, median of the cylinder's radius, labels of real draws."""
    import torch
    from scipy.stats import chi, norm

    n, seeds = params.samples, point.seed
    draws = {
        "stripe": [rg.data.stripe(n, 0, d=2, seed=seed).y_train for seed in seeds],
        "cylinder": [rg.data.cylinder(n, 0, d=3, seed=seed).y_train for seed in seeds],
    }
    means = {name: float(torch.cat(y).double().mean()) for name, y in draws.items()}
    return TrialResult(
        {
            "x_max": EDGES[1],
            "stripe_mass": float(norm.cdf(1.18549) - norm.cdf(-0.3)),
            "radius": rg.data.balanced_radius(),
            "chi_median": float(chi(2).median()),
            **{f"{name}_label_mean": mean for name, mean in means.items()},
            "label_error": (n * len(seeds)) ** -0.5,
        }
    )


def kernel_split(params: Drawn, point: Point) -> TrialResult:
    """COMP-35: Theta_1 + Theta_2 x_perp.z_perp of networks without perpendicular weights."""
    found = [_split(seed) for seed in point.seed]
    names = ("split_error", "spectrum_error", "null_error")
    spectrum = found[0]["spectrum"]
    return TrialResult(
        {name: max(each[name] for each in found) for name in names},
        arrays={
            "spectrum_full": Array("rank", spectrum.full[:40]),
            "spectrum_predicted": Array("rank", spectrum.predicted[:40]),
        },
    )


def _split(seed: int) -> dict[str, Any]:
    """How far the kernel of one network is from its split, relative to its own size."""
    import torch

    from regimes._random import generator

    d, width = 4, 80
    net = network(d, width, seed, dtype="float64")
    with torch.no_grad():
        dict(net.named_parameters())[WEIGHT][:, 1:] = 0.0
    stacked = {name: value.detach()[None] for name, value in net.named_parameters()}
    w, b, beta = (each[0] for each in neurons(stacked))
    x = torch.randn(60, d, generator=generator(seed, "split"), dtype=torch.float64)
    whole = rg.tangent.TangentKernel(net)(x)
    first = rg.measure.theta1(beta, w[:, :1], b, x[:, :1], d=d)
    second = rg.measure.theta2(beta, w[:, :1], b, x[:, :1], d=d)
    split = first + second * (x[:, 1:] @ x[:, 1:].T)
    spectrum = rg.measure.split_spectrum(beta, w[:, :1], b, d=3)
    return {
        "split_error": float((whole - split).abs().max() / whole.abs().max()),
        "spectrum_error": spectrum.error,
        "null_error": _null_error(beta, w[:, :2], b),
        "spectrum": spectrum,
    }


def _null_error(beta: Tensor, w: Tensor, b: Tensor) -> float:
    """Norm of the kernel operator on (x_2^2 - 1) in d = 2, over its norm on the constant."""
    import torch
    from numpy.polynomial.hermite_e import hermegauss

    (nodes, mass), (across, share) = hermegauss(40), hermegauss(5)
    x = torch.cartesian_prod(torch.as_tensor(nodes), torch.as_tensor(across))
    weights = torch.as_tensor(np.outer(mass, share).ravel() / (mass.sum() * share.sum()))
    gram = rg.measure.shallow_kernel(beta, w, b, x)
    images = [gram @ (weights * f) for f in (x[:, 1] ** 2 - 1, torch.ones_like(weights))]
    norms = [float((weights * image**2).sum().sqrt()) for image in images]
    return norms[0] / norms[1]


@dataclass(frozen=True)
class Information:
    """Points per seed."""

    information_points: int = 600
    seed: tuple[int, ...] = (0, 1)


def information(params: Information, point: Point) -> TrialResult:
    """COMP-48: what the estimator of mutual information gives where it is known to fail."""
    import torch

    from regimes._random import generator

    n = params.information_points
    found = []
    for seed in point.seed:
        source = generator(seed, "information")
        y = torch.tensor([1.0, -1.0], dtype=torch.float64).repeat_interleave(n // 2)
        x = 1.2 * y + torch.randn(n, generator=source, dtype=torch.float64)
        noise = torch.randn(n, 30, generator=source, dtype=torch.float64)
        padding = torch.zeros(n, 4, dtype=torch.float64)
        cases = (x, torch.cat([x[:, None], noise], 1), torch.cat([x[:, None], padding], 1))
        found.append([rg.measure.mutual_information(case, y).value for case in cases])
    return TrialResult(arrays={"information": Array(("draw", "case"), found)})


def exponents(params: Nothing, point: Point) -> TrialResult:
    """COMP-49: relations among the exponents, and their values."""
    gaps = []
    for d in range(2, 51):
        gaps.append(rg.theory.beta_lazy(d) - d / (3 * d - 2))
        gaps.append(rg.theory.beta_lazy(d) + (d - 1) / (3 * d - 2) - (2 * d - 1) / (3 * d - 2))
        gaps.append(rg.theory.beta_feature(d, d - 1) - (2 * d - 1) / (3 * d - 2))
        for d_perp in range(d - 1):
            gaps.append(rg.theory.beta_feature(d, d_perp) - (d + d_perp / 2) / (3 * d - 2))
            gain = np.log(rg.theory.compression_gain(3.0, d, d_perp)) / np.log(3.0)
            gaps.append(gain + rg.theory.compression_exponent(d, d_perp))
    given = [
        rg.theory.beta_lazy(5),
        rg.theory.beta_feature(5, 4),
        rg.theory.beta_lazy(10),
        rg.theory.beta_feature(10, 9),
    ]
    given += [rg.theory.beta_lazy(3), rg.theory.beta_feature(3, 1)]
    stated = [0.3846, 0.6923, 0.3571, 0.6786, 3 / 7, 1 / 2]
    return TrialResult(
        {
            "identity_gap": float(np.abs(gaps).max()),
            "value_gap": float(np.abs(np.subtract(given, stated)).max()),
            "beta_feature_cylinder": rg.theory.beta_feature(3, 1),
        }
    )
