"""What is learned: points with targets to draw from, or a teacher that makes both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import torch
from torch import Tensor

from regimes._check import positive_int, shown
from regimes._distances import repeated_rows
from regimes._random import generator
from regimes.data import Dataset, manifold_points
from regimes.kernels import Kernel

Arrays: TypeAlias = tuple[Any, Any]  # points (n, ...) and targets (n,)


@dataclass(frozen=True, eq=False)
class Drawn:
    """The points of one repeat."""

    x: Tensor  # training points
    y: Tensor
    x_test: Tensor
    y_test: Tensor


@dataclass(frozen=True, eq=False)
class Pool:
    """Points to draw training and test sets from, without those that are there twice."""

    x: Tensor  # (n, ...), all different
    y: Tensor  # (n,)
    x_test: Tensor | None  # where the test points are given; None draws them from the same pool
    y_test: Tensor | None
    duplicates: int  # points that were left out because an earlier one is equal

    def drawn(self, n: int, n_test: int, seed: int, repeat: int) -> Drawn:
        """`n` training and `n_test` other points, anew in each repeat."""
        source = generator(seed, f"repeat {repeat}")
        order = torch.randperm(len(self.x), generator=source)
        if self.x_test is None or self.y_test is None:
            train, test = order[:n], order[n : n + n_test]
            return Drawn(self.x[train], self.y[train], self.x[test], self.y[test])
        test = torch.randperm(len(self.x_test), generator=source)[:n_test]
        return Drawn(self.x[order[:n]], self.y[order[:n]], self.x_test[test], self.y_test[test])

    def most(self, n_test: int) -> int:
        """Training points there are besides `n_test` test points."""
        return len(self.x) - (n_test if self.x_test is None else 0)


@dataclass(frozen=True)
class Teacher:
    """Targets that are Gaussian fields on a manifold [Spigler 2020, sec. 4].

    The error is averaged over the fields of the kernel exactly; only the points are drawn.

    Raises:
        ValueError: no kernel, a dimension below 1, an unknown manifold.
    """

    kernel: Kernel
    d: int
    manifold: str = "sphere"  # "sphere", "torus" or "cloud"

    def __post_init__(self) -> None:
        if not callable(self.kernel):
            raise ValueError(
                "the kernel of a Teacher must be a covariance, such as kernels.Laplace(1.0), got "
                f"{shown(self.kernel)}"
            )
        positive_int("d", self.d)
        manifold_points(self.manifold, 1, self.d)  # refuses an unknown one

    def points(self, n: int, n_test: int, seed: int, repeat: int) -> tuple[Tensor, Tensor]:
        """Training and test points of one repeat."""
        start = int(torch.randint(2**62, (), generator=generator(seed, f"repeat {repeat}")))
        both = manifold_points(self.manifold, n + n_test, self.d, start)
        return both[:n], both[n:]


def as_pool(task: Dataset | Arrays, device: str | None) -> Pool:
    """Arrays or a data set as a pool."""
    if isinstance(task, Dataset):
        x, y = task.x_train, task.y_train
        tested = len(task.x_test) > 0
        x, y, repeats = _distinct(x, y)
        given = (task.x_test, task.y_test.double()) if tested else (None, None)
        made = Pool(x, y, given[0], given[1], repeats)
    else:
        if not isinstance(task, tuple | list) or len(task) != 2:
            raise ValueError(
                "task must be (points, targets), a Dataset or a Teacher, got " + shown(task)
            )
        x, y = _tensor("points", task[0]), _tensor("targets", task[1])
        if y.ndim != 1 or x.ndim < 1 or len(x) != len(y):
            raise ValueError(
                f"targets must have shape ({len(x)},), one for each point, got {tuple(y.shape)}"
            )
        if x.ndim == 1:
            x = x[:, None]
        x, y, repeats = _distinct(x, y)
        made = Pool(x, y, None, None, repeats)
    if device is None:
        return made
    moved = [None if each is None else each.to(device) for each in (made.x_test, made.y_test)]
    return Pool(made.x.to(device), made.y.to(device), moved[0], moved[1], made.duplicates)


def _distinct(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, int]:
    repeats = repeated_rows(x)
    if not len(repeats):
        return x, y.double(), 0
    kept = torch.ones(len(x), dtype=torch.bool, device=x.device)
    kept[repeats] = False
    return x[kept], y[kept].double(), len(repeats)


def _tensor(name: str, values: Any) -> Tensor:
    try:
        found = values if isinstance(values, Tensor) else torch.as_tensor(np.asarray(values))
    except (TypeError, ValueError) as failure:
        raise ValueError(f"{name} must be an array of numbers: {failure}") from None
    if not found.is_floating_point() and found.dtype != torch.bool:
        found = found.double()
    if found.dtype == torch.bool or not found.numel():
        raise ValueError(f"{name} must be a non-empty array of numbers, got {shown(values)}")
    if not bool(found.isfinite().all()):
        raise ValueError(f"{name} holds NaN or infinite numbers; drop those points first")
    return found.detach()


def check_counts(repeats: int, n_test: int) -> tuple[int, int]:
    """Repeats and test points."""
    return positive_int("repeats", repeats), positive_int("n_test", n_test)
