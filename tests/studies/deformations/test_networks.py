"""The networks of the theme and the layers of their profiles by depth."""

import pytest
import torch

from regimes import data, measure
from regimes.studies.deformations import _networks, _training

DEPTHS = {"fc4": 4, "lenet": 4, "alexnet": 7, "vgg11bn": 8, "mini8": 5, "efficientnet_b0": 17}


@pytest.fixture
def made():
    source = torch.Generator().manual_seed(0)
    x, y = torch.rand(6, 3, 32, 32, generator=source), torch.arange(6)
    return data.Dataset(x, y, x, y, name="noise", description=("noise",), seed=0)


@pytest.mark.parametrize("name", DEPTHS)
def test_a_profile_has_every_layer_and_the_output(name, made):
    net = _networks.network(name, made, 0, base=4)
    layers = _networks.block_names(net)
    assert len(layers) == DEPTHS[name]
    found = _training.profile(net, made.x_test, 0)
    assert len(found) == DEPTHS[name] + 1
    assert found[-1] == pytest.approx(float(measure.stability(net, made.x_test).R_f))


def test_kinds_know_what_their_networks_have(made):
    for name, kind in _networks.KINDS.items():
        net = _networks.network(name, made, 0, base=2)
        normed = any(isinstance(each, torch.nn.BatchNorm2d) for each in net.modules())
        assert normed == kind.batch_norm, name
    assert set(_networks.LABELS) == set(_networks.KINDS)
