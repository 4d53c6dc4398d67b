"""Errors of small ensembles, cut from one pool of trained networks in many ways."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from regimes._check import positive_int
from regimes.measure._boundary import boundary_distance
from regimes.measure._kernel import check_tensor
from regimes.measure._observables import signed_margins

_ROWS = 2**22  # outputs of groups that are held at a time


@dataclass(frozen=True, eq=False)
class DisjointEnsembles:
    """Means of n networks, for several n; float64 arrays of shape (sizes,)."""

    sizes: np.ndarray
    error: np.ndarray  # eps_n, mean over groups and groupings
    error_error: np.ndarray  # its standard error with the groups of one grouping as draws; or NaN
    distance: np.ndarray | None  # delta_n, corrected for the finite pool; NaN for the whole pool
    pool_error: float  # of the mean of all; not eps_infinity, and no stand-in for it in a fit


def disjoint_ensembles(
    F: Tensor,
    y: Tensor,
    sizes: Sequence[int],
    *,
    gradients: Tensor | None = None,
    groupings: int = 100,
    seed: int = 0,
) -> DisjointEnsembles:
    """Errors of means of n outputs over disjoint groups of a pool [Geiger 2020b, sec. 4].

    The pool is shuffled and cut into `R // n` groups, again and again. A mean over n of R networks
    is nearer to the mean of the pool than to that of all networks, by `sqrt(1 - n/R)` in its
    standard deviation: distances from the pool's boundary are divided by that. For eps_infinity
    fit `eps_n = eps + c/n`, which is `asymptote(sizes, error, power=-1)`.

    Args:
        F: outputs on the test points, (R, n).
        y: labels +-1, (n,).
        sizes: numbers of networks in a group, from 1 to R.
        gradients: of the outputs by the inputs, (R, n, d), for the distances of the boundaries.
        groupings: how often the pool is cut; once where n = 1 or a cut leaves one group of all.
        seed: of the shuffles.

    >>> F = torch.randn(32, 500, generator=torch.Generator().manual_seed(0)).double() + 0.3
    >>> found = disjoint_ensembles(F, torch.ones(500).double(), [1, 2, 4, 8])
    >>> found.error.round(2)
    array([0.38, 0.34, 0.28, 0.2 ])
    """
    signed_margins(check_tensor("F", F), y)
    if F.ndim != 2 or len(F) < 2:
        raise ValueError(f"F must have shape (R, n) with R >= 2, got {tuple(F.shape)}")
    if gradients is not None and (
        check_tensor("gradients", gradients).ndim != 3 or gradients.shape[:2] != F.shape
    ):
        raise ValueError(
            f"gradients must have shape ({len(F)}, {F.shape[1]}, d), got {tuple(gradients.shape)}"
        )
    listed = [positive_int("sizes", n) for n in sizes]
    if not listed or max(listed) > len(F):
        raise ValueError(f"sizes must be numbers from 1 to the {len(F)} networks, got {listed}")
    count, draws = positive_int("groupings", groupings), np.random.default_rng(seed)
    pool, outputs, labels = len(F), F.double(), y.double()
    center = outputs.mean(0)
    slopes = None if gradients is None else gradients.double()
    errors, doubts, distances = [], [], []
    for n in listed:
        per_cut = pool // n
        cuts = 1 if n in (1, pool) else count
        orders = np.stack([draws.permutation(pool)[: per_cut * n] for _ in range(cuts)])
        rows = torch.from_numpy(orders).view(-1, n)  # (groups, n)
        made = [
            _of_groups(part, outputs, labels, center, slopes)
            for part in rows.split(max(1, _ROWS // (F.shape[1] * (1 if slopes is None else 8))))
        ]
        wrong = torch.cat([error for error, _ in made])
        errors.append(float(wrong.mean()))
        doubts.append(float(wrong.std()) / per_cut**0.5 if per_cut > 1 else np.nan)
        if slopes is not None:
            apart = torch.cat([distance for _, distance in made]).nanmean()
            distances.append(float(apart) / (1 - n / pool) ** 0.5 if n < pool else np.nan)
    return DisjointEnsembles(
        np.array(listed),
        np.array(errors),
        np.array(doubts),
        None if slopes is None else np.array(distances),
        float((center * labels <= 0).double().mean()),
    )


def _of_groups(
    rows: Tensor, outputs: Tensor, y: Tensor, center: Tensor, slopes: Tensor | None
) -> tuple[Tensor, Tensor]:
    """Error and typical distance from the pool's boundary, of each group, (groups,)."""
    share = outputs.new_zeros(len(rows), len(outputs))
    share.scatter_(1, rows.to(share.device), 1.0 / rows.shape[1])
    means = share @ outputs
    error = (means * y <= 0).double().mean(1)
    if slopes is None:
        return error, error
    steep = (share @ slopes.flatten(1)).view(-1, *slopes.shape[1:]).norm(dim=-1)
    return error, boundary_distance(means, steep, center=center).typical
