"""Arithmetic of step control for many members or one.

Numbers of m members are arrays (m,). Those of one member may be numpy's scalars instead: they add
and compare like arrays at a tenth of the price. Or they are tensors (m,) where the state is, so
that no step waits for the host. These functions are what scalars and tensors lack.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from regimes.flow._readings import Floats


def lone(values: Floats) -> Any:
    """The number of a single member, or the numbers of several as they are.

    >>> lone(np.array([2.0])) + 1, lone(np.array([2.0, 3.0])) + 1
    (np.float64(3.0), array([3., 4.]))
    """
    single = isinstance(values, np.ndarray) and len(values) == 1
    return values[0] if single else values


def where(condition: Floats, yes: Any, no: Any) -> Any:
    """`numpy.where`."""
    if isinstance(condition, Tensor):
        return torch.where(condition, yes, no)
    if isinstance(condition, np.ndarray):
        return np.where(condition, yes, no)
    return yes if condition else no


def larger(first: Floats, second: Any) -> Any:
    """`numpy.maximum`: what is not a number stays so."""
    if isinstance(first, Tensor):
        return first.maximum(second) if isinstance(second, Tensor) else first.clamp_min(second)
    if isinstance(first, np.ndarray) or isinstance(second, np.ndarray):
        return np.maximum(first, second)
    return first if first >= second or first != first else second


def root(values: Floats) -> Any:
    """`numpy.sqrt`."""
    return values.sqrt() if isinstance(values, Tensor) else np.sqrt(values)


def finite_numbers(values: Floats) -> Any:
    """`numpy.isfinite`, in operations that cost little on scalars."""
    return abs(values) < np.inf


def beside(tensor: Tensor, values: Floats) -> Tensor:
    """The numbers as a tensor (m,), where `tensor` is and in its precision."""
    if isinstance(values, Tensor):
        return values.to(tensor)
    if isinstance(values, np.ndarray):
        return torch.from_numpy(values).to(tensor)
    return tensor.new_full((1,), float(values))


def some(condition: Floats) -> bool:
    """Whether it holds for any member."""
    return bool(condition.any() if isinstance(condition, np.ndarray) else condition)


def every(condition: Floats) -> bool:
    """Whether it holds for all members."""
    return bool(condition.all() if isinstance(condition, np.ndarray) else condition)
