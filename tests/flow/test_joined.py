"""The tensors of a member alone, joined into one vector."""

import torch
from torch import nn

from regimes import data, flow, nets
from regimes.flow._joined import FEW, Joined, joined


def test_only_few_tensors_of_one_member_and_precision_are_joined():
    one = {"a": torch.arange(6.0).view(1, 2, 3), "b": torch.ones(1, 2)}
    together = joined(one)
    assert isinstance(together, Joined)
    assert list(together) == ["a", "b"]
    assert all(torch.equal(together[name], one[name]) for name in one)
    for others in (
        {"a": torch.ones(2, 3)},
        {"a": torch.ones(1, 3), "b": torch.ones(1, 3, dtype=torch.float64)},
        {"a": torch.empty(1, FEW + 1)},
    ):
        assert joined(others) is others


def test_a_module_alone_flows_alike_in_any_order_of_its_parameters():
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        module = nn.Sequential(nn.Linear(3, 6), nn.Tanh(), nn.Linear(6, 1)).double()
    ensemble = nets.stack([module])
    turned = ensemble.moved_to(dict(reversed(ensemble.parameters.items())))
    ds = data.stripe(n_train=20, n_test=1, d=3, seed=0, dtype=torch.float64)
    runs = [
        flow.gradient_flow(each, ds, loss="softhinge_20", until=None, t_end=1.0)
        for each in (ensemble, turned)
    ]
    assert list(runs[1].parameters) == list(reversed(runs[0].parameters))
    torch.testing.assert_close(runs[1].outputs_train, runs[0].outputs_train, rtol=0, atol=1e-9)


def test_the_last_member_on_its_way_goes_on_as_it_would_alone():
    """The others leave the batch first: what is left of it is joined on the way."""
    ds = data.stripe(n_train=20, n_test=1, d=3, seed=0, dtype=torch.float64)
    net = nets.FullyConnected(3, 8, 2, activation="softplus_5", seed=0, dtype=torch.float64)
    options = {"loss": "softhinge_20", "until": flow.loss_below(0.3)}
    both = flow.gradient_flow(net, ds, alpha=[1.0, 0.1], **options)
    alone = flow.gradient_flow(net, ds, alpha=0.1, **options)
    assert both.steps[0] != both.steps[1] == alone.steps[0]
    torch.testing.assert_close(both.outputs_train[1:], alone.outputs_train, rtol=0, atol=1e-9)
