"""Triangle meshes: solids of ten families with random proportions, and files of one's own."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from regimes._check import choose, shown
from regimes._random import generator

_AROUND = 32  # sides of what is round
_ALONG = 48  # rings of a spring


class Mesh(NamedTuple):
    """A surface of triangles, whose corners run counter-clockwise seen from outside.

    Attributes:
        vertices: (V, 3), float64.
        faces: indices of corners, (F, 3), int64.
    """

    vertices: Tensor
    faces: Tensor


def solid_mesh(family: str, seed: int = 0) -> Mesh:
    """A solid of one of ten families as triangles, its proportions drawn evenly.

    The families and proportions are those of `solids`. Parts of one solid may overlap: what counts
    is the surface that is seen from outside.

    Args:
        family: "box", "cylinder", "cone", "torus", "ellipsoid", "plate with four legs",
            "bracket", "cross", "star" or "spring".
        seed: of the proportions.

    Returns:
        The mesh, within the unit ball.

    Example:
        >>> mesh = solid_mesh("box")
        >>> mesh.vertices.shape, mesh.faces.shape
        (torch.Size([8, 3]), torch.Size([12, 3]))
    """
    make = choose(family, MESHES, "family")
    drawn = torch.rand(3, generator=generator(seed, f"mesh/{family}"), dtype=torch.float64)
    return make(drawn.tolist())


def read_mesh(path: str | Path) -> Mesh:
    """A mesh from a Wavefront file (.obj): its lines `v x y z` and `f i j k ...`.

    Faces of more than three corners are cut into fans of triangles; everything else is ignored.

    Args:
        path: the file.

    Returns:
        The mesh.

    Raises:
        ValueError: if there is no such file, or it holds no mesh.

    Example:
        >>> mesh = read_mesh("shape.obj")  # doctest: +SKIP
    """
    if not isinstance(path, str | Path) or not Path(path).is_file():
        raise ValueError(
            f"no mesh at {shown(path)}: give a Wavefront file (.obj), with lines 'v x y z' for "
            "corners and 'f i j k' for faces"
        )
    vertices, faces = [], []
    for number, text in enumerate(Path(path).read_text(errors="replace").splitlines(), 1):
        words = text.split()
        if not words or words[0] not in ("v", "f"):
            continue
        try:
            if words[0] == "v":
                vertices.append([float(each) for each in words[1:4]])
                continue
            corners = [int(each.split("/")[0]) for each in words[1:]]
        except ValueError:
            raise ValueError(f"{path}, line {number} is no corner and no face: {text!r}") from None
        corners = [each - 1 if each > 0 else len(vertices) + each for each in corners]
        faces += [[corners[0], *corners[i : i + 2]] for i in range(1, len(corners) - 1)]
    if not vertices or not faces or any(len(each) != 3 for each in vertices):
        raise ValueError(f"{path} holds no mesh: expected lines 'v x y z' and 'f i j k'")
    found = Mesh(torch.tensor(vertices, dtype=torch.float64), torch.tensor(faces))
    return checked_mesh(found.vertices, found.faces)


def checked_mesh(vertices: Tensor, faces: Tensor) -> Mesh:
    """The mesh in float64, or a ValueError that says what is wrong with it."""
    if not isinstance(vertices, Tensor) or vertices.ndim != 2 or vertices.shape[1] != 3:
        raise ValueError(f"vertices must be a tensor of shape (V, 3), got {shown(vertices)}")
    if not vertices.is_floating_point() or not bool((vertices.abs() < 1e6).all()):
        raise ValueError("vertices must be floating point numbers, finite and below 1e6")
    if not isinstance(faces, Tensor) or faces.ndim != 2 or faces.shape[1] != 3 or not len(faces):
        raise ValueError(f"faces must be a tensor of shape (F, 3), got {shown(faces)}")
    if faces.is_floating_point() or faces.is_complex() or faces.dtype == torch.bool:
        raise ValueError(f"faces must hold integers, indices of vertices, got {faces.dtype}")
    if int(faces.min()) < 0 or int(faces.max()) >= len(vertices):
        raise ValueError(
            f"faces must hold indices from 0 to {len(vertices) - 1}, got {int(faces.min())} to "
            f"{int(faces.max())}"
        )
    return Mesh(vertices.to("cpu", torch.float64), faces.to("cpu", torch.int64))


# -- the families ---------------------------------------------------------------------------------


def _box(a: list[float]) -> Mesh:
    return _block((0, 0, 0), (0.35 + 0.3 * a[0], 0.25 + 0.25 * a[1], 0.15 + 0.15 * a[2]))


def _cylinder(a: list[float]) -> Mesh:
    radius, height = 0.2 + 0.2 * a[0], 0.4 + 0.3 * a[1]
    return _turned([(0, -height), (radius, -height), (radius, height), (0, height)])


def _cone(a: list[float]) -> Mesh:
    base, height = 0.35 + 0.25 * a[0], 0.45 + 0.25 * a[1]
    return _turned([(0, -height), (base, -height), (0, height)])


def _torus(a: list[float]) -> Mesh:
    ring, tube = 0.4 + 0.15 * a[0], 0.13 + 0.09 * a[1]
    angle = 2 * math.pi * torch.arange(_AROUND // 2, dtype=torch.float64) / (_AROUND // 2)
    profile = torch.stack([ring + tube * angle.cos(), tube * angle.sin()], 1)
    return _turned(profile.tolist(), closed=True)


def _ellipsoid(a: list[float]) -> Mesh:
    angle = math.pi * torch.arange(_AROUND // 2 + 1, dtype=torch.float64) / (_AROUND // 2)
    ball = _turned(torch.stack([angle.sin(), -angle.cos()], 1).tolist())
    axes = torch.tensor([0.4 + 0.25 * a[0], 0.25 + 0.2 * a[1], 0.2 + 0.15 * a[2]]).double()
    return Mesh(ball.vertices * axes, ball.faces)


def _table(a: list[float]) -> Mesh:
    wide, deep, leg = 0.35 + 0.2 * a[0], 0.3 + 0.15 * a[1], 0.06 + 0.04 * a[2]
    legs = [
        _block((x * (wide - leg), y * (deep - leg), -0.1), (leg, leg, 0.42))
        for x in (-1, 1)
        for y in (-1, 1)
    ]
    return _together(_block((0, 0, 0.3), (wide, deep, 0.08)), *legs)


def _bracket(a: list[float]) -> Mesh:
    thick, width = 0.09 + 0.06 * a[0], 0.2 + 0.2 * a[1]
    return _together(
        _block((0, 0, -0.4), (0.5, width, thick)), _block((-0.4, 0, 0), (thick, width, 0.5))
    )


def _cross(a: list[float]) -> Mesh:
    thick, long = 0.1 + 0.06 * a[0], 0.4 + 0.2 * a[1]
    arms = [(long, thick, thick), (thick, long, thick), (thick, thick, long)]
    return _together(*(_block((0, 0, 0), arm) for arm in arms))


def _star(a: list[float]) -> Mesh:
    """A prism whose outline is a star of five rays."""
    angle = 2 * math.pi * torch.arange(2 * _AROUND, dtype=torch.float64) / (2 * _AROUND)
    edge = (0.38 + 0.1 * a[0]) * (1 + (0.3 + 0.2 * a[1]) * torch.cos(5 * angle))
    height = 0.15 + 0.2 * a[2]
    rings = []
    for share, z in ((0.0, -height), (1.0, -height), (1.0, height), (0.0, height)):
        flat = torch.stack([share * edge * angle.cos(), share * edge * angle.sin()], 1)
        rings.append(torch.cat([flat, torch.full((len(angle), 1), z).double()], 1))
    return _rings(torch.stack(rings))


def _spring(a: list[float]) -> Mesh:
    """A tube around two turns of a helix, its ends closed."""
    radius, tube = 0.32 + 0.12 * a[0], 0.1 + 0.05 * a[1]
    rise = (0.4 + 0.15 * a[2]) / (2 * math.pi)
    t = torch.linspace(-2 * math.pi, 2 * math.pi, _ALONG, dtype=torch.float64)
    out = torch.stack([t.cos(), t.sin(), torch.zeros_like(t)], 1)
    middle = radius * out + torch.stack([torch.zeros_like(t), torch.zeros_like(t), rise * t], 1)
    along = torch.stack([-radius * t.sin(), radius * t.cos(), torch.full_like(t, rise)], 1)
    up = torch.linalg.cross(along / along.norm(dim=1, keepdim=True), out)
    angle = 2 * math.pi * torch.arange(_AROUND // 4, dtype=torch.float64) / (_AROUND // 4)
    around = angle.cos()[None, :, None] * out[:, None] + angle.sin()[None, :, None] * up[:, None]
    rings = middle[:, None] + tube * around
    ends = [middle[i].expand(1, len(angle), 3) for i in (0, -1)]
    return _rings(torch.cat([ends[0], rings, ends[1]]))


def _block(middle: tuple[float, float, float], half: tuple[float, float, float]) -> Mesh:
    """A box, two triangles a side."""
    corners = torch.cartesian_prod(*(torch.tensor([-1.0, 1.0]).double(),) * 3)
    sides = torch.tensor(
        [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
    )
    faces = torch.cat([sides[:, [0, 1, 2]], sides[:, [0, 2, 3]]])
    shape = torch.tensor(half).double(), torch.tensor(middle).double()
    return Mesh(corners * shape[0] + shape[1], faces)


def _turned(profile: list[tuple[float, float]], closed: bool = False) -> Mesh:
    """What a line of (distance from the axis, height) sweeps out around the z axis."""
    angle = 2 * math.pi * torch.arange(_AROUND, dtype=torch.float64) / _AROUND
    line = torch.tensor(profile, dtype=torch.float64)
    r, z = line[:, :1], line[:, 1:].expand(-1, _AROUND)
    return _rings(torch.stack([r * angle.cos(), r * angle.sin(), z], 2), closed=closed)


def _rings(rings: Tensor, closed: bool = False) -> Mesh:
    """Neighbouring rings (rings, points, 3) joined by triangles; those without area left out."""
    count, around, _ = rings.shape
    joined = count if closed else count - 1
    i, j = torch.meshgrid(torch.arange(joined), torch.arange(around), indexing="ij")
    here, there = i * around, (i + 1) % count * around
    k = (j + 1) % around
    quads = torch.stack([here + j, here + k, there + k, there + j], -1).reshape(-1, 4)
    faces = torch.cat([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])
    vertices = rings.reshape(-1, 3)
    return Mesh(vertices, faces[_areas(vertices, faces) > 1e-12])


def _areas(vertices: Tensor, faces: Tensor) -> Tensor:
    a, b, c = vertices[faces].unbind(1)
    return torch.linalg.cross(b - a, c - a).norm(dim=1) / 2


def _together(*parts: Mesh) -> Mesh:
    vertices, faces, count = [], [], 0
    for part in parts:
        vertices.append(part.vertices)
        faces.append(part.faces + count)
        count += len(part.vertices)
    return Mesh(torch.cat(vertices), torch.cat(faces))


MESHES: dict[str, Callable[[list[float]], Mesh]] = {
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
