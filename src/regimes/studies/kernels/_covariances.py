"""The covariance functions of the studies by name."""

from __future__ import annotations

from collections.abc import Sequence

import regimes as rg
from regimes.studies._types import Kernel

KERNELS = ("laplace", "gaussian")


def covariances(names: Sequence[str], sigma: float) -> dict[str, Kernel]:
    """Kernels of one length.

    >>> covariances(["laplace"], 2.0)
    {'laplace': Laplace(sigma=2.0)}
    """
    made = {"laplace": rg.kernels.Laplace, "gaussian": rg.kernels.Gaussian}
    return {name: made[name](sigma) for name in names}
