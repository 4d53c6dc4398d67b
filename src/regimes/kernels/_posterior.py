"""The posterior of a Gaussian process whose covariance is any kernel."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from regimes._check import choose, real, shown
from regimes.kernels._conjugate_gradients import Operator, conjugate_gradients
from regimes.kernels._ridge import targets

_METHODS = {"auto": "auto", "dense": "dense", "cg": "cg"}
_ASYMMETRY = 1e-3  # of the largest entry: more than rounding in any precision


@dataclass(frozen=True, eq=False, repr=False)
class Posterior:
    """Mean and variance of a Gaussian process given its values with noise at some points.

    Attributes:
        mean: (m,), or (m, k) for k targets.
        variance: (m,), of f itself; that of a new value has the noise on top.
        log_likelihood: (k,), log p(y) of each target; None by conjugate gradients, which know no
            determinant.
        residuals: of all systems solved, relative, those of the targets first.
        converged: bool, for each of them.
        method: "dense" or "cg".
    """

    mean: Tensor
    variance: Tensor
    log_likelihood: Tensor | None
    residuals: Tensor
    converged: Tensor
    method: str

    def __repr__(self) -> str:
        worst, good = float(self.residuals.max()), bool(self.converged.all())
        told = "" if good else " (not converged)"
        return f"Posterior: {len(self.mean)} points, residuals up to {worst:.1e}{told}, " + (
            f"{self.method}"
        )


def posterior(
    gram: Operator,
    y: Tensor,
    noise: float,
    gram_test: Tensor,
    diagonal_test: Tensor,
    *,
    method: str = "auto",
    tolerance: float = 1e-6,
    max_steps: int = 1000,
) -> Posterior:
    """`f | y`: mean `k K_s^-1 y` and variance `k(x, x) - k K_s^-1 k^T`, with `K_s = K + noise`.

    [Rasmussen 2006, eqs. 2.23 to 2.30]. With the tangent kernel of a network this is the belief of
    a Bayesian who trusts its linearisation and has a standard normal prior on the parameters.

    Args:
        gram: K between training points, (n, n); or a LinearOperator or function that multiplies
            with it, such as `TangentKernel.operator(x)`.
        y: targets (n,) or (n, k).
        noise: variance of the noise on them, positive.
        gram_test: kernel of test points with training points, (m, n).
        diagonal_test: k(x, x) of the test points, (m,).
        method: "dense" factors a Gram, "cg" solves by products; "auto" factors a Gram and
            multiplies with anything else.
        tolerance: of conjugate gradients. A variance is off by at most this times
            `|k|^2 / noise`.
        max_steps: products at most.

    Raises:
        ValueError: shapes that do not fit; a Gram that is not finite, not symmetric, or with this
            noise not positive.

    >>> K = torch.eye(2, dtype=torch.float64)
    >>> found = posterior(K, torch.ones(2).double(), 1.0, K[:1], torch.ones(1).double())
    >>> found.mean, found.variance
    (tensor([0.5000], dtype=torch.float64), tensor([0.5000], dtype=torch.float64))
    """
    chosen, spread = choose(method, _METHODS, "method"), real("noise", noise, above=0.0)
    if not isinstance(y, Tensor) or not y.ndim:
        raise ValueError(f"y must be a tensor (n,) or (n, k), got {shown(y)}")
    if isinstance(gram, Tensor) and gram.ndim == 2 and gram.shape != (len(y), len(y)):
        raise ValueError(
            f"a Gram of the {len(y)} points with targets must have shape ({len(y)}, {len(y)}), got "
            f"{shown(gram)}"
        )
    y, n = targets(y, len(y)), len(y)
    if not isinstance(gram_test, Tensor) or gram_test.ndim != 2 or gram_test.shape[1] != n:
        raise ValueError(f"gram_test must have shape (m, {n}), got {shown(gram_test)}")
    if not isinstance(diagonal_test, Tensor) or diagonal_test.shape != gram_test.shape[:1]:
        raise ValueError(
            f"diagonal_test must have shape ({len(gram_test)},), got {shown(diagonal_test)}"
        )
    if chosen == "auto":
        chosen = "dense" if isinstance(gram, Tensor) else "cg"
    right = (y[:, None] if y.ndim == 1 else y).double()
    k = right.shape[1]
    cross, diagonal = gram_test.to(right), diagonal_test.to(right)
    both, likelihood = torch.cat([right, cross.T], 1), None
    if chosen == "cg":
        working = gram.dtype if isinstance(gram, Tensor) else torch.float64
        found = conjugate_gradients(
            gram, both.to(working), spread, tolerance=tolerance, max_steps=max_steps
        )
        solved, residuals, converged = found.values.double(), found.residuals, found.converged
    else:
        if not isinstance(gram, Tensor) or gram.shape != (n, n):
            raise ValueError(f"method='dense' needs a Gram ({n}, {n}), got {shown(gram)}")
        _check_gram(gram)
        shifted = (gram.double() + gram.double().T) / 2
        shifted.diagonal().add_(spread)
        factor, failed = torch.linalg.cholesky_ex(shifted)
        if int(failed):
            raise ValueError(
                f"the Gram plus the noise {spread:g} is not positive to rounding; raise the noise"
            )
        solved = torch.cholesky_solve(both, factor)
        scale = both.norm(dim=0).clamp_min(1e-300)
        residuals = (both - shifted @ solved).norm(dim=0) / scale
        converged = residuals <= max(tolerance, 1e-6)
        volume = factor.diagonal().log().sum()
        fit = 0.5 * (right * solved[:, :k]).sum(0)
        likelihood = -fit - volume - 0.5 * n * math.log(2 * math.pi)
    mean = cross @ solved[:, :k]
    variance = (diagonal - (cross.T * solved[:, k:]).sum(0)).clamp_min(0.0)
    return Posterior(
        (mean[:, 0] if y.ndim == 1 else mean).to(y),
        variance.to(y),
        likelihood,
        residuals,
        converged,
        chosen,
    )


def _check_gram(gram: Tensor) -> None:
    if not bool(gram.isfinite().all()):
        raise ValueError("the Gram holds NaN or infinite entries; look for them in the points")
    apart, largest = float((gram - gram.T).abs().max()), float(gram.abs().max())
    if apart > _ASYMMETRY * largest:
        raise ValueError(
            f"the Gram must be symmetric, but K - K^T reaches {apart:.3g} beside entries up to "
            f"{largest:.3g}; give the kernel of the training points on both sides"
        )
