"""Rules for the backward pass against autograd, operation by operation."""

import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils import skip_init

from regimes import nets
from regimes.tangent import TangentKernel
from regimes.tangent.passes import find_route, gradients_at
from regimes.tangent.structure import read_graph


class Bits(nn.Module):
    """A convolution and a readout with some operation between them."""

    def __init__(self, between, features, channels=4):
        super().__init__()
        self.first = skip_init(nn.Conv2d, 2, channels, 3, padding=1)
        self.norm = nn.BatchNorm2d(channels)
        self.plain_norm = nn.BatchNorm2d(channels, affine=False)
        self.last = skip_init(nn.Linear, features, 3, bias=False)
        self.between = between

    def forward(self, x):
        return self.last(self.between(self, self.first(x)).flatten(1))


def twice(net, h):
    """The same convolution's result on three ways to the output, one of them subtracted."""
    a = h.tanh()
    return (a - 0.5 * h.relu()) + torch.add(h, a, alpha=2)


OPERATIONS = {
    "relu": (lambda net, h: h.relu(), 144),
    "tanh": (lambda net, h: h.tanh(), 144),
    "silu": (lambda net, h: F.silu(h), 144),
    "softplus": (lambda net, h: F.softplus(h, beta=3.0, threshold=2.0), 144),
    "sigmoid": (lambda net, h: h.sigmoid(), 144),
    "gelu": (lambda net, h: F.gelu(h), 144),
    "gelu by tanh": (lambda net, h: F.gelu(h, approximate="tanh"), 144),
    "erf": (lambda net, h: torch.erf(h), 144),
    "scalars": (lambda net, h: (2.0 * h.relu() / 3.0).tanh(), 144),
    "ways that meet": (twice, 144),
    "average": (lambda net, h: F.avg_pool2d(h.relu(), 2), 36),
    "average of a strip": (lambda net, h: F.avg_pool2d(h, (3, 1)), 48),
    "maximum": (lambda net, h: F.max_pool2d(h.tanh(), 2), 36),
    "maximum of windows that overlap": (lambda net, h: F.max_pool2d(h, 3, 2, padding=1), 36),
    "mean": (lambda net, h: h.relu().mean((-1, -2)), 4),
    "mean that keeps its axis": (lambda net, h: h.mean(2, keepdim=True).relu(), 24),
    "mean beside a map of it": (lambda net, h: h.mean((2, 3)) + F.avg_pool2d(h, 6).flatten(1), 4),
    "norm": (lambda net, h: net.norm(h).relu(), 144),
    "norm without weight": (lambda net, h: net.plain_norm(h).relu(), 144),
    "view": (lambda net, h: h.view(-1, 8, 18).relu(), 144),
}


def filled(net, seed=0):
    draw = torch.Generator().manual_seed(seed)
    for tensor in (*net.parameters(), *net.buffers()):
        if tensor.is_floating_point():
            tensor.data = torch.rand(tensor.shape, dtype=torch.float64, generator=draw) - 0.4
    for module in net.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.running_var += 1.0
    return net.eval()


def images(n=5):
    draw = torch.Generator().manual_seed(3)
    return torch.randn(n, 2, 6, 6, dtype=torch.float64, generator=draw)


def route_of(net, x):
    output = net(x)
    graph = read_graph(output, dict(net.named_parameters()))
    nodes = list(dict.fromkeys(use.node for use in graph.uses))
    return output, nodes, find_route(output, graph.parents, nodes)


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("name", OPERATIONS)
def test_rules_agree_with_autograd(name, outputs):
    net = filled(Bits(*OPERATIONS[name]))
    output, nodes, route = route_of(net, images())
    assert route is not None, f"no rule for {name}"
    draw = torch.Generator().manual_seed(1)
    cotangents = torch.randn(outputs, 3, dtype=torch.float64, generator=draw)
    true = gradients_at(output, cotangents, nodes, retain=True)
    found = dict(route.pull(cotangents))
    again = dict(route.pull(cotangents))  # nothing that autograd keeps was overwritten
    assert sorted(found) == list(range(len(nodes)))
    for number, expected in enumerate(true):
        torch.testing.assert_close(found[number], expected, rtol=1e-12, atol=1e-14)
        assert torch.equal(found[number], again[number])


@pytest.mark.parametrize(
    "between",
    [
        lambda net, h: F.avg_pool2d(h, 3, stride=2),  # windows overlap
        lambda net, h: F.avg_pool2d(h, 4),  # a margin is left out
        lambda net, h: F.avg_pool2d(h, 2, padding=1),
        lambda net, h: h * h.sin(),
        lambda net, h: h.transpose(2, 3),
        lambda net, h: h.abs(),
    ],
)
def test_other_operations_are_left_to_autograd(between):
    features = between(None, torch.zeros(1, 4, 6, 6)).numel()
    net = filled(Bits(between, features))
    assert route_of(net, images())[2] is None
    true = TangentKernel(net, engine="jacobian")(images())
    torch.testing.assert_close(TangentKernel(net)(images()), true, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(
    "net",
    [
        nets.MLP(72, 8, 3, 10),
        nets.FullyConnected(72, 8, 3, 4, activation="softplus"),
        nets.LeNet5((2, 16, 16), 10),
        nets.ResNet18((2, 16, 16), 3, base=4),
    ],
    ids=lambda net: type(net).__name__,
)
def test_the_usual_networks_take_the_rules(net):
    """So that a change of torch's names does not silently make them slow."""
    shape = (3, 72) if isinstance(net, nets.FullyConnected) else (3, 2, 16, 16)
    x = torch.linspace(-1, 1, math.prod(shape)).view(shape)
    kernel = TangentKernel(net.eval())
    assert kernel._engine.structure(x).by_hand


def test_a_hook_that_changes_gradients_sends_a_network_to_autograd():
    """The rules do not see hooks, so the probe must."""

    class Hooked(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = skip_init(nn.Linear, 4, 5), skip_init(nn.Linear, 5, 2)

        def forward(self, x):
            h = self.a(x).tanh()
            if h.requires_grad:
                h.register_hook(lambda g: 2 * g)
            return self.b(h)

    net = filled(Hooked())
    x = images()[:, 0, 0, :4]
    kernel = TangentKernel(net)
    kernel(x)
    assert not kernel._engine.structure(x).by_hand
