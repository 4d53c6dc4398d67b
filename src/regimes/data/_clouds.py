"""Sets of points with labels, and the voxels made of them."""

from __future__ import annotations

import dataclasses
import zipfile
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from regimes._check import positive_int, real


@dataclasses.dataclass(frozen=True, eq=False)
class Clouds:
    """Labelled sets of points, such as the atoms of molecules.

    Attributes:
        positions: (n, most, 3); beyond its number of points a row is zero.
        counts: number of points of every set, (n,).
        labels: class of every set, (n,), int64.
        kinds: kind of every point, (n, most), int64; None where there is only one.
        splits: the rows at which parts of the set begin that were made to be kept apart.
    """

    positions: Tensor
    counts: Tensor
    labels: Tensor
    kinds: Tensor | None = None
    splits: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        n = len(self.positions)
        if self.positions.ndim != 3 or self.positions.shape[2] != 3:
            raise ValueError(
                f"positions must have shape (n, points, 3), got {tuple(self.positions.shape)}"
            )
        for name in ("counts", "labels"):
            if getattr(self, name).shape != (n,):
                raise ValueError(
                    f"{name} must have shape ({n},), got {tuple(getattr(self, name).shape)}"
                )
        if n and int(self.counts.max()) > self.positions.shape[1]:
            raise ValueError(
                f"a set of {int(self.counts.max())} points does not fit in positions of shape "
                f"{tuple(self.positions.shape)}"
            )

    def __len__(self) -> int:
        """Number of sets."""
        return len(self.positions)

    def take(self, index: Tensor | slice) -> Clouds:
        """Some of the sets."""
        kinds = None if self.kinds is None else self.kinds[index]
        return Clouds(self.positions[index], self.counts[index], self.labels[index], kinds)

    def rotated(self, turns: Tensor) -> Clouds:
        """Every set turned about the origin by its own matrix, (n, 3, 3)."""
        moved = self.positions @ turns.to(self.positions).mT
        return dataclasses.replace(self, positions=moved)


def voxelize_points(
    clouds: Clouds,
    side: int = 50,
    step: float = 2.0,
    *,
    width: float = 0.5,
    dtype: torch.dtype = torch.float32,
) -> Tensor:
    """A Gaussian for every point on the voxels around the origin, a channel for every kind.

    Each sums to one over the grid; for step = 0.2 nm and alpha carbons this is the input of
    [Weiler 2018, suppl. 5.1].

    Args:
        clouds: the points; those outside the grid are left out.
        side: voxels of a side.
        step: side of a voxel in the units of the positions.
        width: standard deviation of the Gaussians in voxels.
        dtype: of the result.

    Returns:
        (n, channels, side, side, side).

    Example:
        >>> one = Clouds(torch.zeros(1, 1, 3), torch.ones(1).long(), torch.zeros(1).long())
        >>> float(voxelize_points(one, 5).sum())
        1.0
    """
    side, step = positive_int("side", side), real("step", step, above=0)
    sd = real("width", width, above=0)
    axis = torch.arange(side, dtype=torch.float64) - (side - 1) / 2
    channels = 1 if clouds.kinds is None else int(clouds.kinds.max()) + 1
    found = torch.zeros(len(clouds), channels, side, side, side, dtype=dtype)
    for k in range(len(clouds)):
        count = int(clouds.counts[k])
        at = clouds.positions[k, :count].double() / step
        kinds = torch.zeros(count).long() if clouds.kinds is None else clouds.kinds[k, :count]
        inside = (at.abs() < side / 2).all(1)
        at, kinds = at[inside], kinds[inside]
        weights = torch.exp(-((at[..., None] - axis) ** 2) / (2 * sd**2))
        weights = weights / weights.sum(-1, keepdim=True)
        x, y, z = weights.to(dtype).unbind(1)
        for kind in kinds.unique().tolist():
            own = kinds == kind
            found[k, kind] = torch.einsum("px,py,pz->xyz", x[own], y[own], z[own])
    return found


def read_clouds(path: str | Path, what: str, keys: dict[str, str]) -> dict[str, np.ndarray]:
    """Arrays of an npz file of a user's own, or a ValueError that says what file is expected.

    Args:
        path: the file.
        what: what it holds, for the errors.
        keys: names of the arrays with what each of them is.
    """
    file = Path(path).expanduser()
    listing = ", ".join(f"{key} {meaning}" for key, meaning in keys.items())
    expected = f"{what} come from a file of your own, an npz with the arrays {listing}"
    if not file.is_file():
        raise ValueError(f"{expected}; there is no file {file}")
    if not zipfile.is_zipfile(file):
        raise ValueError(f"{expected}; {file} is no npz archive")
    try:
        with np.load(file, allow_pickle=False) as arrays:
            missing = [key for key in keys if key not in arrays]
            if missing:
                raise ValueError(f"{expected}; {file} has no {', '.join(missing)}")
            return {key: arrays[key] for key in keys}
    except (OSError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"{expected}; {file} cannot be read as one ({error})") from error
