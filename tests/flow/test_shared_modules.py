"""Networks that share modules, or that a pass writes to, train and ensemble like any other."""

import pytest
import torch
from tests.tangent import zoo
from torch import nn

from regimes import data, flow, nets


class Once(nn.Module):
    """A layer used twice, with one name."""

    def __init__(self, shared, last):
        super().__init__()
        self.shared, self.last = shared, last

    def forward(self, x):
        return self.last(self.shared(torch.tanh(self.shared(x))))


def networks():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        shared, last = nn.Linear(3, 3).double(), nn.Linear(3, 1).double()
    return nn.Sequential(shared, nn.Tanh(), shared, last), Once(shared, last)


class Sum(nn.Module):
    def forward(self, h):
        return h.sum(1, keepdim=True)


WIDE = data.stripe(n_train=20, n_test=10, d=4, seed=0, dtype=torch.float64)
STRIPE = data.stripe(n_train=20, n_test=10, d=3, seed=0, dtype=torch.float64)


@pytest.mark.parametrize(
    "train",
    [
        lambda net: flow.gradient_flow(net, STRIPE, max_steps=20),
        lambda net: flow.descend(net, STRIPE, rate=0.5, loss="hinge", max_steps=20),
    ],
    ids=["gradient_flow", "descend"],
)
def test_trains_like_one_name(train):
    twice, once = networks()
    weight = twice[0].weight
    found, true = train(twice), train(once)
    torch.testing.assert_close(found.losses, true.losses, rtol=1e-12, atol=0)
    assert float(found.losses[0][-1]) < 0.95 * float(found.losses[0][0])
    assert twice[0].weight is weight
    assert twice[2].weight is weight


def test_ensemble_gives_members_back():
    twice, _ = networks()
    ensemble = nets.stack([twice, twice])
    x = torch.ones(2, 3, dtype=torch.float64)
    for index in range(2):
        torch.testing.assert_close(ensemble(x)[index], ensemble.member(index)(x))
    torch.testing.assert_close(ensemble(x)[0], twice(x))


@pytest.mark.filterwarnings("ignore:There is a performance drop")  # of the old weight norm
@pytest.mark.parametrize("name", ["pruned", "old weight norm", "buffers written in forward"])
def test_networks_that_hooks_and_passes_write_to(name):
    """What a pass leaves in a module is neither copied nor left behind by ensembles."""
    body, x = zoo.build(name)
    network = nn.Sequential(body, Sum())
    zoo.evaluate(network, x)
    module, attribute = (body, "hidden") if hasattr(body, "hidden") else (body[0], "weight")
    left = getattr(module, attribute)
    run = flow.gradient_flow(network, WIDE, max_steps=10)
    assert float(run.losses[0][-1]) < 0.99 * float(run.losses[0][0])
    assert getattr(module, attribute) is left
    ensemble = nets.stack([network, network])
    torch.testing.assert_close(ensemble(x)[0], network(x))
    torch.testing.assert_close(ensemble.member(1)(x), network(x))
