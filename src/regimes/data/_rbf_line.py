"""Random Fourier features [Rahimi 2007] of a line, for [Baratin 2021, fig. 9]."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from regimes._check import positive_int, real
from regimes._random import generator
from regimes.data._dataset import Dataset, Points, float_dtype
from regimes.data._synthetic import signs


def rbf_line(
    N: int = 1000,
    P: int = 1000,
    a: float = 1.0,
    gamma: float = 1.0,
    seed: int = 0,
    *,
    n_train: int = 50,
    n_test: int | None = None,
    label_mode: int = 1,
    dtype: torch.dtype = torch.float32,
) -> Dataset:
    """A linear model in random Fourier features, labelled by the sign of a singular function.

    N equally spaced points t of [-a, a] with P features z(t) = sqrt(2/P) cos(omega t + b),
    omega ~ N(0, 2 gamma), b uniform on [0, 2 pi], so that z(t).z(s) is close to the RBF kernel
    exp(-gamma (t-s)^2). With the singular value decomposition Phi = sum_j sqrt(l_j) psi_j phi_j^T
    of the (N, P) feature matrix, y = sign of psi_j for j = `label_mode`, counted from 0: mode 0
    has (almost) one sign, so the default is 1. The sign of psi_j is such that the rightmost of
    its entries larger than half the maximum is positive.

    Args:
        N: points of the line.
        P: features.
        a: half-width of the line.
        gamma: inverse squared width of the kernel.
        seed: seed of the features and of the choice of training points.
        n_train: training points, drawn from the N.
        n_test: test points, from the others; None takes all of them.
        label_mode: j.
        dtype: precision.

    Returns:
        The data set; x holds features, (n, P). `probes["line"]` has all N points in order, whose
        positions are linspace(-a, a, N).

    Raises:
        ValueError: for bad sizes, or a mode the feature matrix does not have.

    Example:
        >>> ds = rbf_line(N=100, P=80, n_train=20)
        >>> ds.n_train, ds.n_test, ds.probes["line"].x.shape
        (20, 80, torch.Size([100, 80]))
        >>> int((ds.probes["line"].y.diff() != 0).sum())  # psi_1 changes sign once
        1
    """
    float_dtype(dtype)
    N, P = positive_int("N", N, least=2), positive_int("P", P)
    width, rate = real("a", a, above=0), real("gamma", gamma, above=0)
    n_train = positive_int("n_train", n_train)
    rest, asked = N - n_train, n_test
    n_test = rest if n_test is None else positive_int("n_test", n_test, least=0)
    if rest < 0 or n_test > rest:
        raise ValueError(f"n_train={n_train} and n_test={n_test} do not fit into N={N} points")
    if rest == 0 and asked is None:
        raise ValueError(f"n_train={n_train} leaves no test points of N={N}; say n_test=0 for none")
    mode = positive_int("label_mode", label_mode, least=0)
    if mode >= min(N, P):
        raise ValueError(f"label_mode={mode} needs more than {min(N, P)} singular functions")

    positions = torch.linspace(-width, width, N, dtype=torch.float64)
    source = generator(seed, "rbf_line/features")
    omega = math.sqrt(2 * rate) * torch.randn(P, generator=source, dtype=torch.float64)
    phase = 2 * math.pi * torch.rand(P, generator=source, dtype=torch.float64)
    x = (math.sqrt(2 / P) * torch.cos(positions[:, None] * omega + phase)).to(dtype)
    y = signs(_singular_function(x.double(), mode) > 0).to(dtype)
    order = torch.randperm(N, generator=generator(seed, "rbf_line/split"))
    train, test = order[:n_train], order[n_train : n_train + n_test]
    made = (
        f"{N} points t of [-{width:g}, {width:g}], {P} features cos(omega t + b) of the kernel "
        f"exp(-{rate:g} (t-s)^2), y = sign of singular function {mode}"
    )
    return Dataset(
        x[train],
        y[train],
        x[test],
        y[test],
        name="rbf_line",
        description=(made,),
        seed=seed,
        probes={"line": Points(x, y)},
    )


def _singular_function(features: Tensor, mode: int) -> Tensor:
    psi = torch.linalg.svd(features, full_matrices=False).U[:, mode]
    large = torch.nonzero(psi.abs() > psi.abs().max() / 2)
    return psi * psi[large[-1, 0]].sign()
