"""Meshes, and what a sphere around them sees; claim EQU-17 for the shape of the input."""

import math

import pytest
import torch

from regimes.data import (
    mesh_to_sphere,
    read_mesh,
    shrec17,
    solid_mesh,
    spherical_shapes,
)
from regimes.data._meshes import MESHES
from regimes.nets.sphere import grid_angles, random_rotations, rotation_matrix, sphere_point


def edges(mesh):
    return [(int(face[i]), int(face[(i + 1) % 3])) for face in mesh.faces for i in range(3)]


@pytest.mark.parametrize("family", ["box", "cylinder", "torus", "ellipsoid"])
def test_meshes_are_closed_and_seen_from_outside(family):
    mesh = solid_mesh(family, seed=3)
    places = mesh.vertices.round(decimals=9).unique(dim=0, return_inverse=True)[1]
    directed = [(int(places[i]), int(places[j])) for i, j in edges(mesh)]
    assert len(set(directed)) == len(directed)
    assert {(j, i) for i, j in directed} == set(directed)


@pytest.mark.parametrize("family", MESHES)
def test_solids_have_their_volume_outside_in(family):
    mesh = solid_mesh(family, seed=1)
    a, b, c = mesh.vertices[mesh.faces].unbind(1)
    assert (a * torch.linalg.cross(b, c)).sum() / 6 > 0.05
    assert mesh.vertices.norm(dim=1).max() < 1


def test_a_box_is_seen_as_it_is():
    half = torch.tensor([0.5, 0.4, 0.3]).double()
    box = solid_mesh("box")
    box = box._replace(vertices=box.vertices.sign() * half + 0.2)  # off the origin, and put back
    b = 5
    beta, alpha = grid_angles(b)
    points = sphere_point(alpha[None], beta[:, None])
    reach = half * (0.99 / half.norm())
    t, which = (reach / points.abs()).min(-1)
    x = mesh_to_sphere(*box, b)
    assert torch.allclose(x[0], 1 - t, atol=1e-12)
    cosine = points.abs().gather(-1, which[..., None])[..., 0]
    assert torch.allclose(x[1], cosine, atol=1e-12)
    assert torch.allclose(x[2], (1 - cosine**2).sqrt(), atol=1e-9)
    assert torch.allclose(x[3:], x[:3], atol=1e-9)  # its own hull


def test_rays_through_the_hole_of_a_torus_hit_nothing():
    x = mesh_to_sphere(*solid_mesh("torus"), 8)
    assert torch.equal(x[:3, 0], torch.tensor([1.0, 0, 0]).double()[:, None].expand(3, 16))
    assert (x[3, 0] < 0.9).all()  # the hull covers it
    assert (x[3] <= x[0] + 1e-9).all()
    there = x[1] != 0
    assert torch.allclose((x[1] ** 2 + x[2] ** 2)[there], torch.ones(()).double())


def test_a_turned_solid_is_seen_turned():
    mesh, b = solid_mesh("bracket", seed=2), 6
    x = mesh_to_sphere(*mesh, b)
    turn = rotation_matrix(math.pi / b, 0.0, 0.0)  # a step of the grid about its axis
    turned = mesh_to_sphere(mesh.vertices @ turn.mT, mesh.faces, b)
    assert torch.allclose(turned, x.roll(1, -1), atol=1e-9)
    moved = mesh_to_sphere(3 * mesh.vertices - 7, mesh.faces, b)
    assert torch.allclose(moved, x, atol=1e-9)
    anyhow = random_rotations(1)[0]
    assert (mesh_to_sphere(mesh.vertices @ anyhow.mT, mesh.faces, b) - x).abs().max() > 0.1


def test_the_paper_s_input_has_six_channels_of_256_by_256():
    """Claim EQU-17."""
    assert mesh_to_sphere(*solid_mesh("cross"), 128).shape == (6, 256, 256)


def test_sets_do_not_change_each_other_and_rotation_is_of_the_test_set():
    one, two = spherical_shapes(5, 3, 4), spherical_shapes(9, 5, 4)
    assert torch.equal(one.x_train, two.x_train[:5])
    assert torch.equal(one.x_test, two.x_test[:3])
    still = spherical_shapes(5, 3, 4, rotate="none")
    assert torch.equal(one.x_train, still.x_train)
    assert not torch.equal(one.x_test, still.x_test)
    assert two.y_train.tolist() == list(range(9))
    both = spherical_shapes(5, 3, 4, rotate="both")
    assert torch.equal(one.x_test, both.x_test)
    assert not torch.equal(one.x_train, both.x_train)


def written(path, faces="f 1 2 3\nf 1/1/1 3/2/1 4\nf 1 4 2\nf -1 -2 -3\n"):
    corners = "# four corners\nv 0 0 0\nv 0 1 0\nv 1 0 0\nvn 0 0 1\nv 0 0 1\n"
    path.write_text(corners + faces)
    return path


def test_meshes_and_challenges_are_read_from_files(tmp_path):
    mesh = read_mesh(written(tmp_path / "pyramid.obj"))
    assert mesh.vertices.tolist() == [[0, 0, 0], [0, 1, 0], [1, 0, 0], [0, 0, 1]]
    assert mesh.faces.tolist() == [[0, 1, 2], [0, 2, 3], [0, 3, 1], [3, 2, 1]]
    square = read_mesh(written(tmp_path / "square.obj", "f 1 2 3 4\n"))
    assert square.faces.tolist() == [[0, 1, 2], [0, 2, 3]]
    (tmp_path / "val_perturbed").mkdir()
    (tmp_path / "val.csv").write_text("id,synsetId,subSynsetId\n000007,0269,x\n")
    written(tmp_path / "val_perturbed" / "000007.obj")
    x, classes = shrec17(tmp_path, "val", 4)
    assert x.shape == (1, 6, 8, 8)
    assert classes == ("0269",)


FLAT = torch.tensor([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: read_mesh("nowhere.obj"), "no mesh at 'nowhere.obj': give a Wavefront file"),
        (lambda: shrec17("nowhere"), "expected train.csv with columns id and synsetId"),
        (lambda: shrec17("nowhere", "all"), "part must be"),
        (lambda: solid_mesh("sphere"), "unknown family"),
        (lambda: spherical_shapes(2, 2, rotate="train"), "rotate"),
        (lambda: spherical_shapes(2, 2, classes=11), "10 families"),
        (lambda: mesh_to_sphere(FLAT, torch.tensor([[0, 1, 2]])), "corners lie in a plane"),
        (lambda: mesh_to_sphere(FLAT, torch.tensor([[0, 1, 1]])), "area zero"),
        (lambda: mesh_to_sphere(FLAT, torch.tensor([[0, 1, 3]])), "indices from 0 to 2"),
        (lambda: mesh_to_sphere(FLAT * math.nan, torch.tensor([[0, 1, 2]])), "finite"),
    ],
)
def test_what_is_no_shape_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_files_that_hold_something_else_are_refused(tmp_path):
    (tmp_path / "a.obj").write_text("v 0 0\nf 1 2 3\n")
    with pytest.raises(ValueError, match="holds no mesh"):
        read_mesh(tmp_path / "a.obj")
    (tmp_path / "b.obj").write_text("v 0 0 zero\n")
    with pytest.raises(ValueError, match="line 1 is no corner"):
        read_mesh(tmp_path / "b.obj")
    (tmp_path / "train_normal").mkdir()
    (tmp_path / "train.csv").write_text("name\n1\n")
    with pytest.raises(ValueError, match="columns id and synsetId"):
        shrec17(tmp_path, perturbed=False)
