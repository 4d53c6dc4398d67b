"""Numbers read from the spectrum of a kernel."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from regimes._check import positive_int
from regimes.measure._kernel import check_tensor, clip_rounding, symmetric_matrix


@dataclass(frozen=True)
class SpectrumSummary:
    """Largest, mean and median eigenvalue of a kernel."""

    max: float
    mean: float
    median: float


def spectrum(G: Tensor) -> Tensor:
    """Eigenvalues of a positive semi-definite Gram, decreasing.

    The solver runs in float64; negative values that rounding explains are set to 0, larger ones
    are an error, for then `G` is no Gram.

    Args:
        G: kernel of shape (n, n) or (n, c, n, c), symmetric.

    Returns:
        Eigenvalues (nc,) in the dtype of `G`.

    >>> spectrum(torch.tensor([[2.0, 1.0], [1.0, 2.0]]))
    tensor([3., 1.])
    """
    lam = torch.linalg.eigvalsh(symmetric_matrix("G", G)).flip(0)
    return clip_rounding("G", lam, G.dtype).to(G.dtype)


def spectrum_summary(lam: Tensor) -> SpectrumSummary:
    """Largest, mean and median of the eigenvalues (r,) [Baratin 2021, fig. 2].

    >>> spectrum_summary(torch.tensor([4.0, 2.0, 1.0, 1.0]))
    SpectrumSummary(max=4.0, mean=2.0, median=1.5)
    """
    lam = _check_eigenvalues(lam).double()
    if lam.ndim != 1:
        raise ValueError(f"lam must be one spectrum of shape (r,), got {tuple(lam.shape)}")
    ordered, r = lam.sort().values, len(lam)
    median = (ordered[(r - 1) // 2] + ordered[r // 2]) / 2
    return SpectrumSummary(float(ordered[-1]), float(lam.mean()), float(median))


def effective_rank(lam: Tensor) -> Tensor:
    """`exp(-sum_j mu_j log mu_j)`, `mu_j = lam_j / sum lam` [Roy 2007], [Baratin 2021, eq. 5].

    Lies in [1, r]: 1 for a rank-one kernel, r for a flat spectrum.

    Args:
        lam: non-negative eigenvalues (..., r), any order.

    Returns:
        Effective rank, shape (...).

    >>> effective_rank(torch.tensor([1.0, 1.0, 0.0]))
    tensor(2.)
    """
    mu = _shares(lam)
    return torch.special.entr(mu).sum(-1).exp().to(lam.dtype)


def trace_ratio(lam: Tensor, k: int) -> Tensor:
    """Share `T_k` of the k largest eigenvalues in the trace [Baratin 2021, eq. 6].

    Args:
        lam: non-negative eigenvalues (..., r), any order.
        k: how many of the largest; 1 to r.

    Returns:
        Shares in [0, 1], shape (...).

    >>> trace_ratio(torch.tensor([6.0, 3.0, 1.0]), 2)
    tensor(0.9000)
    """
    k = positive_int("k", k)
    mu = _shares(lam)
    if k > mu.shape[-1]:
        raise ValueError(f"k must be at most the number of eigenvalues {mu.shape[-1]}, got {k}")
    return mu.topk(k, dim=-1).values.sum(-1).to(lam.dtype)


def _check_eigenvalues(lam: Tensor) -> Tensor:
    lam = check_tensor("lam", lam)
    if lam.ndim == 0 or bool((lam < 0).any()):
        raise ValueError(
            "lam must hold non-negative eigenvalues along its last axis "
            f"(`spectrum` returns such), got shape {tuple(lam.shape)}, least {float(lam.min()):.3g}"
        )
    return lam


def _shares(lam: Tensor) -> Tensor:
    lam = _check_eigenvalues(lam).double()
    total = lam.sum(-1, keepdim=True)
    if not bool((total > 0).all()):
        raise ValueError("every eigenvalue is zero, so their shares of the trace are undefined")
    return lam / total
