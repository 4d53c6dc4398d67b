"""Networks on the sphere: the published sizes, invariance, seeds; claims EQU-13 and EQU-17."""

import math

import pytest
import torch

from regimes.measure import equivariance_error
from regimes.nets.sphere import (
    PlanarBaseline,
    SphericalMNIST,
    SphericalMolecule,
    SphericalShapes,
    random_rotations,
    rotate_s2,
    s2_ifft,
)


def count(net):
    return sum(each.numel() for each in net.parameters())


@pytest.mark.parametrize(
    ("make", "expected"),
    [(SphericalMNIST, 58_550), (PlanarBaseline, 68_106)],
)
def test_published_sizes(make, expected):
    assert count(make()) == expected


def test_the_network_of_shapes_has_its_published_size():
    assert count(SphericalShapes()) == 1_399_515


def test_the_reduced_digits_network_has_its_size():
    assert count(SphericalMNIST((16, 8, 5), (10, 20), max_beta=math.pi / 4)) == 14_880
    assert count(PlanarBaseline(40, (16, 32), 2)) == 28_938


def test_smooth_signals_are_classified_alike_when_turned(draw):
    net = SphericalMNIST((10, 8, 5), (4, 6), max_beta=math.pi / 3)
    x = s2_ifft(draw.s2(4, 1, L=4), 10, real=True).float()

    def same(y, R):
        return y

    error = equivariance_error(net, x, random_rotations(4), rotate_s2, same)
    assert error.value < 0.05
    planar = PlanarBaseline(20, (4, 4), 2)
    assert equivariance_error(planar, x, random_rotations(4), rotate_s2, same).value > 0.3


def test_seeds_decide_all_parameters():
    for make in (
        lambda seed: SphericalMNIST((4, 3, 2), (2, 2), seed=seed),
        lambda seed: PlanarBaseline(20, (2, 2), 2, seed=seed),
        lambda seed: SphericalMolecule((3, 3, 2), (2, 2), hidden=(3, 3, 3), seed=seed),
        lambda seed: SphericalShapes((4, 3, 2, 2), (2, 2, 2, 2), 3, seed=seed),
    ):
        one, same, other = (list(make(s).parameters()) for s in (1, 1, 2))
        assert all(torch.equal(a, b) for a, b in zip(one, same, strict=True))
        pairs = zip(one, other, strict=True)
        assert not all(torch.equal(a, b) for a, b in pairs if a.ndim > 1)


def test_atoms_are_a_set_and_missing_ones_count_for_nothing():
    net = SphericalMolecule((4, 3, 2), (3, 4), hidden=(6, 5, 4), join_elements=True).eval()
    draws = torch.Generator().manual_seed(0)
    spheres, kinds = torch.rand(2, 4, 5, 8, 8, generator=draws), torch.eye(5)[:4].repeat(2, 1, 1)
    kinds[:, 3] = 0
    energy = net(spheres, kinds)
    order = [2, 3, 0, 1]
    assert torch.allclose(net(spheres[:, order], kinds[:, order]), energy, atol=1e-5)
    spheres[:, 3] = 7.0
    assert torch.equal(net(spheres, kinds), energy)
    assert (net(spheres * 2, kinds) - energy).abs().min() > 1e-5


def test_the_papers_molecule_network_has_about_its_size():
    net = SphericalMolecule()
    assert 1.3e6 < count(net) < 1.7e6


def test_gradients_reach_every_parameter(draw):
    net = SphericalShapes((4, 4, 3, 2), (2, 3, 3, 4), 3)
    net(draw.real(3, 2, 8, 8).float()).square().sum().backward()
    assert all(each.grad is not None and each.grad.isfinite().all() for each in net.parameters())


def test_sizes_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="three bandwidths"):
        SphericalMNIST((4, 3))
    with pytest.raises(ValueError, match="do not fit 10 pixels"):
        PlanarBaseline(10)
    with pytest.raises(ValueError, match="a bandwidth for the input and for every block"):
        SphericalMolecule((4, 3), (2, 2))
    with pytest.raises(ValueError, match="for the input and for every layer"):
        SphericalShapes((4, 3), (2, 2, 2))
    with pytest.raises(ValueError, match="classes must be an integer >= 1, got 0"):
        SphericalShapes((4, 3), (2, 2), 0)


def test_shapes_may_have_fewer_layers_and_planar_images_more_channels(draw):
    net = SphericalShapes((4, 3, 2), (6, 2, 3), 5).eval()
    assert net(draw.real(2, 6, 8, 8).float()).shape == (2, 5)
    planar = PlanarBaseline(16, (3, 4), 1, 5, c_in=6)
    assert planar(draw.real(2, 6, 16, 16).float()).shape == (2, 5)
