"""Ten families of solids with random proportions, told by what is inside."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from regimes._check import positive_int
from regimes._random import generator
from regimes._rotations import haar_rotations
from regimes.data._dataset import Dataset, float_dtype

Inside = Callable[[Tensor, "list[float]"], Tensor]


def _box(p: Tensor, a: list[float]) -> Tensor:
    return _block(p, (0, 0, 0), (0.35 + 0.3 * a[0], 0.25 + 0.25 * a[1], 0.15 + 0.15 * a[2]))


def _cylinder(p: Tensor, a: list[float]) -> Tensor:
    return (p[..., :2].norm(dim=-1) < 0.2 + 0.2 * a[0]) & (p[..., 2].abs() < 0.4 + 0.3 * a[1])


def _cone(p: Tensor, a: list[float]) -> Tensor:
    height, base = 0.45 + 0.25 * a[1], 0.35 + 0.25 * a[0]
    share = (height - p[..., 2]) / (2 * height)
    return (p[..., :2].norm(dim=-1) < base * share) & (p[..., 2].abs() < height)


def _torus(p: Tensor, a: list[float]) -> Tensor:
    ring = p[..., :2].norm(dim=-1) - (0.4 + 0.15 * a[0])
    return torch.hypot(ring, p[..., 2]) < 0.13 + 0.09 * a[1]


def _ellipsoid(p: Tensor, a: list[float]) -> Tensor:
    axes = torch.tensor([0.4 + 0.25 * a[0], 0.25 + 0.2 * a[1], 0.2 + 0.15 * a[2]]).to(p)
    return (p / axes).norm(dim=-1) < 1


def _table(p: Tensor, a: list[float]) -> Tensor:
    wide, deep, leg = 0.35 + 0.2 * a[0], 0.3 + 0.15 * a[1], 0.06 + 0.04 * a[2]
    found = _block(p, (0, 0, 0.3), (wide, deep, 0.08))
    for x in (-1, 1):
        for y in (-1, 1):
            found = found | _block(p, (x * (wide - leg), y * (deep - leg), -0.1), (leg, leg, 0.42))
    return found


def _bracket(p: Tensor, a: list[float]) -> Tensor:
    thick, width = 0.09 + 0.06 * a[0], 0.2 + 0.2 * a[1]
    return _block(p, (0, 0, -0.4), (0.5, width, thick)) | _block(
        p, (-0.4, 0, 0), (thick, width, 0.5)
    )


def _cross(p: Tensor, a: list[float]) -> Tensor:
    thick, long = 0.1 + 0.06 * a[0], 0.4 + 0.2 * a[1]
    arms = [(long, thick, thick), (thick, long, thick), (thick, thick, long)]
    return (
        _block(p, (0, 0, 0), arms[0])
        | _block(p, (0, 0, 0), arms[1])
        | _block(p, (0, 0, 0), arms[2])
    )


def _star(p: Tensor, a: list[float]) -> Tensor:
    angle = torch.atan2(p[..., 1], p[..., 0])
    edge = (0.38 + 0.1 * a[0]) * (1 + (0.3 + 0.2 * a[1]) * torch.cos(5 * angle))
    return (p[..., :2].norm(dim=-1) < edge) & (p[..., 2].abs() < 0.15 + 0.2 * a[2])


def _spring(p: Tensor, a: list[float]) -> Tensor:
    """A tube around two turns of a helix."""
    radius, tube = 0.32 + 0.12 * a[0], 0.1 + 0.05 * a[1]
    turn = torch.linspace(-2 * math.pi, 2 * math.pi, 60).to(p)
    height = turn / (2 * math.pi) * (0.4 + 0.15 * a[2])
    line = torch.stack([radius * turn.cos(), radius * turn.sin(), height], 1)
    return torch.cdist(p.reshape(-1, 3), line).amin(1).view(p.shape[:-1]) < tube


def _block(
    p: Tensor, middle: tuple[float, float, float], half: tuple[float, float, float]
) -> Tensor:
    sides = torch.tensor(half).to(p)
    return ((p - torch.tensor(middle).to(p)).abs() < sides).all(-1)


SOLIDS: dict[str, Inside] = {
    "box": _box,
    "cylinder": _cylinder,
    "cone": _cone,
    "torus": _torus,
    "ellipsoid": _ellipsoid,
    "plate with four legs": _table,
    "bracket": _bracket,
    "cross": _cross,
    "star": _star,
    "spring": _spring,
}


def solids(
    n_train: int = 100,
    n_test: int = 100,
    side: int = 24,
    seed: int = 0,
    *,
    classes: int = 10,
    rotate: str = "both",
    dtype: torch.dtype = torch.float32,
) -> Dataset:
    """Solids of ten families in a cube of voxels: 1 inside, 0 outside.

    Proportions are drawn evenly; every solid fits into the ball inside the cube.

    Args:
        n_train: training solids, families in turn.
        n_test: test solids.
        side: voxels of a side.
        seed: of all draws; sizes of the two sets do not change each other.
        classes: the first so many families.
        rotate: which set is turned at random: "both", "test" or "none".
        dtype: precision.

    Returns:
        x of shape (n, 1, side, side, side), labels from 0.

    Raises:
        ValueError: for sizes and names that do not fit.

    Example:
        >>> solids(10, 5, 12).x_train.shape
        torch.Size([10, 1, 12, 12, 12])
    """
    float_dtype(dtype)
    if rotate not in ("both", "test", "none"):
        raise ValueError(f"rotate must be 'both', 'test' or 'none', got {rotate!r}")
    if positive_int("classes", classes) > len(SOLIDS):
        raise ValueError(f"there are {len(SOLIDS)} families, got classes={classes!r}")
    side, families = positive_int("side", side), list(SOLIDS.values())[:classes]
    axis = (torch.arange(side, dtype=torch.float64) - (side - 1) / 2) * 2 / side
    grid = torch.stack(torch.meshgrid(axis, axis, axis, indexing="ij"), -1)

    def drawn(n: int, part: str) -> tuple[Tensor, Tensor]:
        x = torch.zeros(n, 1, side, side, side, dtype=dtype)
        for k in range(n):
            source = generator(seed, f"solids/{part}/{k}")
            shape = torch.rand(3, generator=source, dtype=torch.float64).tolist()
            turn = haar_rotations(1, source)[0]
            turned = rotate == "both" or (rotate == "test" and part == "test")
            x[k, 0] = families[k % classes](grid @ turn if turned else grid, shape)
        return x, torch.arange(n) % classes

    train, test = drawn(positive_int("n_train", n_train), "train"), drawn(n_test, "test")
    return Dataset(
        *train,
        *test,
        name="solids",
        description=(f"{classes} families of solids on {side}^3 voxels, turned: {rotate}",),
        seed=seed,
    )
