"""Gaussian points with labels that mean nothing."""

from __future__ import annotations

import torch

from regimes._check import positive_int
from regimes._random import generator
from regimes.data._dataset import Dataset, Points, float_dtype
from regimes.data._synthetic import gaussian, signs


def random_labels(
    n_train: int = 1000,
    n_test: int = 1000,
    d: int = 10,
    seed: int = 0,
    *,
    balanced: bool = False,
    dtype: torch.dtype = torch.float32,
) -> Dataset:
    """Points x ~ N(0, I_d) with independent labels +1/-1 of equal odds [Geiger 2019, sec. III].

    Add `sphere()` for points of norm sqrt(d).

    Args:
        n_train: training points.
        n_test: test points.
        d: input dimension.
        seed: seed of the draws.
        balanced: alternate +1, -1, +1, ... instead of drawing the labels.
        dtype: precision.

    Returns:
        The data set, x of shape (n, d).

    Raises:
        ValueError: for bad sizes.

    Example:
        >>> random_labels(n_train=4, n_test=0, d=2, balanced=True).y_train
        tensor([ 1., -1.,  1., -1.])
    """
    float_dtype(dtype)
    d = positive_int("d", d)

    def draw(n: int, part: str) -> Points:
        x = gaussian(d)(n, generator(seed, f"random_labels/{part}"))
        if balanced:
            y = signs(torch.arange(n) % 2 == 0)
        else:
            source = generator(seed, f"random_labels/{part}/labels")
            y = signs(torch.rand(n, generator=source, dtype=torch.float64) < 0.5)
        return Points(x.to(dtype), y.to(dtype))

    train = draw(positive_int("n_train", n_train), "train")
    test = draw(positive_int("n_test", n_test, least=0), "test")
    rule = "alternates between +1 and -1" if balanced else "= +-1 with equal odds"
    made = f"x ~ N(0, I_{d}), y {rule}, independent of x"
    return Dataset(*train, *test, name="random_labels", description=(made,), seed=seed)
