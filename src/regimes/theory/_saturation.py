"""How far a finite data set lets neurons compress the uninformative directions."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from regimes._check import positive_int, real
from regimes.theory._fixed_points import FixedPoint
from regimes.theory._sampling_noise import BoundaryNoise, boundary_noise, sample_drift

_SEARCH_STEPS = 1000  # of the search for a direction of rest


@dataclass(frozen=True)
class Saturation:
    """Predicted state of neurons at one fixed point of one data set, once noise rules w_perp."""

    ratios: Tensor  # (d-1,), w_i/w_1 for i > 1
    amplification: float  # Lambda* = sqrt(d-1)/|w_perp/w_1|
    noise: BoundaryNoise


def saturation(point: FixedPoint, x: Tensor, y: Tensor) -> Saturation:
    """Where the compression of a data set stops, from [Paccolat 2021, eq. 7].

    `w_i/w_1 = S_i/(C_1 - sign(w_1) y(z*) phi(z*))`, S the noise of the data set at the fixed point,
    and `Lambda* = sqrt(d-1)/|w_perp/w_1|` if all weight sits there: take the fastest attractor.

    Args:
        point: the fixed point, from `fixed_points` with the d of the data.
        x: training points (p, d), the informative coordinate first.
        y: labels +-1, (p,).

    >>> import torch
    >>> from regimes.theory import dominant, stripe_fixed_points
    >>> point = dominant(stripe_fixed_points(-0.3, 1.18549, d=3))
    >>> x = torch.randn(1000, 3, generator=torch.Generator().manual_seed(0))
    >>> y = torch.where((x[:, 0] > -0.3) & (x[:, 0] < 1.18549), -1.0, 1.0)
    >>> 10 < saturation(point, x, y).amplification < 300
    True
    """
    if x.ndim != 2 or x.shape[1] != point.d:
        raise ValueError(f"the fixed point is that of d={point.d}, x has shape {tuple(x.shape)}")
    noise = boundary_noise(x, y, point.z, point.sign_w)
    ratios = noise.drift / point.saturation
    if not bool(ratios.any()):
        raise ValueError(
            "the data set has no noise at the boundary, so nothing stops the compression: x and y "
            "must scatter on the side of the fixed point that its neurons see"
        )
    return Saturation(ratios, (point.d - 1) ** 0.5 / float(ratios.norm()), noise)


@dataclass(frozen=True)
class SampleAttractor:
    """Direction that the neurons of one attractor have once saturated, exactly."""

    ratios: Tensor  # (d-1,), w_i/w_1 for i > 1
    amplification: float  # sqrt(d-1)/|w_perp/w_1|
    z: float  # -sqrt(d) b/w_1, where the neuron's boundary cuts the informative axis
    residual: float  # |(w, b) - drift|, both of length 1; a data set has kinks, so not 0


def sample_attractor(point: FixedPoint, x: Tensor, y: Tensor) -> SampleAttractor:
    """The direction (w, b) that the drift of one data set leaves as it is, near a fixed point.

    While every sample is unfitted a neuron is driven by `sample_drift` [Paccolat 2021, eq. 4], and
    its direction comes to rest where (w, b) is parallel to it. `saturation` is the first order of
    this in `1/sqrt(p)`, with the drift taken at the population's z*; here nothing is expanded. The
    two differ by a share of `p^(-1/4)`: z* moves by `1/sqrt(p)`, the noise walks as its root.

    Args:
        point: the fixed point of the population, where the search begins.
        x: training points (p, d), the informative coordinate first.
        y: labels +-1, (p,).

    Raises:
        ValueError: x of another dimension; a data set that leaves no attractor there.

    >>> import torch
    >>> from regimes.theory import dominant, stripe_fixed_points
    >>> point = dominant(stripe_fixed_points(-0.3, 1.18549, d=3))
    >>> x = torch.randn(1000, 3, generator=torch.Generator().manual_seed(0))
    >>> y = torch.where((x[:, 0] > -0.3) & (x[:, 0] < 1.18549), -1.0, 1.0)
    >>> 0.8 < sample_attractor(point, x, y).amplification / saturation(point, x, y).amplification
    True
    """
    if x.ndim != 2 or x.shape[1] != point.d:
        raise ValueError(f"the fixed point is that of d={point.d}, x has shape {tuple(x.shape)}")
    direction = torch.zeros(1, point.d + 1, dtype=torch.float64, device=x.device)
    direction[0, 0] = point.sign_w
    direction[0, -1] = -point.sign_w * point.z / point.d**0.5
    for step in range(_SEARCH_STEPS):
        direction = direction / direction.norm()
        drift = sample_drift(direction[:, :-1], direction[:, -1], x, y)
        pull = point.sign_beta * torch.cat([drift.w, drift.b[:, None]], dim=1)
        if not bool(pull.any()):
            raise ValueError("x and y do not drive the neurons of this fixed point anywhere")
        aim = pull / pull.norm()
        # ever smaller: the drift jumps where the boundary passes a sample, and rest is between
        direction = direction + (aim - direction) / (5 + step)
    w, b = direction[0, :-1], direction[0, -1]
    ratios = w[1:] / w[0]
    residual = float((aim - direction).norm())
    if not residual < 0.3:
        raise ValueError(
            f"the drift of this data set has no direction of rest near z = {point.z:.3g} "
            f"(misfit {residual:.2g}); it may be too small for this fixed point"
        )
    amplification = (point.d - 1) ** 0.5 / float(ratios.norm())
    return SampleAttractor(ratios, amplification, float(-(point.d**0.5) * b / w[0]), residual)


def amplification_prefactor(point: FixedPoint) -> float:
    """`|C_1 - sign(w_1) y phi(z*)|/sqrt(D_perp)`: Lambda* over `sqrt(p) sqrt(d-1)/|N|`.

    >>> from regimes.theory import dominant, stripe_fixed_points
    >>> dims = (2, 3, 5, 10)
    >>> points = [dominant(stripe_fixed_points(-0.3, 1.18549, d)) for d in dims]
    >>> [round(amplification_prefactor(point), 3) for point in points]
    [0.929, 0.915, 0.902, 0.889]
    """
    return abs(point.saturation) / point.d_perp**0.5


def median_amplification(point: FixedPoint, p: int) -> float:
    """Median over data sets of Lambda*, |N| following the chi distribution of d-1.

    >>> from regimes.theory import dominant, stripe_fixed_points
    >>> point = dominant(stripe_fixed_points(-0.3, 1.18549, 5))
    >>> round(median_amplification(point, 10_000) / 100, 2)
    0.98
    """
    from scipy.special import gammaincinv

    p = positive_int("p", p)
    freedom = point.d - 1
    median = (2 * float(gammaincinv(freedom / 2, 0.5))) ** 0.5
    return amplification_prefactor(point) * (p * freedom) ** 0.5 / median


def noise_time(point: FixedPoint, p: float) -> float:
    """tau_perp in units of tau: when sampling noise stops the growth of lambda.

    Before it, lambda grows at `tau/tau* - tau/tau_perp*`, and it stops at the order of sqrt(p)
    [Paccolat 2021, eq. 8]: `ln(sqrt p)/(tau/tau* - tau/tau_perp*)`, the `tau* log p` of the paper's
    footnote 3 with its constant. The plateau of Lambda shows only if this is shorter than t*.

    >>> from regimes.theory import dominant, stripe_fixed_points
    >>> round(noise_time(dominant(stripe_fixed_points(-0.3, 1.18549, 5)), 10_000), 2)
    5.85
    """
    if not point.attractor:
        raise ValueError(f"lambda does not grow at {point}; take an attractor")
    return math.log(real("p", p, above=1)) / 2 / (point.rate - point.perpendicular_rate)
