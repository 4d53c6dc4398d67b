"""Shapes seen from a sphere around them: rays to the middle, and where they hit."""

from __future__ import annotations

import csv
from pathlib import Path

import torch
from torch import Tensor

from regimes._check import positive_int, shown
from regimes._random import generator
from regimes._rotations import grid_angles, haar_rotations, sphere_point
from regimes.data._dataset import Dataset, float_dtype
from regimes.data._meshes import MESHES, Mesh, checked_mesh, read_mesh

_REACH = 0.99  # radius a mesh is scaled to, inside the unit sphere
_AT_ONCE = 2**23  # entries of a block of faces times rays


def mesh_to_sphere(vertices: Tensor, faces: Tensor, b: int = 64) -> Tensor:
    """What a sphere around a mesh sees of it and of its convex hull: six channels.

    The mesh is moved so that the centroid of its surface is the origin, and scaled to radius 0.99.
    From every point x of the grid on the unit sphere a ray runs to the origin. Where it first hits
    the surface, with outward normal n, the channels are the length of the ray, the cosine `n.x` and
    the sine `|n x x|` of the angle between the two; a ray that hits nothing has 1, 0, 0. The same
    of the convex hull fills the other three [Cohen 2018, section 5.3].

    Args:
        vertices: (V, 3), floating point.
        faces: indices of the corners of triangles, (F, 3), counter-clockwise seen from outside.
        b: bandwidth of the grid, 2b x 2b points.

    Returns:
        Signals (6, 2b latitudes, 2b longitudes), float64.

    Raises:
        ValueError: for what is no mesh, and for one whose points lie in a plane.

    Example:
        A ball looks the same from everywhere, and is its own hull.

        >>> from regimes.data import solid_mesh
        >>> mesh = solid_mesh("ellipsoid")
        >>> x = mesh_to_sphere(*mesh, b=4)
        >>> x.shape, bool(torch.allclose(x[0], x[3]))
        (torch.Size([6, 8, 8]), True)
    """
    mesh = _centred(checked_mesh(vertices, faces))
    beta, alpha = grid_angles(b)
    side = 2 * b
    points = sphere_point(alpha[None, :], beta[:, None]).reshape(-1, 3)
    seen = [_seen(each, points) for each in (mesh, _hull(mesh))]
    return torch.cat(seen).view(6, side, side)


def spherical_shapes(
    n_train: int = 100,
    n_test: int = 100,
    b: int = 16,
    seed: int = 0,
    *,
    classes: int = 10,
    rotate: str = "test",
    dtype: torch.dtype = torch.float32,
) -> Dataset:
    """Solids of ten families seen from a sphere around them, in place of scanned shapes.

    The families are those of `solid_mesh`, their proportions drawn evenly, the six channels those
    of `mesh_to_sphere`. From each channel its mean over ShapeNet's shapes is taken, and it is
    divided by their deviation (docs/themes/equivariance.md, "Shapes on the sphere").

    Args:
        n_train: training solids, families in turn.
        n_test: test solids.
        b: bandwidth of the grid.
        seed: of all draws; sizes of the two sets do not change each other.
        classes: the first so many families.
        rotate: which set is turned at random: "both", "test" or "none".
        dtype: precision.

    Returns:
        x of shape (n, 6, 2b, 2b), labels from 0.

    Raises:
        ValueError: for sizes and names that do not fit.

    Example:
        >>> spherical_shapes(10, 5, 4).x_train.shape
        torch.Size([10, 6, 8, 8])
    """
    float_dtype(dtype)
    if rotate not in ("both", "test", "none"):
        raise ValueError(f"rotate must be 'both', 'test' or 'none', got {shown(rotate)}")
    if positive_int("classes", classes) > len(MESHES):
        raise ValueError(f"there are {len(MESHES)} families, got classes={classes!r}")
    families = list(MESHES.values())[:classes]

    def drawn(n: int, part: str) -> tuple[Tensor, Tensor]:
        x = torch.zeros(n, 6, 2 * b, 2 * b, dtype=torch.float64)
        for k in range(n):
            source = generator(seed, f"shapes/{part}/{k}")
            mesh = families[k % classes](_proportions(source))
            turn = haar_rotations(1, source)[0]
            turned = rotate == "both" or (rotate == "test" and part == "test")
            vertices = mesh.vertices @ turn.mT if turned else mesh.vertices
            x[k] = mesh_to_sphere(vertices, mesh.faces, b)
        return x, torch.arange(n) % classes

    positive_int("b", b)
    x, y = drawn(positive_int("n_train", n_train), "train")
    x_test, y_test = drawn(positive_int("n_test", n_test, least=0), "test")
    shift, scale = _SCALES.to(x).unbind()
    x, x_test = ((each - shift[:, None, None]) / scale[:, None, None] for each in (x, x_test))
    return Dataset(
        x.to(dtype),
        y,
        x_test.to(dtype),
        y_test,
        name="spherical_shapes",
        description=(f"{classes} families of solids seen from a sphere, turned: {rotate}",),
        seed=seed,
    )


def _proportions(source: torch.Generator) -> list[float]:
    return torch.rand(3, generator=source, dtype=torch.float64).tolist()


# means and deviations of the channels over shapes, of the programs of [Cohen 2018]
_SCALES = torch.tensor([[0.75, 0.59, 0.54, 0.52, 0.80, 0.51], [0.26, 0.50, 0.29, 0.19, 0.18, 0.25]])


def shrec17(
    folder: str | Path, part: str = "train", b: int = 64, *, perturbed: bool = True
) -> tuple[Tensor, tuple[str, ...]]:
    """Shapes of the SHREC17 challenge from a folder of one's own, seen from a sphere.

    The meshes are ShapeNet's and may not be passed on; who has them puts the challenge's files
    into one folder as they come: `train.csv` with columns `id` and `synsetId`, and
    `train_perturbed/000001.obj` for every id (`train_normal` for aligned shapes), likewise `val`
    and `test`.

    Args:
        folder: where the files are.
        part: "train", "val" or "test".
        b: bandwidth of the grid.
        perturbed: the shapes that are turned at random, or the aligned ones.

    Returns:
        Signals (n, 6, 2b, 2b), float32, and the class of each shape, `synsetId`.

    Raises:
        ValueError: if there are no such files, or they hold something else.

    Example:
        >>> x, classes = shrec17("shrec17", "val", b=32)  # doctest: +SKIP
    """
    if part not in ("train", "val", "test"):
        raise ValueError(f"part must be 'train', 'val' or 'test', got {shown(part)}")
    positive_int("b", b)
    where = Path(folder) if isinstance(folder, str | Path) else Path()
    table, meshes = (
        where / f"{part}.csv",
        where / f"{part}_{'perturbed' if perturbed else 'normal'}",
    )
    if not table.is_file() or not meshes.is_dir():
        raise ValueError(
            f"no SHREC17 shapes in {shown(folder)}: expected {table.name} with columns id and "
            f"synsetId, and a folder {meshes.name} with a mesh such as 000001.obj for every id; "
            "ShapeNet's licence lets nobody pass them on, so ask for them at shapenet.org"
        )
    with table.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    if not rows or not {"id", "synsetId"} <= set(rows[0]):
        raise ValueError(f"{table} must be a table with columns id and synsetId, and rows")
    x = torch.zeros(len(rows), 6, 2 * b, 2 * b)
    for i, row in enumerate(rows):
        x[i] = mesh_to_sphere(*read_mesh(meshes / f"{row['id']}.obj"), b)
    return x, tuple(row["synsetId"] for row in rows)


def _centred(mesh: Mesh) -> Mesh:
    """The centroid of the surface at the origin, the farthest corner of a face at 0.99."""
    corners = mesh.vertices[mesh.faces]  # F, 3, 3
    area = torch.linalg.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]).norm(
        dim=1
    )
    if not float(area.sum()) > 0:
        raise ValueError("every face of the mesh has area zero: its corners lie on lines")
    middle = (area[:, None] * corners.mean(1)).sum(0) / area.sum()
    moved = mesh.vertices - middle
    return Mesh(moved * (_REACH / moved[mesh.faces].norm(dim=2).max()), mesh.faces)


def _hull(mesh: Mesh) -> Mesh:
    """The convex hull, its corners in the order that has the normals point outwards."""
    from scipy.spatial import ConvexHull, QhullError

    used = mesh.vertices[mesh.faces.unique()]
    try:
        found = ConvexHull(used.numpy())
    except (QhullError, ValueError) as error:
        raise ValueError(
            "the mesh has no convex hull with a volume: its corners lie in a plane; give a solid"
        ) from error
    faces = torch.from_numpy(found.simplices).long()
    a, b, c = used[faces].unbind(1)
    outward = torch.from_numpy(found.equations[:, :3]).double()
    inside_out = (torch.linalg.cross(b - a, c - a) * outward).sum(1) < 0
    return Mesh(used, torch.where(inside_out[:, None], faces[:, [0, 2, 1]], faces))


def _seen(mesh: Mesh, points: Tensor) -> Tensor:
    """Length, cosine and sine where rays from points (n, 3) to the origin hit first: (3, n).

    A ray along x meets the plane of a face with corners `V` at t x with `V^T u = t x`, inside it
    if all u >= 0 with sum 1. With `w = V^-T x = u/t` that is w >= 0, and `t = 1/sum(w)`; of several
    hits the first seen from outside is the farthest from the origin.
    """
    corners = mesh.vertices[mesh.faces]
    volume = torch.linalg.det(corners)
    corners = corners[volume.abs() > 1e-13]  # others are seen edge-on, as a line
    normals = torch.linalg.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals = normals / normals.norm(dim=1, keepdim=True)
    inverse = torch.linalg.inv(corners).mT  # F, 3, 3
    far, which = torch.zeros(len(points)).double(), torch.zeros(len(points)).long()
    step = max(1, _AT_ONCE // len(points))
    for start in range(0, len(corners), step):
        w = torch.matmul(inverse[start : start + step], points.mT)  # F, 3, n
        hit = w.amin(1) >= -1e-9
        t = torch.where(hit, w.sum(1).clamp_min(1e-12).reciprocal(), 0.0)
        best, place = t.max(0)
        better = best > far
        far, which = torch.where(better, best, far), torch.where(better, place + start, which)
    there = (far > 0).double()
    if not len(corners):
        return torch.stack([1 - far, far, far])
    normal = normals[which]
    cosine, sine = (
        (normal * points).sum(1),
        torch.linalg.cross(normal, points).norm(dim=1),
    )
    return torch.stack([1 - far, cosine * there, sine * there])
