"""Points that fill a manifold: where they are, and how evenly."""

import math

import pytest
import torch

from regimes.data import cloud_points, lattice_points, manifold_points, sphere_points, torus_points


@pytest.mark.parametrize("d", [1, 2, 5, 35])
def test_spheres_have_radius_one_and_no_direction(d):
    x = sphere_points(4000, d)
    assert x.shape == (4000, d + 1)
    assert x.dtype == torch.float64
    assert torch.allclose(x.norm(dim=1), torch.ones(4000).double())
    covariance = x.T @ x / 4000
    off = (covariance - torch.eye(d + 1).double() / (d + 1)).abs().max()
    assert float(off) < 5 / 4000**0.5 / (d + 1)
    assert float(x.mean(0).abs().max()) < 5 / (4000 * (d + 1)) ** 0.5


def test_a_torus_is_circles_and_a_cloud_is_gaussian():
    torus = torus_points(2000, 3).reshape(2000, 3, 2)
    assert torch.allclose(torus.norm(dim=2), torch.ones(2000, 3).double())
    angles = torch.atan2(torus[..., 1], torus[..., 0]).sort(dim=0).values
    even = torch.linspace(-math.pi, math.pi, 2000).double()
    assert float((angles - even[:, None]).abs().max()) < 2 * math.pi * 2 / 2000**0.5
    cloud = cloud_points(4000, 3)
    assert torch.allclose(cloud.T @ cloud / 4000, torch.eye(3).double(), atol=0.1)


def test_a_lattice_has_every_place_once():
    x = lattice_points(4, 3, L=2.0)
    assert x.shape == (64, 3)
    assert len(x.unique(dim=0)) == 64
    assert sorted(set(x.flatten().tolist())) == [0.0, 0.5, 1.0, 1.5]


def test_seeds_are_streams_and_names_are_manifolds():
    for name, made in (("sphere", sphere_points), ("torus", torus_points), ("cloud", cloud_points)):
        assert torch.equal(manifold_points(name, 5, 2, 3), made(5, 2, 3))
        assert torch.equal(made(5, 2, 3), made(5, 2, 3))
        assert not torch.equal(made(5, 2, 3), made(5, 2, 4))


def test_bad_input_is_told():
    with pytest.raises(ValueError, match=r"manifold .*'disk'"):
        manifold_points("disk", 5, 2)
    for made in (sphere_points, torus_points, cloud_points, lattice_points):
        with pytest.raises(ValueError, match="d must"):
            made(5, 0)
    with pytest.raises(ValueError, match="L must"):
        lattice_points(5, 1, -1.0)
