"""Small tasks and the networks that learn them, always in float64: identities hold to rounding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from regimes.lab import Point
from regimes.studies._types import Dataset, Ensemble, Tensor
from regimes.studies.regimes._setting import members, task


def data_of(params: Any, point: Point, n_test: int = 20) -> Dataset:
    """The points of a block."""
    return task(params.images, params.points, n_test, device=point.device)


def networks_of(
    point: Point, data: Dataset, width: int, scales: Sequence[float], depth: int = 2, **options: Any
) -> tuple[Ensemble, list[float]]:
    """A network per scale and seed of a block, scales outermost, and their alpha."""
    d = data.x_train.shape[1]
    return members(d, width, depth, scales, point.seed, device=point.device, **options)


def distances(parameters: Mapping[str, Tensor], origin: Mapping[str, Tensor]) -> Tensor:
    """|w - w0| over all weights of every member, (R,)."""
    squares = [(parameters[k] - origin[k]).flatten(1).square().sum(1) for k in origin]
    return cast("Tensor", sum(squares)).sqrt()
