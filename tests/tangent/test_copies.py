"""What kernels are computed on: copies that follow no history, and the user's own network."""

import threading

import pytest
import torch
from torch import nn

from regimes.tangent import TangentKernel
from tests.tangent import zoo
from tests.tangent.test_engine import relative


def built(make):
    state = torch.get_rng_state()
    network = make().double()
    torch.set_rng_state(state)
    return network


X = torch.linspace(-1, 1, 12, dtype=torch.float64).view(3, 4)


class TiedOnce(nn.Module):
    """Keeps the transpose of a weight, made when the network was."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 5, bias=False, dtype=torch.float64)
        self.back = self.layer.weight.T

    def forward(self, x):
        return torch.tanh(self.layer(x)) @ self.back.T


def test_a_copy_does_not_forget_where_a_tensor_comes_from():
    network = built(TiedOnce)
    with pytest.raises(ValueError, match=r"a tensor \(4, 5\) that was computed from.*copy=False"):
        TangentKernel(network)(X)
    true = zoo.gram(zoo.jacobian(network, X))
    v = torch.ones(3, 4, dtype=torch.float64)
    for engine in ("auto", "jacobian", "products"):
        kernel = TangentKernel(network, copy=False, engine=engine)
        assert relative(kernel(X), true) < 1e-12
        assert relative(kernel.matvec(X, v), true.sum((2, 3))) < 1e-12


def test_what_cannot_be_copied_is_used_itself():
    network = built(lambda: nn.Linear(4, 2))
    network.lock = threading.Lock()
    with pytest.raises(ValueError, match=r"cannot be copied \(.*lock.*copy=False"):
        TangentKernel(network)
    kernel = TangentKernel(network, copy=False)
    assert relative(kernel(X), zoo.gram(zoo.jacobian(network, X))) < 1e-12


def test_a_copied_hook_belongs_to_the_copy():
    network, x = zoo.build("pruned")
    zoo.evaluate(network, x)
    kernel = TangentKernel(network)
    before = kernel(x)
    with torch.no_grad():
        network[0].weight_orig += 1
    assert torch.equal(kernel(x), before)
    assert relative(TangentKernel(network)(x), before) > 0.1


def test_buffers_that_a_pass_writes_may_change_and_others_not():
    network, x = zoo.build("buffers written in forward")
    network.register_buffer("mean", torch.zeros(5))
    kernel = TangentKernel(network, copy=False)
    before = kernel(x)
    network(x)
    assert torch.equal(kernel(x), before)
    network.mean += 1
    with pytest.raises(ValueError, match=r"mean changed since.*copy=False"):
        kernel(x)


class LateBloomer(nn.Module):
    """A parameter that only samples with a large first entry use."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 2)
        self.late = nn.Parameter(torch.ones(2, 2))

    def forward(self, x):
        h = self.layer(x)
        return h @ torch.linalg.matrix_exp(self.late) if (x[:, 0] > 0.9).any() else h


def test_a_parameter_that_the_probe_did_not_see_is_not_left_out():
    network = built(LateBloomer)
    x = X.repeat(3, 1)
    x[-1, 0] = 1.0
    with pytest.raises(ValueError, match="engine='jacobian'"):
        TangentKernel(network)(x)


def test_an_output_that_nothing_reaches():
    class Constant(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(4, 2))

        def forward(self, x):
            return x @ self.weight.detach()

    for engine in ("auto", "products"):
        with pytest.raises(ValueError, match="depends on no parameter"):
            TangentKernel(built(Constant), engine=engine)(X)
