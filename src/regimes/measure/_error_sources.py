"""The mean square error of nested draws, split into bias and variances."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from regimes.measure._kernel import check_tensor


@dataclass(frozen=True)
class ErrorSources:
    """Unbiased estimates, which may come out negative where they are small; they add up to it."""

    bias: float  # square distance of the mean over everything from the target
    members: float  # variance over the draws within a set, such as initialisations
    sets: float  # variance over the sets, such as training points


def error_sources(f: Tensor, y: Tensor) -> ErrorSources:
    """Bias and variances of `mean (f - y)^2` over sets and members, as in [d'Ascoli 2020].

    Args:
        f: predictions (sets, members, n); the draws of each set are its own. A variance of one draw
            is NaN, and so is what rests on it.
        y: target, (n,).

    >>> f = torch.tensor([[[1.0], [3.0]], [[2.0], [2.0]]])
    >>> error_sources(f, torch.zeros(1))
    ErrorSources(bias=4.0, members=1.0, sets=-0.5)
    """
    f = check_tensor("f", f)
    if f.ndim != 3 or y.shape != f.shape[2:]:
        raise ValueError(
            "f must have shape (sets, members, n) and y (n,), got "
            f"{tuple(f.shape)} and {tuple(y.shape)}"
        )
    count, draws, y = *f.shape[:2], y.to(f)
    means = torch.stack([own.mean(0) for own in f])
    members = float(np.mean([_variance(own) for own in f]))
    sets = _variance(means) - members / draws
    bias = float((means.mean(0) - y).square().mean())
    return ErrorSources(bias - (sets + members / draws) / count, members, sets)


def _variance(f: Tensor) -> float:
    return float(f.var(0).mean()) if len(f) > 1 else math.nan
