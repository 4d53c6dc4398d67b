"""Equally spaced points of a line [Baratin 2021, fig. 8]."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from regimes._check import positive_int, real
from regimes._random import generator
from regimes.data._dataset import Dataset, Points, float_dtype


def line1d(
    n_train: int = 50,
    seed: int = 0,
    *,
    n_test: int = 50,
    target: Callable[[Tensor], Tensor] | None = None,
    noise: float = 0.0,
    dtype: torch.dtype = torch.float32,
) -> Dataset:
    """Equally spaced points of [0, 1], including both ends, with a regression target.

    The paper looks at kernels on these points and gives no target, so the default is y = 0.
    Training points are i/(n_train - 1), test points are the cell centres (j + 1/2)/n_test.

    Args:
        n_train: training points, at least 2.
        seed: seed of the noise; without noise nothing is drawn.
        n_test: test points.
        target: function from positions (n,) in float64 to values (n,); None: y = 0.
        noise: standard deviation of Gaussian noise on the training targets; test targets are
            clean.
        dtype: precision.

    Returns:
        The data set, x of shape (n, 1), real targets.

    Raises:
        ValueError: for bad sizes, or a target that does not return one number per point.

    Example:
        >>> ds = line1d(n_train=5, target=lambda t: t**2)
        >>> ds.x_train[:, 0], ds.y_train
        (tensor([0.0000, 0.2500, 0.5000, 0.7500, 1.0000]),
         tensor([0.0000, 0.0625, 0.2500, 0.5625, 1.0000]))
    """
    float_dtype(dtype)
    n_train = positive_int("n_train", n_train, least=2)
    n_test = positive_int("n_test", n_test, least=0)
    sigma = real("noise", noise)
    source = generator(seed, "line1d/noise")
    if sigma < 0:
        raise ValueError(f"noise is a standard deviation and cannot be negative, got {noise!r}")

    def at(positions: Tensor) -> Points:
        x = positions.to(dtype)
        values = torch.zeros_like(x, dtype=torch.float64)
        if target is not None:
            values = target(x.double())
            shape = getattr(values, "shape", type(values).__name__)
            if not isinstance(values, Tensor) or shape != x.shape:
                raise ValueError(
                    f"target must return a tensor of {len(x)} values for {len(x)} positions, got "
                    f"{shape}"
                )
        return Points(x.reshape(-1, 1), values.to(dtype))

    train = at(torch.linspace(0, 1, n_train, dtype=torch.float64))
    test = at((torch.arange(n_test, dtype=torch.float64) + 0.5) / max(n_test, 1))
    if sigma:
        eps = torch.randn(n_train, generator=source, dtype=torch.float64)
        train = Points(train.x, (train.y.double() + sigma * eps).to(dtype))
    rule = "no target, y = 0" if target is None else f"y = {_name(target)}(x)"
    made = f"x equally spaced on [0, 1], {rule}" + (f" + {sigma:g} N(0, 1)" if sigma else "")
    return Dataset(*train, *test, name="line1d", description=(made,), seed=seed if sigma else None)


def _name(function: Callable[[Tensor], Tensor]) -> str:
    return getattr(function, "__name__", type(function).__name__)
