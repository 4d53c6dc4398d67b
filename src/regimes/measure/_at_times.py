"""Curves that each member recorded at times of its own, read at other times."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike
from torch import Tensor


def at_times(times: Iterable[Tensor], values: Iterable[Tensor], when: ArrayLike) -> np.ndarray:
    """What each member had at some times, straight between its records.

    Args:
        times: increasing times of the records of each member, R tensors (T,), or (R, T).
        values: what was recorded then, R tensors (T,), or (R, T).
        when: the times asked for, (k,), or (R, k) for members with their own; before the first
            record and after the last it is theirs.

    Returns:
        (R, k).

    >>> import torch
    >>> at_times(torch.tensor([[0.0, 1.0, 3.0]]), torch.tensor([[4.0, 2.0, 1.0]]), [0.5, 2.0])
    array([[3. , 1.5]])
    """
    pairs = [(t.cpu().numpy(), v.cpu().numpy()) for t, v in zip(times, values, strict=True)]
    asked = np.asarray(when, dtype=float)
    if asked.ndim not in (1, 2) or (asked.ndim == 2 and len(asked) != len(pairs)):
        raise ValueError(
            f"when must have shape (k,), or (R, k) with a row for each of {len(pairs)} members, "
            f"got {asked.shape}"
        )
    if not np.isfinite(asked).all():
        raise ValueError("when holds NaN or infinite times; ask for times between the records")
    rows = asked if asked.ndim == 2 else [asked] * len(pairs)
    return np.array([np.interp(now, t, v) for now, (t, v) in zip(rows, pairs, strict=True)])
