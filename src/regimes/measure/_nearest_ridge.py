"""The kernel ridge regression that a predictor is nearest to."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from regimes._check import real
from regimes.measure._kernel import check_gram, check_tensor

_SPAN = (-5.0, 12.0)  # of log(r/ridge) that is searched


@dataclass(frozen=True)
class NearestRidge:
    """Kernel ridge regression beside other predictions."""

    ridge: float  # of the nearest
    distance: float  # |f_r - f|/|f| with it
    distance_before: float  # with the ridge that was given
    eigenvalues: Tensor  # (n,), of the Gram on the training points, increasing


def nearest_ridge(K: Tensor, cross: Tensor, y: Tensor, f: Tensor, ridge: float) -> NearestRidge:
    """The ridge r for which `f_r = cross (K + r)^-1 y` is nearest to f.

    See docs/themes/regimes.md, "Random features".

    Args:
        K: Gram between training points, (n, n).
        cross: kernel between test and training points, (m, n).
        y: targets, (n,).
        f: predictions on the test points, (m,).
        ridge: where the search begins; r is sought from `e^-5` to `e^12` times it.

    >>> K = torch.diag(torch.tensor([1.0, 2.0], dtype=torch.float64))
    >>> y = torch.ones(2, dtype=torch.float64)
    >>> found = nearest_ridge(K, K, y, torch.linalg.solve(K + 0.5 * torch.eye(2), K @ y), 0.1)
    >>> round(found.ridge, 4), found.distance < 1e-5, found.distance_before > 0.1
    (0.5, True, True)
    """
    from scipy.optimize import minimize_scalar

    K, cross = check_gram("K", K), check_tensor("cross", cross)
    start = real("ridge", ridge, above=0)
    if y.shape != K.shape[:1] or cross.shape != (*f.shape, len(K)):
        raise ValueError(
            "K must have shape (n, n), cross (m, n), y (n,) and f (m,), got "
            f"{tuple(K.shape)}, {tuple(cross.shape)}, {tuple(y.shape)} and {tuple(f.shape)}"
        )
    y, f = y.to(K), f.to(K)
    size = f.square().mean()
    if not 0 < float(size) < math.inf:
        raise ValueError(
            f"f must not be zero nor overflow, its mean square is {float(size):.3g}; rescale it"
        )
    values, vectors = torch.linalg.eigh(K)
    across, turned = cross @ vectors, vectors.T @ y

    def distance(r: float) -> float:
        found = across @ (turned / (values + r))
        return float((found - f).square().mean().div(size).sqrt())

    best = minimize_scalar(
        lambda u: distance(math.exp(u)),
        bounds=(math.log(start) + _SPAN[0], math.log(start) + _SPAN[1]),
        method="bounded",
        options={"xatol": 1e-6},
    )
    r = math.exp(best.x)
    return NearestRidge(r, distance(r), distance(start), values)
