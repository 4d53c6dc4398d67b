"""Passes with the channels of a pixel side by side: who takes them, and that nothing changes."""

import pytest
import torch
from torch import nn

import regimes as rg
from regimes.tangent import TangentKernel
from tests.tangent import zoo

IMAGE = (3, 8, 8)


def images():
    return torch.randn(6, *IMAGE, generator=torch.Generator().manual_seed(3))


def channels_last(network, x):
    return "with channels last" in str(TangentKernel(network).plan(x))


def reference(network, x):
    return zoo.gram(zoo.jacobian(network, x))


def relative(found, true):
    return float((found.double() - true).norm() / true.norm())


def made(make):
    """A network of torch's own layers, always the same one."""
    with torch.random.fork_rng():
        torch.manual_seed(5)
        return make().eval()


class Rows(nn.Module):
    """Convolutions whose result is turned into rows by the function given."""

    def __init__(self, rows):
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 16, 3), nn.Conv2d(16, 20, 3)
        self.readout = nn.Linear(320, 2)
        self.rows = rows

    def forward(self, x):
        return self.readout(self.rows(self.second(self.first(x).relu())).relu())


def narrow():
    return nn.Sequential(nn.Conv2d(3, 16, 3), nn.Flatten(), nn.Linear(576, 2))


def pooled():
    return nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1),
        nn.BatchNorm2d(16),
        nn.Tanh(),
        nn.Conv2d(16, 18, 3, stride=2),
        nn.ReLU(),
        nn.MaxPool2d(2, 1),
        nn.Flatten(),
        nn.Linear(72, 3),
    )


def grouped():
    return nn.Sequential(
        nn.Conv2d(3, 32, 3),
        nn.ReLU(),
        nn.AvgPool2d(2),
        nn.Conv2d(32, 32, 2, groups=2),
        nn.Flatten(),
        nn.Linear(128, 2),
    )


NETWORKS = {
    "rows": lambda: Rows(lambda h: h.flatten(1)),
    "resnet": lambda: rg.nets.ResNet18(IMAGE, 1, base=16),
    "pooled": pooled,
    "grouped": grouped,
}


@pytest.mark.parametrize("name", NETWORKS)
def test_wide_convolutions_in_float32_take_it_and_nothing_changes(name):
    network = made(NETWORKS[name])
    x = images()
    assert channels_last(network, x)
    found = TangentKernel(network)(x)
    true = reference(network.double(), x.double())
    assert relative(found, true) < 1e-5
    again = TangentKernel(network.float())(x.to(memory_format=torch.channels_last))
    assert torch.equal(again, found)


def test_who_would_not_gain_stays_as_it_is():
    assert not channels_last(made(NETWORKS["rows"]).double(), images().double())
    assert not channels_last(made(narrow), images())


@pytest.mark.parametrize(
    "rows",
    [
        lambda h: h.view(len(h), -1),  # refuses
        lambda h: h.flatten(1) * (1.0 if h.is_contiguous() else 2.0),  # computes something else
        lambda h: torch.as_strided(h, (len(h), 320), (320, 1)),
    ],
)
def test_a_network_that_depends_on_the_order_keeps_its_own(rows):
    network = made(lambda: Rows(rows))
    assert not channels_last(network, images())
    true = reference(made(NETWORKS["rows"]).double(), images().double())
    assert relative(TangentKernel(network)(images()), true) < 1e-5


def test_no_rule_for_an_operation_means_channels_first():
    def norm():
        return nn.Sequential(
            nn.Conv2d(3, 16, 3),
            nn.Conv2d(16, 16, 3),
            nn.GroupNorm(2, 16),
            nn.Flatten(),
            nn.Linear(256, 2),
        )

    assert not channels_last(made(norm), images())
