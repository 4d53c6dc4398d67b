"""What a user froze stays where it is, and what is left moves as plain autograd says."""

import pytest
import torch

from regimes import data, flow, nets, tangent

DATA = data.stripe(n_train=12, n_test=4, d=3, seed=0, dtype=torch.float64)


def fully_connected(seed=0, activation="softplus_5"):
    return nets.FullyConnected(3, 6, 2, activation=activation, seed=seed, dtype=torch.float64)


def any_module(seed=0):
    return nets.MLP(3, 5, 2, 1, seed=seed, dtype=torch.float64)


def half_frozen(make, seed=0):
    network = make(seed)
    for parameter in list(network.parameters())[:2]:
        parameter.requires_grad_(False)
    return network


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("make", [fully_connected, any_module])
def test_frozen_parameters_do_not_move(make, count):
    networks = [half_frozen(make, seed) for seed in range(count)]
    options = {"loss": "mse", "until": None, "max_steps": 20}
    for run in (
        flow.gradient_flow(nets.stack(networks), DATA, t_end=0.5, **options),
        flow.descend(nets.stack(networks), DATA, rate=0.1, loss="mse", max_steps=5),
    ):
        for i, network in enumerate(networks):
            trained = dict(run.ensemble.member(i).named_parameters())
            for name, before in network.named_parameters():
                assert torch.equal(trained[name], before) is not before.requires_grad, name


def test_the_rest_moves_as_autograd_says():
    network = half_frozen(fully_connected)
    run = flow.descend(
        network, DATA, rate=0.1, loss="mse", max_steps=1, subtract_init=False, divide_by="1"
    )
    (network(DATA.x_train)[:, 0] - DATA.y_train).square().mean().mul(0.5).backward()
    for name, after in run.parameters.items():
        before = network.get_parameter(name)
        torch.testing.assert_close(after[0], (before - 0.1 * before.grad).detach())


def test_all_frozen_or_unequally_frozen_networks_are_refused():
    with pytest.raises(ValueError, match="all 3 are frozen, call requires_grad_"):
        nets.stack([fully_connected().requires_grad_(False)])
    with pytest.raises(ValueError, match="which are frozen"):
        nets.stack([fully_connected(), half_frozen(fully_connected)])
    with pytest.raises(ValueError, match="are frozen: use TangentKernel"):
        tangent.stacked_gram(nets.stack([half_frozen(fully_connected)]), DATA.x_train)
