"""Digits, their network, and its frozen kernels."""

import numpy as np
import pytest
import torch

import regimes as rg
from regimes.lab import Point
from regimes.studies.compression.digit_parity import Params
from regimes.studies.compression.digit_parity import _nets as nets


@pytest.fixture(scope="module")
def images():
    return nets.digit_parity("digits", 30, 40, seed=0, dtype="float32")


@pytest.fixture(scope="module")
def network(images):
    return nets.networks(images, 1, (0, 1), dtype="float32", device="cpu").member(0)


def test_the_sets_do_not_overlap_and_are_prepared_alike(images):
    assert [len(part.y) for part in (images.first, images.second, images.test)] == [30, 30, 40]
    assert len(images.unseen.y) == 70
    whole = torch.cat([images.first.x, images.unseen.x]).flatten(1)
    assert torch.cdist(whole, whole).fill_diagonal_(1.0).min() > 0
    torch.testing.assert_close(whole.square().sum(1), torch.full((100,), 64.0))
    assert set(images.first.y.tolist()) == {-1.0, 1.0}


def test_unknown_images_are_refused():
    with pytest.raises(ValueError, match="digits, mnist"):
        nets.digit_parity("letters", 10, 10, seed=0, dtype="float32")


def test_the_last_layer_is_a_part_of_the_tangent_kernel(images, network):
    x, z = images.first.x, images.test.x
    parts = rg.tangent.TangentKernel(network, precision="float64")
    expected = parts.by_layer(x, z, groups={"readout": ["readout.weight"]})["readout"]
    torch.testing.assert_close(
        nets.last_layer_kernel(network)(x, z), expected, rtol=1e-4, atol=1e-7
    )
    torch.testing.assert_close(nets.tangent_kernel(network)(x, z), parts(x, z))
    torch.testing.assert_close(nets.tangent_kernel(network)(x, x), parts(x))


def test_kernels_learn_from_the_sets_they_should(images, network):
    frozen = nets.frozen_kernels(network, network, images, points=20)
    sizes = [len(one.y_test) for one in frozen]
    assert sizes == [70, 40, 70, 40]
    for one, kernel in zip(frozen, nets.KERNELS, strict=True):
        labels = images.first.y if "initial" in kernel else images.second.y
        torch.testing.assert_close(one.y.float(), labels)
        assert float(one.gram.diagonal().mean()) == pytest.approx(1.0)
        assert one.fresh.shape == (20, 20)


def test_a_kernel_that_knows_the_label_makes_no_errors():
    y = torch.tensor([1.0, -1.0] * 10, dtype=torch.float64)
    known = nets.Frozen(torch.outer(y, y), y, torch.outer(y, y), y, torch.outer(y, y), y)
    blind = nets.Frozen(torch.eye(20).double(), y, -torch.outer(y, y), y, torch.eye(20), y)
    errors, satisfied = nets.learn([[known, blind, known, blind]])
    np.testing.assert_array_equal(errors, [[0, 1, 0, 1]])
    np.testing.assert_array_equal(satisfied, np.ones((1, 4)))


def test_errors_of_a_network(images, network):
    with torch.no_grad():
        outputs = network(images.test.x)[:, 0]
    agreeing = images.test._replace(y=outputs.sign())
    assert nets.network_error(network, agreeing) == 0
    assert nets.network_error(network, agreeing._replace(y=-outputs.sign())) == 1


def test_cubes_have_their_dimensions():
    params = Params(cube_points=400, cube_draws=2)
    (found,) = nets.cube_dimensions(params, Point({"p": 40, "seed": (0,)}))
    assert found == pytest.approx(nets.CUBES, rel=0.15)
    assert found != nets.cube_dimensions(params, Point({"p": 80, "seed": (0,)}))[0]
