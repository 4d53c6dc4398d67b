"""How close points come as there are more of them, and the dimension that this tells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from regimes._check import positive_int, shown
from regimes._distances import distance_tiles, repeated_rows
from regimes._random import generator
from regimes.measure._kernel import check_tensor
from regimes.measure._power_law import power_law


@dataclass(frozen=True)
class DistanceDimension:
    """`-1/slope` of log distance against log n."""

    value: float
    error: float  # from resampled subsets; NaN for a single repeat of two sizes
    window: tuple[float, float]  # smallest and largest n used
    duplicates: int  # points left out because an earlier one is equal


@dataclass(frozen=True, eq=False)
class NeighbourDistance:
    """Mean distance to the nearest other point, in random subsets."""

    sizes: Tensor  # (s,), points in a subset
    distances: Tensor  # (repeats, s), float64 on the CPU
    duplicates: int  # points left out because an earlier one is equal

    def dimension(self, window: tuple[float, float] | None = None) -> DistanceDimension:
        """`d` of `distance ~ n^(-1/d)` [Spigler 2020, sec. 7].

        Args:
            window: smallest and largest n; None takes the largest decade.
        """
        n = self.sizes.double()
        window = (float(n[-1]) / 10, float(n[-1])) if window is None else window
        values = self.distances if len(self.distances) > 1 else self.distances[0]
        fit = power_law(n, values, window=window, center="mean")
        if not fit.exponent < 0:
            raise ValueError("the distances do not fall with n: give more points or other sizes")
        d = -1 / fit.exponent
        return DistanceDimension(d, d**2 * fit.error, fit.range, self.duplicates)


def nn_distance(
    x: Tensor, n: int | Sequence[int], repeats: int = 1, *, seed: int = 0
) -> NeighbourDistance:
    """Mean distance to the nearest other point in random subsets of size n [Spigler 2020, sec. 7].

    In a repeat the smaller subsets are parts of the larger ones, so that distances are computed
    once; repeats are drawn anew from all points. Points equal to an earlier one are left out first.

    Args:
        x: points (p, ...).
        n: one size or several increasing ones, at most the number of different points.
        repeats: random subsets of each size.
        seed: of the draws.

    >>> x = torch.rand(2000, 2, generator=torch.Generator().manual_seed(0))
    >>> 1.8 < nn_distance(x, (200, 500, 1000, 2000), 4).dimension().value < 2.2
    True
    """
    points = check_tensor("x", x)
    if points.ndim < 2:
        raise ValueError(f"x must be points (p, ...), got {shown(x)}")
    flat = points.double().reshape(len(points), -1)
    repeated = repeated_rows(flat)
    if len(repeated):
        kept = torch.ones(len(flat), dtype=torch.bool, device=flat.device)
        kept[repeated] = False
        flat = flat[kept]
    given = (n,) if isinstance(n, int) else tuple(n)
    sizes = [positive_int("n", each, least=2) for each in given]
    if not sizes or sizes != sorted(set(sizes)) or sizes[-1] > len(flat):
        raise ValueError(
            f"n must be increasing sizes up to the {len(flat)} different points, got {shown(n)}"
        )
    draws = generator(seed, "subsets")
    rows = []
    for _ in range(positive_int("repeats", repeats)):
        order = torch.randperm(len(flat), generator=draws)[: sizes[-1]].to(flat.device)
        rows.append(_nearest(flat[order], sizes))
    return NeighbourDistance(
        torch.tensor(sizes), torch.tensor(rows, dtype=torch.float64), len(repeated)
    )


def _nearest(points: Tensor, sizes: list[int]) -> list[float]:
    """Mean nearest distance among the first n points, for each n."""
    nearest = torch.full((len(sizes), len(points)), torch.inf, dtype=points.dtype)
    nearest = nearest.to(points.device)
    for i, j, tile in distance_tiles(points):
        if i == j:
            tile.fill_diagonal_(torch.inf)
        for k, n in enumerate(sizes):
            a, b = min(n - i, len(tile)), min(n - j, tile.shape[1])
            if a > 0 and b > 0:
                part = tile[:a, :b]
                _lower(nearest[k, i : i + a], part.amin(1))
                if i != j:
                    _lower(nearest[k, j : j + b], part.amin(0))
    return [float(nearest[k, :n].mean()) for k, n in enumerate(sizes)]


def _lower(kept: Tensor, found: Tensor) -> None:
    torch.minimum(kept, found, out=kept)
