"""The written-out gradient of fully connected networks, against automatic differentiation."""

import dataclasses

import pytest
import torch

from regimes import data, flow, nets
from regimes.flow._deep_field import deep_field, is_deep
from regimes.flow._gradient_flow import objective_of
from regimes.flow._members import gather
from regimes.flow._network_field import NetworkField

NETWORKS = {
    "softplus": {"activation": "softplus_5"},
    "swish, biases": {"activation": "swish_10", "bias": True},
    "relu, three outputs": {"activation": "relu", "out_dim": 3, "bias": True, "bias_std": 1.0},
    "tanh, deep": {"activation": "tanh", "depth": 4},
    "standard": {"activation": "gelu", "parametrization": "standard", "bias": True},
    "mean field": {"activation": "erf", "parametrization": "mean_field"},
    "one layer": {"activation": "softplus_5", "depth": 1},
    "linear model": {"depth": 0, "bias": True},
}


def _task(name, dtype, own):
    """Members with differing alpha and, with `own`, inputs and numbers of points."""
    options = {"depth": 2} | NETWORKS[name]
    outputs = options.get("out_dim", 1)

    def made(seed):
        points = data.random_labels(12, 2, 5, seed=seed, dtype=dtype)
        if outputs == 1:
            return points
        return dataclasses.replace(
            points, y_train=torch.arange(12) % 3, y_test=torch.zeros(2, dtype=torch.int64)
        )

    sets = [made(seed) for seed in range(7)] if own else made(0)
    return gather(
        lambda seed: nets.FullyConnected(5, 6, seed=seed, dtype=dtype, **options),
        sets,
        alpha=[0.1 * 2**i for i in range(7)],
        ensemble=range(7),
        n_train=[6, 7, 8, 9, 10, 11, 12] if own else None,
    )


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("name", NETWORKS)
def test_same_predictions_and_speeds_as_autograd(name, own, dtype, monkeypatch):
    members = _task(name, dtype, own)
    loss = "cross_entropy" if "three" in name else "softhinge_20"
    objective = objective_of(members, loss, subtract_init=True, divide_by="alpha")
    # away from the start, where all predictions are 0
    state = {name: 1.1 * value + 0.05 for name, value in members.ensemble.parameters.items()}
    slow = NetworkField(members.ensemble, members.train.x, own, objective, 7).evaluate(state)
    assert is_deep(members.ensemble)
    room = 1e-12 if dtype == torch.float64 else 2e-5
    for tile_bytes in (1, 2**20):
        monkeypatch.setattr("regimes.flow._deep_field._CPU_TILE_BYTES", tile_bytes)
        field, note = deep_field(members.ensemble, members.train.x, objective, own=own, memory=None)
        assert note is None
        assert field.tile == (1 if tile_bytes == 1 else 7)
        fast = field.evaluate(state)
        torch.testing.assert_close(fast.predictions, slow.predictions, rtol=room, atol=room)
        assert list(fast.speed) == list(slow.speed)
        for key, value in slow.speed.items():
            close = {"rtol": room, "atol": room * float(value.abs().max())}
            torch.testing.assert_close(fast.speed[key], value, **close)
        chosen = torch.tensor([5, 2])
        part = field.select(chosen).evaluate({key: value[chosen] for key, value in state.items()})
        torch.testing.assert_close(part.predictions, fast.predictions[chosen])


def test_runs_agree_with_those_of_autograd(monkeypatch):
    ds = data.stripe(n_train=30, n_test=50, d=4, seed=0, dtype=torch.float64)

    def run():
        return flow.gradient_flow(
            lambda seed: nets.FullyConnected(
                4, 20, 2, activation="softplus_5", seed=seed, dtype=torch.float64
            ),
            ds,
            loss="softhinge_20",
            alpha=[0.3, 3.0, 300.0],
            ensemble=range(3),
            max_steps=300,  # later, steps at the edge of stability make much of any rounding
        )

    fast = run()
    monkeypatch.setattr("regimes.flow._gradient_flow.is_deep", lambda ensemble: False)
    slow = run()
    assert fast.steps.tolist() == slow.steps.tolist()
    torch.testing.assert_close(fast.outputs_test, slow.outputs_test, rtol=1e-8, atol=1e-8)


def test_descent_by_batches_agrees_with_autograd(monkeypatch):
    ds = data.stripe(n_train=40, n_test=10, d=4, seed=0, dtype=torch.float64)

    def run():
        return flow.descend(
            lambda seed: nets.FullyConnected(
                4, 10, 2, activation="swish_1", bias=True, seed=seed, dtype=torch.float64
            ),
            ds,
            rate=[0.1, 0.3, 1.0],
            loss="softhinge_20",
            batch_size=7,
            ensemble=3,
            max_steps=40,
        )

    fast = run()
    monkeypatch.setattr("regimes.flow._gradient_flow.is_deep", lambda ensemble: False)
    torch.testing.assert_close(fast.outputs_test, run().outputs_test, rtol=1e-9, atol=1e-9)


def test_any_layout_of_the_state_and_a_single_neuron():
    ds = data.random_labels(9, 2, 3, dtype=torch.float64)
    for width in (1, 4):
        networks = [
            nets.FullyConnected(3, width, 3, activation="tanh", seed=i, dtype=torch.float64)
            for i in range(4)
        ]
        members = gather(
            nets.stack(networks), ds, alpha=[1.0, 2.0, 3.0, 4.0], ensemble=None, n_train=None
        )
        objective = objective_of(members, "softhinge_20", subtract_init=False, divide_by="1")
        state = {
            name: value.permute(2, 1, 0).contiguous().permute(2, 1, 0)
            for name, value in members.ensemble.parameters.items()
        }
        field, _ = deep_field(members.ensemble, ds.x_train, objective, own=False, memory=None)
        slow = NetworkField(members.ensemble, ds.x_train, False, objective, 4).evaluate(state)
        fast = field.evaluate(state)
        for name, value in slow.speed.items():
            torch.testing.assert_close(fast.speed[name], value, rtol=1e-12, atol=1e-12)


def test_networks_whose_derivative_is_unknown_are_left_to_autograd():
    plain = nets.stack([nets.FullyConnected(3, 4, activation=torch.sin)])
    assert not is_deep(plain)
    assert not is_deep(nets.stack([nets.LeNet5((1, 32, 32))]))


@pytest.mark.parametrize("activation", ["relu", "softplus_5", "tanh"])
@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("margin", [-0.4, -50.0])
def test_points_with_their_margin_need_no_backward_pass(activation, own, margin):
    points = [data.random_labels(200, 0, 5, seed=seed, dtype=torch.float64) for seed in range(4)]
    members = gather(
        lambda seed: nets.FullyConnected(
            5, 6, 2, activation=activation, bias=True, seed=seed, dtype=torch.float64
        ),
        points if own else points[0],
        alpha=1.0,
        ensemble=range(4),
        n_train=[140, 160, 180, 200],
    )
    loss = flow.quadratic_hinge(margin)
    objective = objective_of(members, loss, subtract_init=False, divide_by="1")
    state = {name: 2 * value + 0.1 for name, value in members.ensemble.parameters.items()}
    slow = NetworkField(members.ensemble, members.train.x, own, objective, 4).evaluate(state)
    pulling = (objective.pull(slow.predictions) != 0).double().mean((1, 2))
    assert bool((pulling < 0.55).all())
    assert bool((pulling > 0).all()) == (margin > -1)
    fast, _ = deep_field(members.ensemble, members.train.x, objective, own=own, memory=None)
    found = fast.evaluate(state)
    torch.testing.assert_close(found.predictions, slow.predictions, rtol=1e-12, atol=1e-12)
    for name, value in slow.speed.items():
        torch.testing.assert_close(found.speed[name], value, rtol=1e-10, atol=1e-13)
