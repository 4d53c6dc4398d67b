"""Where gradient flow of the mean square ends under a kernel that does not move."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from regimes._check import real


@dataclass(frozen=True, eq=False)
class KernelLimit:
    """f at the end of training on the points asked for, all of shape (..., n)."""

    prediction: Tensor  # residual + labels
    residual: Tensor  # f_0(x) - K(x, X) K^-1 f_0(X): what the initial function leaves
    labels: Tensor  # K(x, X) K^-1 y: what does not depend on it


def kernel_limit(
    K: Tensor,
    K_cross: Tensor,
    y: Tensor,
    f0: Tensor | None = None,
    f0_cross: Tensor | None = None,
    *,
    cutoff: float = 1e-12,
) -> KernelLimit:
    """`f_inf(x) = f_0(x) - K(x, X) K^-1 f_0(X) + K(x, X) K^-1 y` [Geiger 2020b, eqs. 16 and 17].

    With the kernel of infinite width it is the end of an infinitely wide network, with the tangent
    kernel of a finite one at its start, an approximation of that network's. Leading axes are
    networks of their own. Directions in which K vanishes do not move and are left as they were.

    Args:
        K: kernel of the training points, (..., P, P).
        K_cross: between points and training points, (..., n, P).
        y: targets (..., P).
        f0: initial function on the training points, (..., P); None: zero, as if it were subtracted.
        f0_cross: the same on the points, (..., n); given together with f0.
        cutoff: eigenvalues of K up to this share of the largest count as zero.

    >>> K = torch.tensor([[2.0, 1.0], [1.0, 2.0]])
    >>> kernel_limit(K, K[:1], torch.tensor([1.0, -1.0])).prediction.round(decimals=4)
    tensor([1.])
    """
    square = _checked("K", K)
    if square.ndim < 2 or square.shape[-1] != square.shape[-2]:
        raise ValueError(f"K must have shape (..., P, P), got {tuple(K.shape)}")
    if not torch.allclose(square, square.mT, rtol=1e-4, atol=1e-5 * float(square.abs().max())):
        raise ValueError("K must be symmetric: the kernel of the training points with themselves")
    cross, target, count = _checked("K_cross", K_cross), _checked("y", y), square.shape[-1]
    if cross.ndim < 2 or cross.shape[-1] != count or target.shape[-1:] != (count,):
        raise ValueError(
            f"K_cross must have shape (..., n, {count}) and y (..., {count}), got "
            f"{tuple(K_cross.shape)} and {tuple(y.shape)}"
        )
    if (f0 is None) != (f0_cross is None):
        raise ValueError("f0 and f0_cross are one function on two sets: give both or neither")
    values, vectors = torch.linalg.eigh(square)
    kept = values > real("cutoff", cutoff, above=0.0) * values[..., -1:]
    if not bool(kept.any(-1).all()):
        raise ValueError("K has no positive eigenvalue, so nothing is learnt under it")
    inverse = torch.where(kept, 1 / torch.where(kept, values, 1.0), 0.0)

    def learnt(targets: Tensor) -> Tensor:
        weights = inverse.unsqueeze(-1) * (vectors.mT @ targets.unsqueeze(-1))
        return (cross @ (vectors @ weights)).squeeze(-1)

    labels = learnt(target)
    residual = torch.zeros_like(labels)
    if f0 is not None and f0_cross is not None:
        start, away = _checked("f0", f0), _checked("f0_cross", f0_cross)
        if start.shape[-1:] != (count,) or away.shape[-1:] != cross.shape[-2:-1]:
            raise ValueError(
                f"f0 must have shape (..., {count}) and f0_cross (..., {cross.shape[-2]}), got "
                f"{tuple(f0.shape)} and {tuple(f0_cross.shape)}"
            )
        residual = away - learnt(start)
        labels = labels.expand(residual.shape)
    found = (residual + labels, residual, labels)
    return KernelLimit(*(part.to(K.dtype) for part in found))


def _checked(name: str, value: Tensor) -> Tensor:
    if not isinstance(value, Tensor) or not value.is_floating_point() or not value.numel():
        raise ValueError(f"{name} must be a non-empty floating-point tensor, got {type(value)}")
    if not bool(value.isfinite().all()):
        raise ValueError(f"{name} holds NaN or infinite entries")
    return value.double()
