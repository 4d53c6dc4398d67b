"""N_eff: LAND-32, LAND-33, and a matrix written down point by point."""

import pytest
import torch

from regimes import nets
from regimes.tangent import effective_parameters


def points(n, d, seed=0):
    x = torch.randn(n, d, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return x * d**0.5 / x.norm(dim=1, keepdim=True)


def network(d, h, depth, seed=0, **options):
    own = {"parametrization": "standard", "bias": True, "init": "orthogonal"} | options
    return nets.FullyConnected(d, h, depth, seed=seed, dtype=torch.float64, **own)


def by_hand(net, x, step=1e-6):
    """The rank with the derivative by x as a difference of gradients."""

    def gradient(one):
        net.zero_grad()
        net(one[None]).sum().backward()
        return torch.cat([p.grad.flatten() for p in net.parameters()])

    rows = []
    for one in x:
        rows.append(gradient(one))
        for n in range(len(one)):
            e = step * torch.eye(len(one), dtype=torch.float64)[n]
            rows.append(rows[-1 - n] + (gradient(one + e) - gradient(one - e)) / (2 * step))
    sizes = torch.linalg.svdvals(torch.stack(rows))
    return int((sizes > 1e-6 * sizes[0]).sum())


@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_the_rank_is_that_of_the_matrix_by_hand(activation):
    net, x = network(3, 3, 2, activation=activation), points(60, 3)
    assert effective_parameters(net, x).count.tolist() == [by_hand(net, x)]


def test_relu_loses_one_for_each_hidden_neuron():
    members = nets.stack(lambda seed: network(6, 8, 2, seed), range(4))
    found = effective_parameters(members, points(800, 6))
    assert found.total == nets.n_total(6, 8, 2)
    exact = found.count == found.total - 2 * 8
    assert exact.sum() >= 2
    assert bool((exact | (found.always_on + found.always_off > 0)).all())
    assert bool((found.count <= found.total - 2 * 8).all())
    assert bool((found.gap[exact] > 100).all())


def test_tanh_loses_none():
    found = effective_parameters(network(4, 5, 1, activation="tanh"), points(60, 4))
    assert found.count.tolist() == [found.total]
    assert found.gap.tolist() == [torch.inf]


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_a_linear_network_has_d_plus_one(depth):
    net = network(4, 6, depth, activation="linear")
    assert effective_parameters(net, points(80, 4)).count.tolist() == [5]


def test_a_square_has_all_quadratic_forms():
    net = network(3, 9, 1, activation=torch.square, normalize=False)
    assert effective_parameters(net, points(60, 3)).count.tolist() == [(3 + 1) * (3 + 2) // 2]


def test_a_dead_layer_leaves_the_output_bias():
    net = network(4, 5, 2)
    with torch.no_grad():
        net.layers[0].bias.fill_(-100)
        net.layers[1].bias.fill_(-1)
    found = effective_parameters(net, points(60, 4))
    assert found.count.tolist() == [1]
    assert found.always_off.tolist() == [10]


def test_members_and_single_networks_agree_in_both_precisions():
    made = [network(3, 5, 2, seed) for seed in range(2)]
    together = effective_parameters(nets.stack(made), points(50, 3)).count
    alone = [effective_parameters(net.float(), points(50, 3).float()).count for net in made]
    assert together.tolist() == torch.cat(alone).tolist()


def test_bad_input():
    with pytest.raises(ValueError, match="give at least"):
        effective_parameters(network(4, 8, 2), points(10, 4))
    with pytest.raises(ValueError, match="one output"):
        effective_parameters(nets.FullyConnected(3, 2, out_dim=2), points(40, 3).float())
    with pytest.raises(ValueError, match=r"shape \(P, ...\)"):
        effective_parameters(network(4, 8, 2), torch.ones(4))
