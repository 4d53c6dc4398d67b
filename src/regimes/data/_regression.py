"""Linear regression with noise along noise features, for [Baratin 2021, fig. 5]."""

from __future__ import annotations

import math

import torch

from regimes._check import positive_int, real
from regimes._random import generator
from regimes.data._dataset import Dataset, Points, float_dtype
from regimes.data._synthetic import gaussian


def noisy_regression(
    n_train: int = 50,
    d: int = 10,
    sigma2: float = 0.1,
    seed: int = 0,
    *,
    n_test: int = 1000,
    orthogonal: bool = False,
    dtype: torch.dtype = torch.float32,
) -> Dataset:
    """One useful feature, d noise features, and label noise that the noise features can fit.

    x = [phi, phi_noise] of shape (n, d+1) with phi ~ N(0, 1) and phi_noise ~ N(0, I_d/d);
    y = phi + P eps on the training set, with eps ~ N(0, sigma2 I_n) and P = phi_noise
    phi_noise^T of shape (n, n). Test targets are noiseless, y = phi: noise would add a constant
    to the test error [Baratin 2021, fig. 5].

    Args:
        n_train: training points n.
        d: number of noise features.
        sigma2: variance of eps, at least 0.
        seed: seed of the draws.
        n_test: test points.
        orthogonal: make P the orthogonal projector on the span of the columns of phi_noise.
        dtype: precision.

    Returns:
        The data set, x of shape (n, d+1), real targets.

    Raises:
        ValueError: for bad sizes or a negative variance.

    Example:
        >>> ds = noisy_regression(n_train=50, d=10, sigma2=0.1, seed=0)
        >>> ds.in_shape, bool((ds.y_test == ds.x_test[:, 0]).all())
        ((11,), True)
    """
    float_dtype(dtype)
    n_train, d = positive_int("n_train", n_train), positive_int("d", d)
    n_test = positive_int("n_test", n_test, least=0)
    variance = real("sigma2", sigma2)
    if variance < 0:
        raise ValueError(f"sigma2 is a variance and cannot be negative, got {sigma2!r}")
    scales = torch.tensor([1.0] + [1 / math.sqrt(d)] * d, dtype=torch.float64)
    sample = gaussian(d + 1)
    x_train = (sample(n_train, generator(seed, "noisy_regression/train")) * scales).to(dtype)
    x_test = (sample(n_test, generator(seed, "noisy_regression/test")) * scales).to(dtype)
    eps = torch.randn(
        n_train, generator=generator(seed, "noisy_regression/noise"), dtype=torch.float64
    )
    features = x_train[:, 1:].double()
    if orthogonal:
        features = torch.linalg.qr(features).Q
    noise = features @ (features.T @ (math.sqrt(variance) * eps))
    train = Points(x_train, (x_train[:, 0].double() + noise).to(dtype))
    test = Points(x_test, x_test[:, 0].clone())
    projector = "projector on phi_noise" if orthogonal else "phi_noise phi_noise^T"
    made = (
        f"x = [phi ~ N(0, 1), phi_noise ~ N(0, I_{d}/{d})], y = phi + P N(0, {variance:g}) with "
        f"P = {projector}; test targets noiseless"
    )
    return Dataset(*train, *test, name="noisy_regression", description=(made,), seed=seed)
