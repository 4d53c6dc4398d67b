"""Labels that depend on the distance from an axis: the cylinder model [Paccolat 2021, sec. 4]."""

from __future__ import annotations

import math

import torch

from regimes._check import positive_int, real
from regimes.data._dataset import Dataset
from regimes.data._synthetic import gaussian, signs, synthetic


def balanced_radius(d_par: int = 2) -> float:
    """The radius that holds half of N(0, I_d_par): the median of the chi distribution.

    For d_par = 2 it is sqrt(2 ln 2).

    Args:
        d_par: dimension of the Gaussian.

    Returns:
        The radius.

    Example:
        >>> round(balanced_radius(), 4)
        1.1774
    """
    d_par = positive_int("d_par", d_par)
    if d_par == 2:
        return math.sqrt(2 * math.log(2))
    from scipy.special import gammaincinv

    return math.sqrt(2 * float(gammaincinv(d_par / 2, 0.5)))


def cylinder(
    n_train: int = 1000,
    n_test: int = 1000,
    d: int = 3,
    seed: int = 0,
    *,
    d_par: int = 2,
    radius: float | None = None,
    n_kernel: int = 0,
    dtype: torch.dtype = torch.float32,
) -> Dataset:
    """Gaussian points x ~ N(0, I_d) with y = +1 outside a cylinder, -1 inside.

    y = +1 if ||(x_1, ..., x_d_par)|| > R, else -1 [Paccolat 2021, sec. 4].

    Args:
        n_train: training points.
        n_test: test points.
        d: input dimension.
        seed: seed of the draws.
        d_par: number of informative coordinates, at most d.
        radius: R; None takes the balanced one, `balanced_radius(d_par)`.
        n_kernel: size of an independent set `probes["kernel"]`.
        dtype: precision.

    Returns:
        The data set, x of shape (n, d).

    Raises:
        ValueError: if d_par exceeds d, radius is not positive, or a size is bad.

    Example:
        >>> cylinder(n_train=4, n_test=2).description
        ('x ~ N(0, I_3), y = +1 where the norm of the first 2 coordinates exceeds 1.17741',)
    """
    d, d_par = positive_int("d", d), positive_int("d_par", d_par)
    if d_par > d:
        raise ValueError(f"d_par={d_par} informative coordinates do not fit into d={d} dimensions")
    edge = balanced_radius(d_par) if radius is None else real("radius", radius, above=0)
    made = (
        f"x ~ N(0, I_{d}), y = +1 where the norm of the first {d_par} coordinates exceeds "
        f"{edge:.6g}"
    )
    return synthetic(
        "cylinder",
        made,
        gaussian(d),
        lambda x: signs(x[:, :d_par].norm(dim=1) > edge),
        n_train=n_train,
        n_test=n_test,
        seed=seed,
        dtype=dtype,
        n_kernel=n_kernel,
    )
