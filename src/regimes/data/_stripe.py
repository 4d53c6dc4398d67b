"""Labels that depend on one coordinate only: the stripe model [Paccolat 2021, sec. 3]."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import NormalDist

import torch
from torch import Tensor

from regimes._check import positive_int, real
from regimes.data._dataset import Dataset
from regimes.data._synthetic import gaussian, signs, synthetic

_X_MIN = -0.3


def balanced_x_max(x_min: float) -> float:
    """The upper edge that makes a stripe with lower edge `x_min` hold half of N(0, 1).

    x_max = sqrt2 erfinv(1 + erf(x_min / sqrt2)), that is Phi(x_max) = Phi(x_min) + 1/2. In
    [Paccolat 2021, footnote 2] it is misprinted (docs/themes/compression.md, "Data").

    Args:
        x_min: lower edge, negative: above a positive one lies less than half of the mass.

    Returns:
        The upper edge.

    Raises:
        ValueError: if x_min is not negative.

    Example:
        >>> round(balanced_x_max(-0.3), 5)
        1.18549
    """
    edge = real("x_min", x_min, below=0)
    return NormalDist().inv_cdf(NormalDist().cdf(edge) + 0.5)


def stripe(
    n_train: int = 1000,
    n_test: int = 1000,
    d: int = 10,
    seed: int = 0,
    *,
    interfaces: Sequence[float] | None = None,
    first_sign: int = 1,
    n_kernel: int = 0,
    dtype: torch.dtype = torch.float32,
) -> Dataset:
    """Gaussian points x ~ N(0, I_d) with y = +1 or -1 by the first coordinate alone.

    The label is `first_sign` below the first interface and changes sign at each one; a point
    exactly on an interface carries `first_sign`. The default, y = -1 for x_min < x_1 < x_max with
    x_min = -0.3, has balanced classes [Paccolat 2021, sec. 3].

    Args:
        n_train: training points.
        n_test: test points.
        d: input dimension.
        seed: seed of the draws.
        interfaces: increasing values of x_1 where the label changes; two make one stripe, more
            make several. None: (-0.3, balanced_x_max(-0.3)).
        first_sign: +1 or -1, the label below the first interface.
        n_kernel: size of an independent set `probes["kernel"]`.
        dtype: precision.

    Returns:
        The data set, x of shape (n, d).

    Raises:
        ValueError: for interfaces that do not increase, a sign that is not +1 or -1, bad sizes.

    Example:
        >>> stripe(n_train=1000, n_test=1000, d=10, seed=0)
        Dataset 'stripe': 1000 train, 1000 test, x of shape (10,), float32, seed 0
          y train  -1: ..., +1: ...
          y test   -1: ..., +1: ...
          made by  1. x ~ N(0, I_10), y = +1 below x_1 = -0.3, changes sign at x_1 = -0.3, 1.18549
    """
    d = positive_int("d", d)
    if interfaces is None:
        interfaces = (_X_MIN, balanced_x_max(_X_MIN))
    edges = [real("interface", edge) for edge in interfaces]
    if not edges or any(low >= high for low, high in pairwise(edges)):
        raise ValueError(f"interfaces must be one or more increasing numbers, got {interfaces!r}")
    if first_sign not in (1, -1):
        raise ValueError(f"first_sign must be +1 or -1, got {first_sign!r}")
    bounds = torch.tensor(edges, dtype=torch.float64)

    def label(x: Tensor) -> Tensor:
        below = torch.searchsorted(bounds, x[:, 0].contiguous())
        not_above = torch.searchsorted(bounds, x[:, 0].contiguous(), right=True)
        # The two counts differ on an interface only, where one of them is even.
        return first_sign * signs((below % 2 == 0) | (not_above % 2 == 0))

    listing = ", ".join(f"{edge:.6g}" for edge in edges)
    made = (
        f"x ~ N(0, I_{d}), y = {first_sign:+d} below x_1 = {edges[0]:.6g}, changes sign at "
        f"x_1 = {listing}"
    )
    return synthetic(
        "stripe",
        made,
        gaussian(d),
        label,
        n_train=n_train,
        n_test=n_test,
        seed=seed,
        dtype=dtype,
        n_kernel=n_kernel,
    )
