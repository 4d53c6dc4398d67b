"""Kernels of fully connected networks of infinite width."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from regimes._check import choose, positive_int, real
from regimes.theory._dual import make_dual
from regimes.theory._hermite import Function

_PARAMETRIZATIONS = {"ntk": False, "mean_field": True}

# Correlations this close to +-1 are those of parallel inputs, told apart by rounding only.
_PARALLEL = 1e-14


@dataclass(frozen=True)
class InfiniteWidthKernels:
    """Limits of a fully connected network with one output as its width grows."""

    nngp: Tensor  # (n, m), covariance of the outputs at initialisation
    ntk: Tensor  # (n, m), tangent kernel
    error: float  # estimated relative error of the activation's moments; 0 for closed forms


def infinite_width(
    x1: Tensor,
    x2: Tensor | None = None,
    *,
    depth: int,
    activation: str | Function = "relu",
    bias: bool = False,
    bias_std: float = 0.0,
    bias_multiplier: float = 1.0,
    output_bias: bool = False,
    parametrization: str = "ntk",
) -> InfiniteWidthKernels:
    """NNGP and tangent kernel of the fully connected network of [Jacot 2018] at h = infinity.

    `zt_1 = W x/sqrt(d) + m B`, `zt_{l+1} = W s(zt_l)/sqrt(h) + m B`, `f = W s(zt_L)/sqrt(h)`, all W
    standard normal, B of standard deviation `bias_std`, everything trained. With S and T the
    covariance and the tangent kernel of the pre-activations, `S = x.x'/d + m^2 std^2` and
    `T = x.x'/d + m^2` at first; then L times (docs/themes/regimes.md, "Tangent kernel")

        `T <- E[s s] + T E[s' s'] (+ m^2)`,   `S <- E[s s] (+ m^2 std^2)`

    over Gaussians of covariance S, the terms in brackets where the next layer has biases. Several
    outputs are independent, each with this kernel.

    In the mean-field parametrisation the readout is 1/h instead of 1/sqrt(h): outputs shrink as
    `1/sqrt(h)` and what converges is h times either kernel. That limit is returned; it equals the
    "ntk" one.

    The computation runs in float64. Closed forms (relu, erf, linear) are exact to 1e-13, except
    that for relu nearly parallel inputs, of correlation `1 - e`, see rounding as `1e-16/sqrt(e)`.
    Other activations go through a Hermite series whose estimated relative error is returned. At
    variances of order 1 it is below 1e-12 for tanh, gelu, softplus_5 and functions whose only kink
    is a jump of slope at 0 (leaky relu, abs), 5e-6 for swish_10 and elu and 1e-2 for kinks
    elsewhere (hardtanh); these errors sit at correlations near 1 and are far smaller off them.

    Args:
        x1: inputs (n, d).
        x2: inputs (m, d); None for x1.
        depth: number L of hidden layers; 0 is a linear model.
        activation: relu, erf, linear, tanh, gelu, softplus_b or swish_b with a sharpness b, or any
            elementwise torch function with a derivative; always scaled so that `E s(g)^2 = 1`.
        bias: the hidden layers have trained biases.
        bias_std: standard deviation of B at initialisation.
        bias_multiplier: m above.
        output_bias: the readout has a trained bias too; only in the "ntk" parametrisation, since
            h times its part of the kernel diverges in the other.
        parametrization: "ntk" or "mean_field".

    >>> x = torch.tensor([[1.0, 1.0], [1.0, -1.0]])              # |x|^2 = d
    >>> kernels = infinite_width(x, depth=2)
    >>> kernels.ntk
    tensor([[3.0000, 0.6857],
            [0.6857, 3.0000]])
    """
    x1 = _check_inputs("x1", x1)
    same = x2 is None
    x2 = x1 if x2 is None else _check_inputs("x2", x2)
    if x1.shape[1] != x2.shape[1] or x1.device != x2.device:
        raise ValueError(
            f"x1 and x2 must share their dimension and device, got {tuple(x1.shape)} on "
            f"{x1.device} and {tuple(x2.shape)} on {x2.device}"
        )
    depth = positive_int("depth", depth, least=0)
    std, multiplier = real("bias_std", bias_std), real("bias_multiplier", bias_multiplier)
    if not (bias or output_bias) and std != 0:
        raise ValueError(f"bias_std={bias_std} means nothing without biases: set bias=True")
    mean_field = choose(parametrization, _PARAMETRIZATIONS, "parametrization")
    if mean_field and depth == 0:
        raise ValueError("a mean-field network has at least one hidden layer, got depth=0")
    if mean_field and output_bias:
        raise ValueError(
            "with an output bias h times the mean-field kernel diverges; use output_bias=False"
        )
    dual = make_dual(activation, x1.device)
    a, b = x1.double(), x2.double()
    trained, drawn = multiplier**2, (multiplier * std) ** 2

    biased = bias if depth else output_bias
    product = a @ b.T / a.shape[1]
    if same:
        product = (product + product.T) / 2  # matrix products need not round symmetrically
    tangent = product + trained * biased
    covariance = product + drawn * biased
    variance1 = (a**2).sum(1) / a.shape[1] + drawn * biased
    variance2 = variance1 if same else (b**2).sum(1) / a.shape[1] + drawn * biased
    for layer in range(1, depth + 1):
        biased = output_bias if layer == depth else bias
        rho = _correlation(covariance, variance1, variance2, same)
        value, slope = dual.pair(variance1, variance2, rho)
        tangent = value + tangent * slope + trained * biased
        covariance = value + drawn * biased
        variance1 = dual.second_moment(variance1) + drawn * biased
        variance2 = variance1 if same else dual.second_moment(variance2) + drawn * biased
    return InfiniteWidthKernels(covariance.to(x1.dtype), tangent.to(x1.dtype), dual.unresolved)


def _correlation(covariance: Tensor, variance1: Tensor, variance2: Tensor, same: bool) -> Tensor:
    scale = torch.outer(variance1.sqrt(), variance2.sqrt())
    # An input of zero variance is constant: uncorrelated with everything.
    rho = torch.where(scale > 0, covariance / torch.where(scale > 0, scale, 1.0), 0.0)
    rho = torch.where(rho > 1 - _PARALLEL, 1.0, rho)
    rho = torch.where(rho < -1 + _PARALLEL, -1.0, rho)
    if same:
        rho.fill_diagonal_(1.0)
    return rho


def _check_inputs(name: str, x: object) -> Tensor:
    if not isinstance(x, Tensor) or not x.is_floating_point() or x.ndim != 2 or x.numel() == 0:
        given = f"{tuple(x.shape)} of {x.dtype}" if isinstance(x, Tensor) else type(x).__name__
        raise ValueError(f"{name} must be a floating-point tensor of shape (n, d), got {given}")
    if not bool(torch.isfinite(x).all()):
        raise ValueError(f"{name} holds NaN or infinite entries")
    return x
