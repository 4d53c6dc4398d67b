"""The sign of a quadratic form on the sphere: a task without files."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from regimes._check import positive_int
from regimes._random import generator
from regimes.data._dataset import Dataset
from regimes.data._synthetic import signs, synthetic


def quad_sphere(
    n_train: int = 1000,
    n_test: int = 1000,
    d: int = 10,
    seed: int = 0,
    *,
    form: Tensor | None = None,
    n_kernel: int = 0,
    dtype: torch.dtype = torch.float32,
) -> Dataset:
    """Uniform points of the sphere of radius sqrt(d), labelled by the sign of x^T A x.

    Gaussian points rescaled to norm sqrt(d); y = +1 where x^T A x > 0, else -1. The
    default couples the first half of the coordinates with the second by a
    Gaussian matrix G drawn with the seed, x^T A x = sum_{i <= d/2 < j} G_ij x_i x_j, which has
    balanced classes by the symmetry x_i -> -x_i (i <= d/2).

    Args:
        n_train: training points.
        n_test: test points.
        d: input dimension, at least 2.
        seed: seed of the points and of the default form.
        form: A of shape (d, d) instead of the default one.
        n_kernel: size of an independent set `probes["kernel"]`.
        dtype: precision.

    Returns:
        The data set, x of shape (n, d).

    Raises:
        ValueError: for bad sizes or a form of another shape.

    Example:
        >>> form = torch.diag(torch.tensor([1.0, 1.0, -1.0, -1.0]))
        >>> ds = quad_sphere(n_train=6, n_test=0, d=4, form=form)
        >>> first, last = ds.x_train[:, :2].norm(dim=1), ds.x_train[:, 2:].norm(dim=1)
        >>> bool(((first > last) == (ds.y_train > 0)).all())
        True
    """
    d = positive_int("d", d, least=2)
    if form is None:
        half = d // 2
        matrix = torch.zeros(d, d, dtype=torch.float64)
        matrix[:half, half:] = torch.randn(
            half, d - half, generator=generator(seed, "quad_sphere/form"), dtype=torch.float64
        )
        rule = "couples the first half of the coordinates with the second by Gaussian weights"
    else:
        if not isinstance(form, Tensor) or form.shape != (d, d):
            raise ValueError(
                f"form must be a tensor of shape ({d}, {d}), got {getattr(form, 'shape', form)!r}"
            )
        matrix = form.detach().cpu().double()
        if not bool(matrix.isfinite().all()):
            raise ValueError("form holds NaN or infinite entries")
        rule = "is the given form"

    def sample(n: int, source: torch.Generator) -> Tensor:
        x = torch.randn((n, d), generator=source, dtype=torch.float64)
        return math.sqrt(d) * x / x.norm(dim=1, keepdim=True)

    return synthetic(
        "quad_sphere",
        f"x uniform on the sphere of radius sqrt({d}), y = sign of x^T A x, A {rule}",
        sample,
        lambda x: signs(((x @ matrix) * x).sum(1) > 0),
        n_train=n_train,
        n_test=n_test,
        seed=seed,
        dtype=dtype,
        n_kernel=n_kernel,
    )
