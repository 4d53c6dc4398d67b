"""Signs of a spectrum: how many eigenvalues are negative, zero and positive."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from regimes._check import real
from regimes.measure._kernel import check_tensor


@dataclass(frozen=True)
class ModeCounts:
    """Eigenvalues by sign, those within the cutoff counting as zero."""

    negative: int  # N_minus
    zero: int
    positive: int  # N_plus
    gap: float  # smallest modulus above the cutoff over the largest below it; 0 without any above

    @property
    def rank(self) -> int:
        """Eigenvalues that are not zero."""
        return self.negative + self.positive

    @property
    def negative_share(self) -> float:
        """Negative ones among those that are not zero; NaN when all are zero."""
        return self.negative / self.rank if self.rank else float("nan")


def mode_counts(lam: Tensor, *, cutoff: float = 1e-10) -> ModeCounts:
    """Count negative, zero and positive eigenvalues [Geiger 2019, sec. V].

    Of the Gauss-Newton part H0 of a Hessian, `rank` and `gap` tell how well its zero modes stand
    apart (LAND-20); of the other part, `negative_share` is C0 when zeros are left out (LAND-17).
    A zero is taken to be at least as large as the rounding of the largest eigenvalue, so that the
    gap is finite.

    Args:
        lam: eigenvalues of a symmetric matrix, (r,), any order.
        cutoff: share of the largest modulus up to which an eigenvalue is zero.

    >>> mode_counts(torch.tensor([2.0, 1e-3, 0.0, -1.0], dtype=torch.float64), cutoff=1e-2)
    ModeCounts(negative=1, zero=2, positive=1, gap=1000.0)
    """
    lam = check_tensor("lam", lam)
    if lam.ndim != 1 or len(lam) == 0:
        raise ValueError(f"lam must be one spectrum of shape (r,), got {tuple(lam.shape)}")
    sizes = lam.abs()
    largest = float(sizes.max())
    cut = real("cutoff", cutoff) * largest
    away = sizes > cut
    gap = 0.0
    if bool(away.any()):
        rounding = torch.finfo(lam.dtype).eps * largest
        gap = float(sizes[away].min()) / max([rounding, *sizes[~away].tolist()])
    negative, positive = int((lam < -cut).sum()), int((lam > cut).sum())
    return ModeCounts(negative, len(lam) - negative - positive, positive, gap)
