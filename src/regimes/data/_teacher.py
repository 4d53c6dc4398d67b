"""Points labelled by a random network of two layers."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from regimes._check import positive_int, real
from regimes._random import generator
from regimes.data._dataset import Dataset, Points, float_dtype
from regimes.data._synthetic import gaussian, signs


def teacher(
    n_train: int = 1000,
    n_test: int = 1000,
    d: int = 15,
    width: int = 30,
    seed: int = 0,
    *,
    noise: float = 0.0,
    classify: bool = False,
    dtype: torch.dtype = torch.float32,
) -> Dataset:
    """Gaussian points with the outputs of a teacher, `y = t(x) + noise`, or their signs.

    `t(x) = h^(-1/2) sum_i a_i relu(w_i.x/sqrt(d) + b_i)` with all of them N(0, 1), less its mean
    and over its standard deviation on the training points: noise is in units of the signal. The
    data of the students that [Spigler 2019, sec. 1] recalls. Test targets are without noise.

    Args:
        n_train: training points.
        n_test: test points.
        d: input dimension.
        width: h, hidden units of the teacher.
        seed: seed of the draws; the teacher is one of them.
        noise: standard deviation of the noise on the training targets, before signs are taken.
        classify: labels +-1 instead of real targets.
        dtype: precision.

    Returns:
        The data set, x of shape (n, d).

    Raises:
        ValueError: for bad sizes or a negative noise.

    Example:
        >>> ds = teacher(n_train=200, n_test=0, d=5)
        >>> round(float(ds.y_train.mean()), 4) + 0.0, round(float(ds.y_train.std(correction=0)), 4)
        (0.0, 1.0)
    """
    float_dtype(dtype)
    d, width = positive_int("d", d), positive_int("width", width)
    n_train = positive_int("n_train", n_train, least=2)
    n_test = positive_int("n_test", n_test, least=0)
    spread = real("noise", noise)
    if spread < 0:
        raise ValueError(f"noise is a standard deviation and cannot be negative, got {noise!r}")
    source = generator(seed, "teacher/network")
    w, a, b = (
        torch.randn(shape, generator=source, dtype=torch.float64)
        for shape in ((width, d), (width,), (width,))
    )

    def raw(x: Tensor) -> Tensor:
        return torch.relu(x @ w.T / math.sqrt(d) + b) @ a / math.sqrt(width)

    x_train = gaussian(d)(n_train, generator(seed, "teacher/train"))
    x_test = gaussian(d)(n_test, generator(seed, "teacher/test"))
    signal = raw(x_train)
    mean, scale = signal.mean(), signal.std(correction=0)
    if not float(scale) > 1e-12:
        raise ValueError("the teacher is constant on the training points; take another seed")
    errors = torch.randn(n_train, generator=generator(seed, "teacher/noise"), dtype=torch.float64)
    y_train = (signal - mean) / scale + spread * errors
    y_test = (raw(x_test) - mean) / scale
    if classify:
        y_train, y_test = signs(y_train > 0), signs(y_test > 0)
    kind = "its sign" if classify else "real targets"
    made = (
        f"x ~ N(0, I_{d}), y of a relu teacher of width {width}, {kind}, noise {spread:g} in "
        "training"
    )
    return Dataset(
        *Points(x_train.to(dtype), y_train.to(dtype)),
        *Points(x_test.to(dtype), y_test.to(dtype)),
        name="teacher",
        description=(made,),
        seed=seed,
    )
