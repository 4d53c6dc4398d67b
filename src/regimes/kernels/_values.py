"""The values of a kernel between two sets of points, made within bounded memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import torch
from torch import Tensor

Kernel: TypeAlias = Callable[[Tensor, Tensor], Tensor]

_ENTRIES = {"cpu": 2**20, "cuda": 2**26}  # kernel values made at once: what caches hold, or memory


def kernel_values(kernel: Kernel, x: Tensor, z: Tensor) -> np.ndarray:
    """The kernel (n, m) in float64 on the CPU, made some rows at a time where x and z are.

    Args:
        kernel: from inputs (n, ...) and (m, ...) to values (n, m).
        x: points (n, ...).
        z: points (m, ...).

    >>> x = torch.tensor([[1.0], [2.0]])
    >>> kernel_values(lambda x, z: x @ z.T, x, x[1:]).tolist()
    [[2.0], [4.0]]
    """
    if not len(x) or not len(z):
        raise ValueError(f"a kernel needs points on both sides, got {len(x)} and {len(z)}")
    rows = max(1, _ENTRIES.get(x.device.type, _ENTRIES["cpu"]) // len(z))
    parts = []
    for part in x.split(rows):
        made = kernel(part, z)
        if made.shape != (len(part), len(z)):
            raise ValueError(
                f"the kernel must give one value per pair, of shape {(len(part), len(z))}; it gave "
                f"{tuple(made.shape)}"
            )
        parts.append(made.double().cpu())
    values = torch.cat(parts)
    if not bool(values.isfinite().all()):
        raise ValueError("the kernel gives NaN or infinite values; look for them in x and z first")
    return values.numpy()
