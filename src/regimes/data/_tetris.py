"""Eight Tetris pieces in space, to be told apart in every orientation [Weiler 2018, sec. 5.1]."""

from __future__ import annotations

import torch
from torch import Tensor

from regimes._check import choose, positive_int, real
from regimes._grids import move_grid
from regimes._random import generator
from regimes._rotations import haar_rotations
from regimes.data._dataset import Dataset, float_dtype

_CELL = 4  # sides of the cell in which pieces are given

# four cells each; the first two are mirror images of each other
TETRIS = {
    "chiral left": ((0, 0, 0), (0, 0, 1), (1, 0, 0), (1, 1, 0)),
    "chiral right": ((0, 1, 0), (0, 1, 1), (1, 1, 0), (1, 0, 0)),
    "square": ((0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0)),
    "line": ((0, 0, 0), (0, 0, 1), (0, 0, 2), (0, 0, 3)),
    "corner": ((0, 0, 0), (0, 0, 1), (0, 1, 0), (1, 0, 0)),
    "L": ((0, 0, 0), (0, 0, 1), (0, 0, 2), (0, 1, 0)),
    "T": ((0, 0, 0), (0, 0, 1), (0, 0, 2), (0, 1, 1)),
    "zigzag": ((0, 0, 0), (1, 0, 0), (1, 1, 0), (2, 1, 0)),
}


def tetris(
    kind: str = "density",
    side: int = 16,
    n_rotations: int = 100,
    seed: int = 0,
    *,
    pitch: float = 2.5,
    width: float = 1.1,
    zoom: int = 5,
    orientation: str = "fixed",
    centred: bool = True,
    dtype: torch.dtype = torch.float32,
) -> Dataset:
    """Eight pieces in one orientation for training, in many random ones for testing.

    Args:
        kind: "density": a Gaussian at the middle of every rotated cell, free of errors of
            interpolation; "voxel": cells of `zoom` voxels, rotated by linear interpolation;
            "points": the four middles, in units of a cell.
        side: voxels of a side; 36 is the paper's for "voxel".
        n_rotations: each turns all eight pieces, so 8 times as many test points.
        seed: of the rotations.
        pitch: voxels between neighbouring cells ("density").
        width: standard deviation of the Gaussians in voxels.
        zoom: voxels a side of a cell ("voxel").
        orientation: "fixed" as they are written, or "random", one for each piece.
        centred: rotate about the middle of the piece; else about that of its cell of 4x4x4.
        dtype: precision.

    Returns:
        x of shape (n, 1, side, side, side), or (n, 4, 3) for points; labels 0 to 7.

    Raises:
        ValueError: for names and sizes that do not fit.

    Example:
        >>> ds = tetris(n_rotations=2)
        >>> ds.x_train.shape, ds.x_test.shape, ds.classes
        (torch.Size([8, 1, 16, 16, 16]), torch.Size([16, 1, 16, 16, 16]), (0, 1, 2, 3, 4, 5, 6, 7))
    """
    make = choose(kind, {"density": _density, "voxel": _voxel, "points": _points}, "kind")
    choose(orientation, {"fixed": 0, "random": 1}, "orientation")
    float_dtype(dtype)
    n, side = positive_int("n_rotations", n_rotations, least=0), positive_int("side", side)
    sizes = real("pitch", pitch, above=0), real("width", width, above=0), positive_int("zoom", zoom)
    pieces = torch.tensor(list(TETRIS.values()), dtype=torch.float64)
    middle = pieces.mean(1, keepdim=True) if centred else torch.full((1, 1, 3), (_CELL - 1) / 2.0)
    pieces = pieces - middle
    if orientation == "random":
        start = haar_rotations(len(pieces), generator(seed, "tetris/start"))
    else:
        start = torch.eye(3, dtype=torch.float64).expand(len(pieces), 3, 3)
    turns = haar_rotations(n, generator(seed, "tetris/test")).repeat_interleave(len(pieces), 0)
    train = make(pieces, start, side, sizes)
    test = make(pieces.repeat(n, 1, 1), turns @ start.repeat(n, 1, 1), side, sizes)
    labels = torch.arange(len(pieces))
    return Dataset(
        train.to(dtype),
        labels,
        test.to(dtype),
        labels.repeat(n),
        name="tetris",
        description=(
            f"8 pieces of 4 cells, {kind}, {orientation} orientation for training, "
            f"{n} random rotations for testing",
        ),
        seed=seed,
    )


def _points(pieces: Tensor, turns: Tensor, side: int, sizes: tuple[float, float, int]) -> Tensor:
    return pieces @ turns.mT


def _density(pieces: Tensor, turns: Tensor, side: int, sizes: tuple[float, float, int]) -> Tensor:
    pitch, width, _ = sizes
    axis = torch.arange(side, dtype=torch.float64) - (side - 1) / 2
    away = pitch * (pieces @ turns.mT)[..., None] - axis  # (n, 4, 3, side)
    x, y, z = torch.exp(-(away**2) / (2 * width**2)).unbind(2)
    return torch.einsum("npx,npy,npz->nxyz", x, y, z).unsqueeze(1)


def _voxel(pieces: Tensor, turns: Tensor, side: int, sizes: tuple[float, float, int]) -> Tensor:
    """Cells as cubes of zoom voxels, drawn where they are and turned by linear interpolation."""
    zoom = sizes[2]
    axis = (torch.arange(side, dtype=torch.float64) - (side - 1) / 2) / zoom
    found = torch.zeros(len(pieces), 1, side, side, side, dtype=torch.float64)
    for k, (piece, turn) in enumerate(zip(pieces, turns, strict=True)):
        away = axis - piece[..., None]
        inside = (away > -0.5 - 1e-9) & (away < 0.5 - 1e-9)  # half-open: zoom voxels a cell
        cells = torch.einsum("px,py,pz->xyz", *inside.double().unbind(1)).clamp(max=1)
        found[k, 0] = move_grid(cells, turn, spline=1)
    return found
