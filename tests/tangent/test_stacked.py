"""Kernels of stacked networks against the kernel of each."""

import pytest
import torch

from regimes import measure, nets
from regimes.tangent import (
    TangentKernel,
    layer_gradients,
    neuron_grams,
    stacked_change,
    stacked_gram,
)


def members(**options):
    return nets.stack(lambda seed: nets.FullyConnected(4, 6, seed=seed, **options), range(3))


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("parametrization", ["ntk", "mean_field", "standard"])
def test_it_is_the_kernel_of_every_member(dtype, tolerance, depth, bias, parametrization):
    ensemble = members(
        depth=depth,
        bias=bias,
        parametrization=parametrization,
        activation="softplus_5",
        dtype=dtype,
    )
    x = torch.randn(5, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64).to(dtype)
    found = stacked_gram(ensemble, x)
    for i in range(3):
        kernel = TangentKernel(ensemble.member(i), precision=str(dtype).removeprefix("torch."))
        torch.testing.assert_close(found[i], kernel(x), rtol=50 * tolerance, atol=50 * tolerance)
    torch.testing.assert_close(stacked_gram(ensemble, x[:2], x), found[:, :2])


def test_a_small_budget_takes_the_members_one_by_one():
    ensemble, x = members(depth=2), torch.ones(5, 4)
    torch.testing.assert_close(stacked_gram(ensemble, x, memory=1), stacked_gram(ensemble, x))


def test_the_change_of_every_members_kernel():
    ensemble, other = members(depth=2), members(depth=3)
    after, before = stacked_gram(other, torch.eye(4)), stacked_gram(ensemble, torch.eye(4))
    each = [measure.kernel_change(after[i], before[i]) for i in range(3)]
    torch.testing.assert_close(measure.kernel_change(after, before), torch.stack(each))


@pytest.mark.parametrize("function", [stacked_gram, layer_gradients])
def test_other_networks_are_refused(function):
    with pytest.raises(ValueError, match=f"{function.__name__} takes .* one output"):
        function(members(out_dim=2), torch.ones(5, 4))
    with pytest.raises(ValueError, match=r"takes an Ensemble, got FullyConnected; make one with"):
        function(nets.FullyConnected(4, 6, seed=0), torch.ones(5, 4))


def test_gradients_by_layer_are_those_of_automatic_differentiation():
    ensemble = members(depth=3, dtype=torch.float64)
    x = torch.linspace(-1, 1, 20, dtype=torch.float64).reshape(5, 4)
    for i, row in enumerate(layer_gradients(ensemble, x)):
        net = ensemble.member(i)
        squares = [torch.zeros(()) for _ in row]
        for one in x:
            slopes = torch.autograd.grad(net(one[None]).sum(), list(net.parameters()))
            squares = [s + g.square().mean() / len(x) for s, g in zip(squares, slopes, strict=True)]
        torch.testing.assert_close(row, torch.stack(squares).sqrt().to(row))


def test_changes_are_those_of_every_member_and_first_kernels_are_shared():
    once = members(depth=2, activation="tanh", dtype=torch.float64)
    start = once.select([0, 1, 2] * 2)
    moved = {
        name: value + 0.1 * torch.arange(6).view(-1, *[1] * (value.ndim - 1))
        for name, value in start.parameters.items()
    }
    end = start.moved_to(moved)
    x = torch.linspace(-1, 1, 20, dtype=torch.float64).reshape(5, 4)
    found = stacked_change(start, end, x)
    torch.testing.assert_close(stacked_change(start, end, x, period=3), found)
    assert found[0] == 0
    for i in range(6):
        before, after = (
            TangentKernel(each.member(i), precision="float64")(x) for each in (start, end)
        )
        torch.testing.assert_close(found[i], (after - before).norm() / before.norm())


def test_neurons_add_up_to_the_kernel_each_with_its_own_weights():
    ensemble = members(depth=2, bias=True, dtype=torch.float64)
    x = torch.randn(4, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    parts = [neuron_grams(ensemble, x, layer) for layer in range(3)]
    torch.testing.assert_close(sum(part.sum(1) for part in parts), stacked_gram(ensemble, x))
    net = ensemble.member(1).requires_grad_()
    rows = []
    for one in x:
        layer = net.layers[1]
        weight, bias = torch.autograd.grad(net(one[None]).sum(), [layer.weight, layer.bias])
        rows.append(torch.cat([weight[2], bias[2:3]]))  # of neuron 2
    torch.testing.assert_close(parts[1][1, 2], torch.stack(rows) @ torch.stack(rows).T)
    with pytest.raises(ValueError, match="layer must be from 0 to the depth 2"):
        neuron_grams(ensemble, x, 3)
