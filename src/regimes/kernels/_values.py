"""The values of a kernel between two sets of points, made within bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np
import torch
from torch import Tensor

from regimes._distances import fill_distances
from regimes.kernels._covariance import Covariance, as_points

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


def gram(kernel: Kernel, x: Tensor, z: Tensor | None = None) -> Tensor:
    """The kernel (n, m) in float64, where x is.

    Args:
        kernel: a covariance, or any function from inputs (n, ...) and (m, ...) to values (n, m).
        x: points (n, ...).
        z: points (m, ...); None for x itself, and the Gram is then exactly symmetric.

    >>> gram(lambda x, z: x @ z.T, torch.tensor([[1.0], [2.0]]))
    tensor([[1., 2.],
            [2., 4.]], dtype=torch.float64)
    """
    if isinstance(kernel, Covariance):
        return kernel(x, z)
    values = torch.from_numpy(kernel_values(kernel, x, x if z is None else z)).to(x.device)
    return values if z is not None else (values + values.T) / 2


def grams(
    kernels: Mapping[str, Kernel], x: Tensor, z: Tensor | None = None
) -> dict[str, Callable[[], Tensor]]:
    """For each kernel a function that gives its `gram`; covariances share one distance matrix.

    The last kernel takes the memory of the distances, so each function is called once, in order.

    Args:
        kernels: by name.
        x: points (n, ...).
        z: points (m, ...); None for x itself.

    >>> from regimes.kernels import Gaussian, Laplace
    >>> line = torch.tensor([[0.0], [1.0]])
    >>> made = grams({"a": Laplace(1.0), "b": Gaussian(1.0)}, line)
    >>> [round(float(values()[0, 1]), 4) for values in made.values()]
    [0.3679, 0.6065]
    """
    shared = [name for name, kernel in kernels.items() if isinstance(kernel, Covariance)]
    if len(shared) < 2:
        return {name: _later(kernel, x, z) for name, kernel in kernels.items()}
    a, b = as_points("x", x), None if z is None else as_points("z", z)
    distances = fill_distances(a.new_empty(len(a), len(a if b is None else b)), a, b)
    made: dict[str, Callable[[], Tensor]] = {}
    for name, kernel in kernels.items():
        if isinstance(kernel, Covariance):
            made[name] = _of(kernel, distances, last=name == shared[-1])
        else:
            made[name] = _later(kernel, x, z)
    return made


def _later(kernel: Kernel, x: Tensor, z: Tensor | None) -> Callable[[], Tensor]:
    return lambda: gram(kernel, x, z)


def _of(kernel: Covariance, distances: Tensor, *, last: bool) -> Callable[[], Tensor]:
    return lambda: kernel.of_distance(distances if last else distances.clone())
