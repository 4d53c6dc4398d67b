"""What initialisation leaves random: outputs and kernels around their means."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from regimes.measure._kernel import check_tensor


@dataclass(frozen=True, eq=False)
class OutputFluctuation:
    """`|f - f_bar|` of an ensemble, norms over points."""

    rms: Tensor  # (), unbiased root mean square over replicas
    each: Tensor  # (R,), |f_i - f_bar| sqrt(R/(R-1))


@dataclass(frozen=True)
class EnsembleExcess:
    """Square errors of networks, of their mean, and the variance between; a - b = c exactly."""

    alone: float  # mean over networks of |f_i - y|^2
    together: float  # |f_bar - y|^2
    variance: float  # mean over networks of |f_i - f_bar|^2


@dataclass(frozen=True, eq=False)
class KernelFluctuation:
    """Kernels of R networks around their mean, Frobenius norms."""

    rms: Tensor  # (), root mean square over replicas of |K - mean| / |mean|, unbiased
    each: Tensor  # (R,), |K_i - mean| / |mean|


@dataclass(frozen=True)
class PartCovariance:
    """Over replicas, of parts of a kernel taken as vectors of n n2 entries."""

    variance: float  # mean over parts of E|K_a - mean|^2
    covariance: float  # mean over pairs of E (K_a - mean).(K_b - mean)


def output_fluctuation(F: Tensor) -> OutputFluctuation:
    """`sqrt(R/(R-1) mean_i |f_i - f_bar|^2)`, |.| over points [Geiger 2020b, sec. 5].

    Args:
        F: outputs (R, n) of R >= 2 networks on the points of the measure: train, test or both.

    >>> round(float(output_fluctuation(torch.tensor([[0.0, 1.0], [4.0, 1.0]])).rms), 4)
    2.0
    """
    apart = _around_mean("F", F, ndim=2)
    unbiased = (len(F) / (len(F) - 1)) ** 0.5
    each = apart.square().mean(1).sqrt() * unbiased
    return OutputFluctuation(each.square().mean().sqrt(), each)


def ensemble_excess(F: Tensor, y: Tensor) -> EnsembleExcess:
    """Square errors alone and together, whose difference is the variance [Geiger 2020b, eq. 2].

    The identity holds for every finite ensemble, without correction for its size.

    Args:
        F: outputs (R, n).
        y: targets (n,).

    >>> ensemble_excess(torch.tensor([[0.0], [2.0]]), torch.tensor([0.0]))
    EnsembleExcess(alone=2.0, together=1.0, variance=1.0)
    """
    apart = _around_mean("F", F, ndim=2).double()
    if check_tensor("y", y).shape != F.shape[1:]:
        raise ValueError(f"y must have shape ({F.shape[1]},), got {tuple(y.shape)}")
    outputs, target = F.double(), y.double()
    return EnsembleExcess(
        float((outputs - target).square().mean()),
        float((outputs.mean(0) - target).square().mean()),
        float(apart.square().mean()),
    )


def kernel_fluctuation(K: Tensor) -> KernelFluctuation:
    """`|K - mean|/|mean|` over replicas, to compare with `kernel_change` [Geiger 2020b, eq. 8].

    Norms are Frobenius norms, with the root: printed without it, the law would not be h^(-1/2).

    Args:
        K: kernels (R, n, n2) of R >= 2 networks, as `tangent.stacked_gram` makes.

    >>> kernel_fluctuation(torch.stack([torch.eye(2), 3 * torch.eye(2)])).each
    tensor([0.5000, 0.5000])
    """
    apart = _around_mean("K", K, ndim=3)
    size = torch.linalg.vector_norm(K.mean(0))
    if float(size) == 0:
        raise ValueError("the mean kernel is zero, so no relative fluctuation is defined")
    each = apart.flatten(1).norm(dim=1) / size
    return KernelFluctuation((each.square().sum() / (len(K) - 1)).sqrt(), each)


def part_covariance(K: Tensor) -> PartCovariance:
    """How far the parts of a sum of kernels fluctuate together [Geiger 2020b, S.I. C].

    Of h parts alike the sum has the variance `h variance + h (h - 1) covariance`: with a covariance
    of order 1/h that of independent parts, whose kernel fluctuates as `h^(-1/2)`.

    Args:
        K: parts (R, h, n, n2) of R >= 2 networks, as `tangent.neuron_grams` makes, h >= 2.

    >>> part_covariance(torch.tensor([0.0, 1.0, 2.0, 1.0]).view(2, 2, 1, 1))
    PartCovariance(variance=1.0, covariance=0.0)
    """
    if check_tensor("K", K).ndim != 4 or len(K) < 2 or K.shape[1] < 2:
        raise ValueError(f"K must have shape (R, h, n, n2) with R, h >= 2, got {tuple(K.shape)}")
    count = K.shape[1]
    apart = (K - K.mean(0)).double()
    own = float(apart.square().sum((1, 2, 3)).sum()) / (len(K) - 1)
    whole = float(apart.sum(1).square().sum()) / (len(K) - 1)
    return PartCovariance(own / count, (whole - own) / (count * (count - 1)))


def _around_mean(name: str, values: Tensor, ndim: int) -> Tensor:
    axes = "(R, n)" if ndim == 2 else "(R, n, n2)"
    if check_tensor(name, values).ndim != ndim or len(values) < 2:
        raise ValueError(f"{name} must have shape {axes} with R >= 2, got {tuple(values.shape)}")
    return values - values.mean(0)
