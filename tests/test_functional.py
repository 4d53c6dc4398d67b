"""A network as a function of its parameters."""

import pytest
import torch
from torch import nn

from regimes._functional import functional_call
from tests.tangent import zoo


def test_every_parameter_of_every_network_is_replaced_and_put_back():
    for name in ("module under two names", "tied embedding and layer", "old weight norm"):
        network, x = zoo.build(name)
        before = zoo.evaluate(network, x)
        own = [id(p) for p in network.parameters()]
        half = {key: 0.5 * p.detach() for key, p in network.named_parameters()}
        found = functional_call(network, half, (x,))
        assert [id(p) for p in network.parameters()] == own
        assert torch.equal(zoo.evaluate(network, x), before)
        with torch.no_grad():
            for p in network.parameters():
                p *= 0.5
        assert torch.equal(found, zoo.evaluate(network, x))


def test_a_name_that_is_not_there():
    network, x = zoo.build("module under two names")
    with pytest.raises(ValueError, match=r"no parameter or buffer 2\.weight; use the names"):
        functional_call(network, {"2.weight": torch.eye(4)}, (x,))


def test_put_back_after_a_failure():
    layer = nn.Linear(2, 2, bias=False, dtype=torch.float64, device="meta")
    network = nn.Sequential(layer, layer)
    weight = layer.weight
    try:
        functional_call(network, {"0.weight": torch.eye(2)}, (torch.ones(1, 3),))
    except RuntimeError:
        assert layer.weight is weight
    else:
        raise AssertionError("a network of two inputs took three")
