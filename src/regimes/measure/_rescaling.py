"""The least-norm interpolator, and the norm that measures its capacity best."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from regimes._check import real
from regimes.measure._kernel import check_tensor


@dataclass(frozen=True)
class MinNormInterpolator:
    """Least-norm weights that fit the targets."""

    weights: Tensor  # (..., P)
    rank: Tensor  # (...), singular values above the cut-off
    residual: Tensor  # (...), |Phi w - y|, zero up to rounding when nothing was cut


@dataclass(frozen=True)
class OptimalRescaling:
    """Rescaling of the singular values that minimises the Rademacher bound of one solution."""

    nu: Tensor  # (r,), optimal up to a common factor; geometric mean 1
    directions: Tensor  # (r, P), right singular vectors the factors act on
    bound: float  # bound with the optimal A
    identity_bound: float  # bound with A = Id, (|w| / n) sqrt(Tr K)


def min_norm_interpolator(
    features: Tensor, y: Tensor, *, cutoff: float = 1e-10
) -> MinNormInterpolator:
    """`w* = Phi^T K^{-1} y = sum_j (u_j.y / sqrt(lam_j)) v_j` [Baratin 2021, eq. 81].

    Args:
        features: (..., n, P); leading axes are independent problems.
        y: targets (..., n).
        cutoff: singular values below this share of the largest are left out.

    >>> min_norm_interpolator(torch.tensor([[1.0, 1.0]]), torch.tensor([2.0])).weights
    tensor([1., 1.])
    """
    features, y = _check_problem(features, y)
    left, s, right = torch.linalg.svd(features.double(), full_matrices=False)
    kept = s > real("cutoff", cutoff) * s[..., :1]
    coefficients = (left.mT @ y.double()[..., None])[..., 0]
    inverse = torch.where(kept, 1 / torch.where(kept, s, 1.0), 0.0)
    weights = (right.mT @ (inverse * coefficients)[..., None])[..., 0]
    fit = (features.double() @ weights[..., None])[..., 0]
    residual = torch.linalg.vector_norm(fit - y.double(), dim=-1)
    return MinNormInterpolator(
        weights.to(features.dtype), kept.sum(-1), residual.to(features.dtype)
    )


def solution_covariance(features: Tensor, sigma2: float, *, cutoff: float = 1e-10) -> Tensor:
    """Covariance `sum_j (sigma^2/lam_j) v_j v_j^T` of the interpolator under label noise, (P, P).

    [Baratin 2021, app. B.5].

    >>> solution_covariance(torch.diag(torch.tensor([1.0, 2.0])), 1.0)
    tensor([[1.0000, 0.0000],
            [0.0000, 0.2500]])
    """
    features = check_tensor("features", features)
    _, s, right = torch.linalg.svd(features.double(), full_matrices=False)
    scaled = (right / s[:, None])[s > real("cutoff", cutoff) * s[0]]
    return (real("sigma2", sigma2, above=0) * scaled.T @ scaled).to(features.dtype)


def optimal_rescaling(
    features: Tensor, w_star: Tensor, *, cutoff: float = 1e-10
) -> OptimalRescaling:
    """Minimise `(|w*|_A / n) sqrt(Tr K_A)` over `A_nu = sum_j sqrt(nu_j) v_j v_j^T + Id_perp`.

    [Baratin 2021, prop. 14, eq. 82]: `nu_j ~ sqrt(lam_j)/|v_j.w*|`, with the value
    `(1/n) sum_j sqrt(lam_j) |v_j.w*|`, which for the least-norm interpolator of y is
    `|U^T y|_1 / n`, hence at most 1 for labels +-1. A direction with
    `v_j.w* = 0` gets an infinite factor.

    Args:
        features: (n, P).
        w_star: weights (P,) in the span of the features, as every least-norm solution is.
        cutoff: singular values below this share of the largest are left out.

    >>> phi, y = torch.diag(torch.tensor([1.0, 10.0])), torch.tensor([1.0, 1.0])
    >>> best = optimal_rescaling(phi, min_norm_interpolator(phi, y).weights)
    >>> best.nu, round(best.bound, 6), round(best.identity_bound, 3)
    (tensor([10.0000,  0.1000]), 1.0, 5.05)
    """
    features, w_star = check_tensor("features", features), check_tensor("w_star", w_star)
    if features.ndim != 2 or w_star.shape != features.shape[1:]:
        raise ValueError(
            "features must have shape (n, P) and w_star (P,), got "
            f"{tuple(features.shape)} and {tuple(w_star.shape)}"
        )
    n, w = len(features), w_star.double()
    _, s, right = torch.linalg.svd(features.double(), full_matrices=False)
    kept = s > real("cutoff", cutoff) * s[0]
    s, right = s[kept], right[kept]
    overlap = (right @ w).abs()
    outside = torch.linalg.vector_norm(w - right.T @ (right @ w))
    if outside > 1e3 * torch.finfo(w_star.dtype).eps * torch.linalg.vector_norm(w):
        raise ValueError(
            f"w_star has a part of norm {float(outside):.3g} outside the span of the features; "
            "project it there first, only that part changes the outputs"
        )
    log_nu = s.log() - overlap.log()
    log_nu = log_nu - log_nu[log_nu.isfinite()].mean()
    identity = float(torch.linalg.vector_norm(w) * torch.linalg.vector_norm(s)) / n
    return OptimalRescaling(
        log_nu.exp().to(features.dtype),
        right.to(features.dtype),
        float(s @ overlap) / n,
        identity,
    )


def minimise_product(a: Tensor, b: Tensor) -> tuple[Tensor, float]:
    """Minimise `sqrt(sum_j nu_j a_j) sqrt(sum_j b_j/nu_j)` over nu > 0 numerically.

    This is the problem behind proposition 14 and step 2 of SuperNat in [Baratin 2021]. Its
    solution is `nu_j ~ sqrt(b_j/a_j)` with value `sum_j sqrt(a_j b_j)`; nothing of that is used
    here: a Newton method on `log nu`, in which the logarithm of the product is convex.

    Args:
        a: positive (r,).
        b: positive (r,).

    Returns:
        The minimiser, with geometric mean 1, and the least value.

    >>> nu, value = minimise_product(torch.tensor([1.0, 4.0]), torch.tensor([4.0, 1.0]))
    >>> [round(x, 4) for x in nu.tolist()], round(value, 6)
    ([2.0, 0.5], 4.0)
    """
    from scipy.optimize import minimize

    a, b = check_tensor("a", a), check_tensor("b", b)
    if a.shape != b.shape or a.ndim != 1 or bool((a <= 0).any()) or bool((b <= 0).any()):
        raise ValueError(
            f"a and b must be positive and share one shape (r,), got {tuple(a.shape)} and "
            f"{tuple(b.shape)}, least entries {float(a.min()):.3g} and {float(b.min()):.3g}"
        )
    log_a, log_b = a.double().cpu().log(), b.double().cpu().log()

    def parts(log_nu: object) -> tuple[Tensor, Tensor]:
        x = torch.as_tensor(log_nu, dtype=torch.float64)
        return log_a + x, log_b - x

    def value(log_nu: object) -> float:
        up, down = parts(log_nu)
        return float(up.logsumexp(0) + down.logsumexp(0)) / 2

    def gradient(log_nu: object) -> object:
        up, down = parts(log_nu)
        return ((up.softmax(0) - down.softmax(0)) / 2).numpy()

    def hessian(log_nu: object) -> object:
        total = torch.zeros(len(log_a), len(log_a), dtype=torch.float64)
        for part in parts(log_nu):
            p = part.softmax(0)
            total += (torch.diag(p) - torch.outer(p, p)) / 2
        return total.numpy()

    start = torch.zeros_like(log_a).numpy()
    found = minimize(
        value, start, jac=gradient, hess=hessian, method="trust-exact", options={"gtol": 1e-13}
    )
    if abs(found.jac).max() > 1e-9:
        raise RuntimeError(f"the minimiser stopped early ({found.message}); rescale a and b")
    log_nu = torch.as_tensor(found.x)
    nu = (log_nu - log_nu.mean()).exp().to(a)
    return nu, math.exp(found.fun)


def _check_problem(features: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    features, y = check_tensor("features", features), check_tensor("y", y)
    if features.ndim < 2 or y.shape != features.shape[:-1]:
        raise ValueError(
            f"features must have shape (..., n, P) and y (..., n), got {tuple(features.shape)} "
            f"and {tuple(y.shape)}"
        )
    return features, y
