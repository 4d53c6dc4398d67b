"""A kernel with a copy of its network, and one without."""

import pytest
import torch
from torch import nn

from regimes import nets
from regimes.tangent import TangentKernel


def network():
    return nets.MLP(4, 6, 2, 2).eval()


X = torch.linspace(-1, 1, 20).view(5, 4)


def step(net):
    with torch.no_grad():
        for p in net.parameters():
            p.mul_(1.5)


def test_a_copy_keeps_the_kernel_as_it_was():
    net = network()
    kernel = TangentKernel(net)
    before = kernel(X)
    step(net)
    assert torch.equal(kernel(X), before)
    assert not torch.allclose(TangentKernel(net)(X), before)


def test_without_a_copy_the_same_numbers_and_no_trace_in_the_network():
    net = network()
    grads = [torch.ones_like(p) for p in net.parameters()]
    for p, g in zip(net.parameters(), grads, strict=True):
        p.grad = g
    kernel = TangentKernel(net, copy=False)
    assert torch.equal(kernel(X), TangentKernel(net)(X))
    assert torch.equal(kernel.features(X), TangentKernel(net).features(X))
    torch.testing.assert_close(kernel.trace(X), TangentKernel(net).trace(X))
    kernel.matvec(X, torch.ones(5, 2))
    for p, g in zip(net.parameters(), grads, strict=True):
        assert p.grad is g
        assert torch.equal(g, torch.ones_like(g))


def test_without_a_copy_a_changed_network_is_refused():
    net = network()
    kernel = TangentKernel(net, copy=False)
    kernel(X)
    step(net)
    with pytest.raises(ValueError, match=r"layers.0.weight.*changed.*copy=False"):
        kernel(X)
    assert TangentKernel(net, copy=False)(X).isfinite().all()


def test_without_a_copy_a_frozen_or_replaced_parameter_is_refused():
    for change in (
        lambda net: net.layers[0].weight.requires_grad_(False),
        lambda net: setattr(net.layers[0], "bias", nn.Parameter(torch.zeros(6))),
    ):
        net = network()
        kernel = TangentKernel(net, copy=False)
        change(net)
        with pytest.raises(ValueError, match="changed"):
            kernel(X)


def test_without_a_copy_training_mode_is_noticed():
    net = nn.Sequential(network(), nn.Dropout(0.5)).eval()
    kernel = TangentKernel(net, copy=False)
    kernel(X)
    net.train()
    with pytest.raises(ValueError, match="eval"):
        kernel(X)


def test_another_precision_takes_a_copy_anyway():
    net = network()
    kernel = TangentKernel(net, precision="float64", copy=False)
    before = kernel(X)
    step(net)
    assert torch.equal(kernel(X), before)
    assert next(net.parameters()).dtype == torch.float32
