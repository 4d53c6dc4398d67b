"""Two-dimensional toy sets on the square [-1, 1]^2, among them that of [Baratin 2021, fig. 1]."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable

import torch
from torch import Tensor

from regimes._check import choose, positive_int
from regimes.data._dataset import Dataset, Points
from regimes.data._synthetic import signs, synthetic

_RADIUS = math.sqrt(2 / math.pi)  # the disk covers half of the square
_SPOT = 0.3


def _disk(x: Tensor) -> Tensor:
    return signs(x.norm(dim=1) <= _RADIUS)


def _half_flipped(x: Tensor) -> Tensor:
    return _disk(x) * _lower_half(x)


def _lower_half(x: Tensor) -> Tensor:
    return signs(x[:, 1] <= 0)


def _yin_yang(*centres: tuple[float, float]) -> Callable[[Tensor], Tensor]:
    def label(x: Tensor) -> Tensor:
        y = _lower_half(x)
        for centre in centres:
            y = y * signs((x - x.new_tensor(centre)).norm(dim=1) >= _SPOT)
        return y

    return label


_VARIANTS: dict[str, tuple[Callable[[Tensor], Tensor], str]] = {
    "disk": (_disk, "y = +1 where |x| <= sqrt(2/pi)"),
    "half_flipped": (_half_flipped, "y = +1 where |x| <= sqrt(2/pi), flipped where x_2 > 0"),
    "yin_yang_1": (
        _yin_yang((0.5, -0.5), (-0.5, 0.5)),
        "y = +1 where x_2 <= 0, flipped within 0.3 of (.5, -.5) and (-.5, .5)",
    ),
    "yin_yang_2": (
        _yin_yang((-0.5, -0.5), (-0.5, 0.5)),
        "y = +1 where x_2 <= 0, flipped within 0.3 of (-.5, -.5) and (-.5, .5)",
    ),
}


def disk(
    n_train: int = 500,
    seed: int = 0,
    *,
    n_test: int = 1000,
    grid: int = 50,
    variant: str = "disk",
    dtype: torch.dtype = torch.float32,
) -> Dataset:
    """Uniform points of the square [-1, 1]^2 labelled by a disk of half its area.

    y = +1 if ||x|| <= r with r = sqrt(2/pi), else -1 [Baratin 2021, app. C.1].

    Args:
        n_train: training points.
        seed: seed of the draws.
        n_test: test points, drawn like the training points.
        grid: side g of the evaluation grid `probes["grid"]`: g x g points, equally spaced and
            including the borders; reshaped to (g, g), the row is x_2 and the column x_1. 0: none.
        variant: "disk"; "half_flipped" (labels flipped for x_2 > 0); "yin_yang_1" and
            "yin_yang_2" (+1 for x_2 <= 0, flipped inside two circles of radius 0.3, centred at
            (.5, -.5), (-.5, .5) or at (-.5, -.5), (-.5, .5)). All have balanced classes.
        dtype: precision.

    Returns:
        The data set, x of shape (n, 2).

    Raises:
        ValueError: for an unknown variant or bad sizes.

    Example:
        >>> ds = disk(n_train=500, seed=0)
        >>> ds.probes["grid"].y.reshape(50, 50)[25, [0, 25, 49]]
        tensor([-1.,  1., -1.])
    """
    label, rule = choose(variant, _VARIANTS, "variant")
    side = positive_int("grid", grid, least=0)
    if side == 1:
        raise ValueError("grid=1 cannot hold both borders; use grid >= 2, or 0 for no grid")
    made = synthetic(
        "disk",
        f"x uniform on [-1, 1]^2, {rule}",
        lambda n, source: 2 * torch.rand((n, 2), generator=source, dtype=torch.float64) - 1,
        label,
        n_train=n_train,
        n_test=n_test,
        seed=seed,
        dtype=dtype,
    )
    if side == 0:
        return made
    ticks = torch.linspace(-1, 1, side, dtype=torch.float64)
    x_2, x_1 = torch.meshgrid(ticks, ticks, indexing="ij")
    x = torch.stack([x_1.reshape(-1), x_2.reshape(-1)], dim=1).to(dtype)
    return dataclasses.replace(made, probes={"grid": Points(x, label(x.double()).to(dtype))})
