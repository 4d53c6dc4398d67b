"""Linearly separable data D(u) [Ortiz-Jimenez 2021, eq. 5]."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from regimes._check import positive_int, real
from regimes._random import generator
from regimes.data._dataset import Dataset, Points, float_dtype
from regimes.data._synthetic import gaussian, signs


def linearly_separable(
    u: Tensor,
    n_train: int = 10_000,
    eps: float = 1.0,
    sigma: float = 1.0,
    seed: int = 0,
    *,
    n_test: int = 10_000,
    half: bool = False,
    dtype: torch.dtype = torch.float32,
) -> Dataset:
    """Points that one direction u separates with margin eps, Gaussian in all others.

    y uniform in {-1, +1}, x = eps y u + w with w ~ N(0, sigma (I - u u^T)): sigma is a variance,
    and <x, u> = eps y holds for every point up to rounding [Ortiz-Jimenez 2021, eq. 5].

    Args:
        u: the direction, of the shape the inputs shall have ((d,), (1, 32, 32), ...); its length
            is set to one here.
        n_train: training points.
        eps: margin, positive.
        sigma: variance across u, at least 0.
        seed: seed of the draws.
        n_test: test points.
        half: use eps/2, as the paper's programs do.
        dtype: precision.

    Returns:
        The data set, x of shape (n, *u.shape).

    Raises:
        ValueError: if u is zero or not a real tensor, for bad sizes or variances.

    Example:
        >>> ds = linearly_separable(torch.tensor([3.0, 4.0]), n_train=100, n_test=0)
        >>> along = ds.x_train @ torch.tensor([0.6, 0.8])
        >>> bool((along - ds.y_train).abs().max() < 1e-5)
        True
    """
    float_dtype(dtype)
    if not isinstance(u, Tensor) or not u.is_floating_point() or u.ndim == 0:
        raise ValueError(f"u must be a floating point tensor of the inputs' shape, got {u!r}")
    direction = u.detach().cpu().double()
    length = float(direction.norm())
    if not (math.isfinite(length) and length > 0):
        raise ValueError(f"u must have a finite, positive length, got {length}")
    direction = direction / length
    n_train = positive_int("n_train", n_train)
    n_test = positive_int("n_test", n_test, least=0)
    margin = real("eps", eps, above=0) / (2 if half else 1)
    variance = real("sigma", sigma)
    if variance < 0:
        raise ValueError(f"sigma is a variance and cannot be negative, got {sigma!r}")

    def draw(n: int, part: str) -> Points:
        source = generator(seed, f"linearly_separable/{part}/labels")
        y = signs(torch.rand(n, generator=source, dtype=torch.float64) < 0.5)
        noise = gaussian(*u.shape)(n, generator(seed, f"linearly_separable/{part}"))
        along = noise.flatten(1) @ direction.reshape(-1)
        lift = margin * y - math.sqrt(variance) * along
        column = lift.reshape(-1, *[1] * u.ndim)
        return Points((math.sqrt(variance) * noise + column * direction).to(dtype), y.to(dtype))

    made = (
        f"y = +-1 with equal odds, x = {margin:g} y u + N(0, {variance:g} (1 - u u^T)), "
        f"u of shape {tuple(u.shape)}"
    )
    return Dataset(
        *draw(n_train, "train"),
        *draw(n_test, "test"),
        name="linearly_separable",
        description=(made,),
        seed=seed,
    )
