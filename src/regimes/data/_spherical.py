"""Images put on the sphere, and molecules seen from spheres around their atoms."""

from __future__ import annotations

import torch
from torch import Tensor

from regimes._check import choose, positive_int, real
from regimes._random import generator
from regimes._rotations import grid_angles, random_rotations, sphere_point

ELEMENTS = (1, 6, 7, 8, 16)  # charges of the atoms of QM7
QM7_RADIUS = 0.9585 / 2  # half the smallest distance of two atoms there, in Angstrom
_AT_ONCE = 256
_FAR = 1e6  # nothing is so far away


def spherical_mnist(
    images: Tensor, b: int = 30, rotate: bool = False, seed: int = 0, chunk: int = 1
) -> Tensor:
    """Images on the sphere: a square in the plane that touches a pole, seen from the other pole.

    The stereographic map takes the angle theta from the pole to `2 tan(theta/2)` in the plane,
    where the image is a square of half-side 1.5; it is read between its pixels, and 0 outside
    [Cohen 2018, section 5.2].

    Args:
        images: (n, 1, h, w) or (n, h, w), floating point.
        b: bandwidth of the grid, 2b x 2b points.
        rotate: turn each image by a random rotation of the sphere.
        seed: seed of the rotations.
        chunk: so many images in a row share a rotation; the paper's programs had 500.

    Returns:
        Signals (n, 1, 2b latitudes, 2b longitudes).

    Example:
        >>> spherical_mnist(torch.rand(3, 8, 8), b=4, rotate=True).shape
        torch.Size([3, 1, 8, 8])
    """
    if (
        not isinstance(images, Tensor)
        or not images.is_floating_point()
        or images.ndim not in (3, 4)
    ):
        raise ValueError(
            "images must be a floating point tensor of shape (n, 1, h, w) or (n, h, w)"
        )
    images = images[:, None] if images.ndim == 3 else images
    if images.shape[1] != 1 or 0 in images.shape:
        raise ValueError(f"images must have one channel and pixels, got {tuple(images.shape)}")
    if not bool(images.isfinite().all()):
        raise ValueError("images holds NaN or infinite values")
    positive_int("chunk", chunk)
    beta, alpha = grid_angles(b)
    points = sphere_point(alpha[None, :], beta[:, None])
    if not rotate:
        return _read(images, points[None])
    turns = random_rotations(-(-len(images) // chunk), seed).repeat_interleave(chunk, 0)
    turns = turns[: len(images)]
    parts = [
        _read(some, torch.einsum("kai,nij->nkaj", points, R))  # the image at R^-1 x
        for some, R in zip(images.split(_AT_ONCE), turns.split(_AT_ONCE), strict=True)
    ]
    return torch.cat(parts)


def _read(images: Tensor, points: Tensor) -> Tensor:
    """The images at points (n or 1, 2b, 2b, 3) of the sphere."""
    plane = 2 * points[..., :2] / (1 + points[..., 2:]).clamp_min(1e-9)
    # far behind the horizon the map leaves the square, and so does 9
    places = (plane / 1.5).clamp(-9, 9).to(images).expand(len(images), -1, -1, -1)
    return torch.nn.functional.grid_sample(images, places, align_corners=False)


def molecule_to_spheres(Z: Tensor, R: Tensor, b: int = 10, radius: float = QM7_RADIUS) -> Tensor:
    """Potentials on a sphere around each atom, one channel for each charge in `ELEMENTS`.

    `U_z(x) = sum z_i z / |x - p_j|` over the other atoms j with charge z, for atom i
    [Cohen 2018, section 5.4]. It does not change when the molecule is shifted, and turns with it.

    Args:
        Z: charges (n, atoms), 0 where there is no atom.
        R: positions (n, atoms, 3).
        b: bandwidth of the grid.
        radius: of all spheres, in the unit of R. By default half of the smallest distance
            in QM7, in Angstrom: the largest with which no two spheres intersect.

    Returns:
        Signals (n, atoms, 5, 2b, 2b), zero where there is no atom.

    Example:
        >>> Z, R = torch.tensor([[8, 1]]), torch.tensor([[[0.0, 0, 0], [0, 0, 1]]])
        >>> U = molecule_to_spheres(Z, R, b=3)
        >>> U.shape, [int(U[0, 0, t].any()) for t in range(5)]
        (torch.Size([1, 2, 5, 6, 6]), [1, 0, 0, 0, 0])
    """
    _check_molecules(Z, R)
    size = real("radius", radius, above=0.0, below=_FAR)
    beta, alpha = grid_angles(b)
    x = sphere_point(alpha[None, :], beta[:, None]).reshape(-1, 3) * size
    charges = Z.to(R.dtype)
    out = R.new_zeros(*Z.shape, len(ELEMENTS), 4 * b * b)
    x = x.to(R)
    for i in range(Z.shape[1]):
        off = R[:, i, None, :] + x  # n, points, 3
        distance = torch.cdist(off, R)  # n, points, atoms
        others = (Z > 0) & (Z[:, i : i + 1] > 0)
        others[:, i] = False
        strength = torch.where(others, charges * charges[:, i : i + 1], 0.0)
        potential = strength[:, None, :] / distance.clamp_min(1e-9)
        for t, z in enumerate(ELEMENTS):
            out[:, i, t] = (potential * Z.eq(z)[:, None, :]).sum(-1)
    return out.view(*Z.shape, len(ELEMENTS), 2 * b, 2 * b)


def coulomb_matrix(
    Z: Tensor, R: Tensor, kind: str = "sorted", *, diagonal: float = 2.4, seed: int = 0
) -> Tensor:
    """Coulomb matrices: `z_i z_j / |p_i - p_j|` off the diagonal, `0.5 z_i^diagonal` on it.

    Args:
        Z: charges (n, atoms), 0 where there is no atom.
        R: positions (n, atoms, 3).
        kind: "raw"; "sorted", rows and columns by the rows' decreasing norms; "random", sorted by
            norms with Gaussian noise of size 1.
        diagonal: exponent on the diagonal; [Cohen 2018] prints 2, 2.4 is usual.
        seed: seed of the noise of "random".

    Returns:
        Symmetric matrices (n, atoms, atoms).

    Example:
        >>> Z, R = torch.tensor([[1, 8]]), torch.tensor([[[0.0, 0, 0], [0, 0, 2]]])
        >>> coulomb_matrix(Z, R, diagonal=2.0)
        tensor([[[32.0000,  4.0000],
                 [ 4.0000,  0.5000]]])
    """
    choose(kind, {"raw": 0, "sorted": 0, "random": 0}, "kind")
    _check_molecules(Z, R)
    charges, exponent = Z.to(R.dtype), real("diagonal", diagonal, above=0.0, below=10.0)
    distance = torch.cdist(R, R)
    eye = torch.eye(Z.shape[1], dtype=torch.bool)
    there = (Z > 0)[:, :, None] & (Z > 0)[:, None, :] & ~eye
    matrix = torch.where(
        there, charges[:, :, None] * charges[:, None, :] / distance.clamp_min(1e-9), 0.0
    )
    own = torch.where(Z > 0, 0.5 * charges.clamp_min(1).pow(exponent), 0.0)
    matrix = matrix + torch.diag_embed(own)
    draws = generator(seed, "coulomb")
    if kind == "raw":
        return matrix
    norms = matrix.norm(dim=2)
    if kind == "random":
        norms = norms + torch.randn(norms.shape, generator=draws).to(norms)
    order = norms.argsort(dim=1, descending=True, stable=True)
    rows = matrix.gather(1, order[:, :, None].expand_as(matrix))
    return rows.gather(2, order[:, None, :].expand_as(matrix))


def _check_molecules(Z: Tensor, R: Tensor) -> None:
    if not (isinstance(Z, Tensor) and isinstance(R, Tensor)) or R.shape != (*Z.shape, 3):
        raise ValueError("Z must be charges (n, atoms) and R positions (n, atoms, 3)")
    if Z.ndim != 2 or 0 in Z.shape or Z.is_floating_point() or not R.is_floating_point():
        raise ValueError("Z must hold whole charges (n, atoms), and R floating point positions")
    if not bool((R.abs() < _FAR).all()):
        raise ValueError(f"R holds NaN or positions beyond {_FAR:g}")
    unknown = set(Z.unique().tolist()) - {0, *ELEMENTS}
    if unknown:
        raise ValueError(f"Z holds the charges {sorted(unknown)}; those of QM7 are {ELEMENTS}")
