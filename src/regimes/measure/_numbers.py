"""Measured numbers as the fits take them: any array, as float64 on the CPU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import torch
from torch import Tensor

from regimes._check import choose, positive_int
from regimes._random import generator

Numbers: TypeAlias = Tensor | np.ndarray | Sequence[float] | Sequence[Sequence[float]]

_CENTERS = {"median": "median", "mean": "mean"}


def numbers(name: str, values: Numbers, *, positive: bool = False) -> Tensor:
    """`values` as a finite float64 tensor, or a ValueError that names the argument."""
    if isinstance(values, Tensor):
        values = values.detach().cpu()
    try:
        found = torch.as_tensor(np.asarray(values, dtype=np.float64).copy())
    except (TypeError, ValueError) as failure:
        raise ValueError(f"{name} must be an array of numbers: {failure}") from None
    if found.numel() == 0 or not bool(found.isfinite().all()):
        raise ValueError(
            f"{name} must be a non-empty array of finite numbers, got shape {tuple(found.shape)} "
            f"with {int((~found.isfinite()).sum())} NaN or infinite; drop those first"
        )
    if positive and bool((found <= 0).any()):
        raise ValueError(
            f"{name} must be positive on logarithmic axes, its least entry is {float(found.min())}"
        )
    return found


def curve(name: str, x: Tensor, values: Numbers, *, positive: bool) -> Tensor:
    """Values (n,) or (seeds, n) that belong to the abscissae x (n,)."""
    y = numbers(name, values, positive=positive)
    if y.ndim not in (1, 2) or y.shape[-1] != len(x):
        raise ValueError(
            f"{name} must have shape ({len(x)},) or (seeds, {len(x)}), got {tuple(y.shape)}"
        )
    if y.ndim == 2 and len(y) < 2:
        raise ValueError(
            f"{name} has a seed axis with one seed, which gives no error bar; "
            "pass it with shape (n,)"
        )
    return y


def over_seeds(y: Tensor, center: str) -> Tensor:
    """Median or mean over the seed axis, the last but one."""
    if choose(center, _CENTERS, "center") == "mean":
        return y.mean(-2)
    ordered, count = y.sort(dim=-2).values, y.shape[-2]
    return (ordered[..., (count - 1) // 2, :] + ordered[..., count // 2, :]) / 2


def resampled(y: Tensor, center: str, resamples: int, seed: int) -> Tensor:
    """Bootstrap curves (resamples, n): seeds drawn with replacement, whole rows at a time."""
    count = positive_int("resamples", resamples, least=2)
    draw = generator(seed, "bootstrap")
    rows = torch.randint(len(y), (count, len(y)), generator=draw)
    return over_seeds(y[rows], center)
