"""The flow of networks: conserved quantities, limits, independence of members, ends, bad input."""

import dataclasses
import itertools
import math

import pytest
import torch
from torch import nn

from regimes import data, flow, nets
from regimes.flow._field import squared_norm
from regimes.flow._gradient_flow import objective_of
from regimes.flow._members import gather
from regimes.flow._network_field import NetworkField
from regimes.flow._shallow_field import is_shallow, shallow_field
from regimes.tangent import TangentKernel


def stripe(p=60, d=3, seed=0, dtype=torch.float64, n_test=40):
    return data.stripe(n_train=p, n_test=n_test, d=d, seed=seed, dtype=dtype)


def shallow(d=3, width=30, seed=0, dtype=torch.float64, **options):
    chosen = {"parametrization": "mean_field", "bias": True, **options}
    return nets.FullyConnected(d, width, seed=seed, dtype=dtype, **chosen)


def smooth(d=3, width=20, depth=2, seed=0, dtype=torch.float64):
    return nets.FullyConnected(d, width, depth, activation="softplus_5", seed=seed, dtype=dtype)


def test_fast_and_general_gradients_agree(dtype, tolerance):
    """COMP-03: the per-neuron formula against automatic differentiation."""
    for options in ({}, {"bias": False}, {"parametrization": "ntk", "bias": False}):
        sets = [stripe(seed=i, dtype=dtype) for i in range(3)]
        members = gather(
            lambda seed, o=options: shallow(seed=seed, dtype=dtype, **o),
            sets,
            alpha=[0.1, 1.0, 2.0],
            ensemble=[0, 1, 2],
            n_train=[60, 50, 40],
        )
        objective = objective_of(members, "hinge", subtract_init=True, divide_by="alpha")
        assert is_shallow(members.ensemble)
        fast, _ = shallow_field(members.ensemble, members.train.x, objective, memory=2**30)
        tiled = dataclasses.replace(fast, tile=1)
        slow = NetworkField(members.ensemble, members.train.x, True, objective, 2)
        state = {k: v + 0.1 * v.abs() for k, v in members.ensemble.parameters.items()}
        reference = slow.evaluate(state)
        for field in (fast, tiled):
            found = field.evaluate(state)
            torch.testing.assert_close(
                found.predictions, reference.predictions, rtol=tolerance, atol=tolerance
            )
            for name in state:
                torch.testing.assert_close(
                    found.speed[name], reference.speed[name], rtol=tolerance, atol=tolerance
                )


def drift(limit):
    """Largest change of beta^2 - |w|^2 - b^2 of a neuron, against the growth of beta^2."""
    net, ds = shallow(d=5, width=100), stripe(p=200, d=5)
    tolerances = flow.Tolerances(output=1e9, gradient=None, weight=limit)
    run = flow.gradient_flow(
        net,
        ds,
        alpha=1e-3,
        divide_by="alpha",
        until="t_star",
        tolerances=tolerances,
        rule=flow.StepRule(first=1e9),  # every step is as long as the weights allow
    )
    before = {name: p.detach()[None] for name, p in net.named_parameters()}

    def invariant(p):
        weights, bias, beta = p["layers.0.weight"], p["layers.0.bias"], p["layers.1.weight"][:, 0]
        return beta**2 - (weights**2).sum(-1) - bias**2

    def beta_squared(p):
        return (p["layers.1.weight"] ** 2).max()

    change = (invariant(run.parameters) - invariant(before)).abs().max()
    return float(change / (beta_squared(run.parameters) - beta_squared(before)))


def test_neurons_keep_their_invariant_and_the_drift_falls_with_the_step():
    """COMP-02: beta^2 - |w|^2 - b^2 of every relu neuron."""
    drifts = [drift(limit) for limit in (0.04, 0.02, 0.01)]
    assert drifts[1] < 0.02
    for coarse, fine in itertools.pairwise(drifts):
        assert fine / coarse == pytest.approx(0.5, abs=0.1)


def test_mean_square_of_a_linear_model_has_a_closed_form():
    """F(t) = (1 - e^{-K t/n}) y for F = f - f0."""
    net = nets.FullyConnected(4, 1, depth=0, dtype=torch.float64, seed=1)
    ds = stripe(p=30, d=4)
    t = 5.0
    kernel = ds.x_train @ ds.x_train.T / 4
    values, vectors = torch.linalg.eigh(kernel / len(kernel))
    exact = vectors @ ((1 - torch.exp(-values * t)) * (vectors.T @ ds.y_train))
    run = flow.gradient_flow(
        net,
        ds,
        loss="mse",
        until=None,
        t_end=t,
        method="rk4",
        tolerances=flow.Tolerances(output=0.1, gradient=1e-3),
    )
    assert run.status == (flow.Status.REACHED,)
    assert run.times[0, -1] == t
    torch.testing.assert_close(run.outputs_train[0, :, 0], exact, rtol=0, atol=1e-6)
    frozen = flow.kernel_flow(kernel, ds.y_train, loss="mse", until=None, t_end=t, method="rk4")
    torch.testing.assert_close(frozen.outputs_train[0, :, 0], exact, rtol=0, atol=1e-6)


@pytest.mark.parametrize(("method", "order"), [("euler", 1), ("heun", 2)])
def test_order_of_convergence(method, order):
    """Halving the change of the gradient a step divides the error by 2^order."""
    ds = stripe(p=30, d=4)
    kernel = ds.x_train @ ds.x_train.T / 4 + torch.eye(30, dtype=torch.float64)
    values, vectors = torch.linalg.eigh(kernel / 30)
    exact = vectors @ ((1 - torch.exp(-values * 20.0)) * (vectors.T @ ds.y_train))
    errors = []
    for step in (0.8, 0.4):
        run = flow.kernel_flow(
            kernel,
            ds.y_train,
            loss="mse",
            until=None,
            t_end=20.0,
            method=method,
            tolerances=flow.Tolerances(output=1e9, gradient=1e9),
            rule=flow.StepRule(first=step, grow=1 + 1e-12),
        )
        errors.append((run.outputs_train[0, :, 0] - exact).abs().max())
    assert math.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.35)


@pytest.mark.parametrize("loss", ["hinge", "softhinge_20", "qhinge"])
def test_large_alpha_is_the_frozen_kernel_step_for_step(loss):
    """From the first step on, whose length is found alike."""
    net, ds = smooth(width=40), stripe(p=25)
    run = flow.gradient_flow(
        net,
        ds,
        loss=loss,
        alpha=1e7,
        until=None,
        t_end=3.0,
        tolerances=flow.Tolerances(gradient=1e-2, output=0.1),
    )
    K, K_test = TangentKernel(net)(ds.x_train), TangentKernel(net)(ds.x_test, ds.x_train)
    frozen = flow.kernel_flow(
        K,
        ds.y_train,
        K_test,
        loss=loss,
        until=None,
        t_end=3.0,
        tolerances=flow.Tolerances(gradient=1e-2, output=0.1),
    )
    torch.testing.assert_close(run.outputs_train, frozen.outputs_train, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(run.outputs_test, frozen.outputs_test, rtol=1e-5, atol=1e-5)
    if loss != "hinge":  # a smooth loss takes the very same steps
        assert run.steps.item() == frozen.steps.item()


def test_the_first_step_lowers_the_loss_or_moves_the_weights_by_a_percent():
    """At a large scale the first limit is nearer, at a small one the second."""
    options = {"loss": "mse", "until": None, "t_end": 1e9, "max_steps": 1}
    tolerances = flow.Tolerances(output=1e9, gradient=None)
    run = flow.gradient_flow(
        smooth(), stripe(p=10), alpha=[1e-4, 1e4], tolerances=tolerances, **options
    )
    history = {name: value[:, 0] for name, value in run.history.items()}
    moved = history["step_size"] * history["gradient"] / history["weight"]
    fallen = 1 - run.losses[:, -1] / run.losses[:, 0]
    assert moved[0].item() == pytest.approx(0.01)
    assert fallen[1].item() == pytest.approx(0.01, rel=0.05)
    assert fallen[0] < 0.01
    assert moved[1] < 0.01
    old = flow.StepRule(first="weights")
    run = flow.gradient_flow(
        smooth(), stripe(p=10), alpha=1e4, tolerances=tolerances, rule=old, **options
    )
    step = run.history["step_size"][0, 0] * history["gradient"][1] / history["weight"][1]
    assert step.item() == pytest.approx(0.01)


def test_members_of_a_batch_equal_members_alone():
    sets = [stripe(p=12, seed=1), stripe(p=8, seed=2), stripe(p=12, seed=3)]
    alphas, seeds = [1e-3, 0.3, 10.0], [4, 5, 6]
    together = flow.gradient_flow(
        lambda seed: shallow(seed=seed), sets, alpha=alphas, ensemble=seeds, divide_by="alpha"
    )
    assert len(set(together.steps.tolist())) == 3  # they ended at different steps
    for i in range(3):
        alone = flow.gradient_flow(
            shallow(seed=seeds[i]), sets[i], alpha=alphas[i], divide_by="alpha"
        )
        assert alone.status[0] is together.status[i]
        assert alone.steps[0] == together.steps[i]
        torch.testing.assert_close(
            alone.outputs_test[0], together.outputs_test[i], rtol=1e-9, atol=1e-9
        )
        for name, value in alone.parameters.items():
            torch.testing.assert_close(value[0], together.parameters[name][i], rtol=1e-9, atol=1e-9)


def test_members_of_a_batch_equal_members_alone_by_autograd():
    def make(seed):
        return smooth(seed=seed)

    ds = stripe(p=20)
    options = {"loss": "softhinge_20", "n_train": [20, 12], "alpha": [1.0, 2.0], "max_steps": 300}
    together = flow.gradient_flow(make, ds, ensemble=[1, 2], **options)
    for i in range(2):
        own = {**options, "n_train": options["n_train"][i], "alpha": options["alpha"][i]}
        alone = flow.gradient_flow(make(i + 1), ds, **own)
        torch.testing.assert_close(
            alone.outputs_test[0], together.outputs_test[i], rtol=1e-9, atol=1e-9
        )


def test_any_module_can_be_trained(dtype):
    def make(seed):
        first, second = nn.Linear(3, 8, device="meta"), nn.Linear(8, 1, device="meta")
        net = nn.Sequential(first, nn.Tanh(), second).to(dtype).to_empty(device="cpu")
        draws = torch.Generator().manual_seed(seed)
        with torch.no_grad():
            for p in net.parameters():
                p.copy_(torch.randn(p.shape, generator=draws, dtype=torch.float64))
        return net

    run = flow.gradient_flow(
        make,
        stripe(p=10, dtype=dtype),
        loss="softhinge_20",
        ensemble=3,
        max_steps=400,
        tolerances=flow.Tolerances(gradient=1e-2),
    )
    assert (run.losses[:, -1] < run.losses[:, 0]).all()
    assert run.outputs_test.dtype == dtype


def test_time_follows_the_prefactor_and_the_path_does_not():
    ds, net = stripe(p=20), smooth()
    alpha = 0.5
    runs = {
        divide_by: flow.gradient_flow(
            net,
            ds,
            loss="softhinge_5",
            alpha=alpha,
            divide_by=divide_by,
            until=None,
            t_end=t,
            rule=flow.StepRule(first=0.01 * t),
        )
        for divide_by, t in (("alpha^2", 1.0), ("alpha", 1.0 / alpha), ("1", 1.0 / alpha**2))
    }
    for run in runs.values():
        torch.testing.assert_close(
            run.outputs_train, runs["alpha^2"].outputs_train, rtol=1e-9, atol=1e-9
        )


def test_tolerances_are_met_and_reported():
    tolerances = flow.Tolerances(output=0.05, gradient=1e-3)
    run = flow.gradient_flow(
        smooth(), stripe(p=20), loss="softhinge_20", tolerances=tolerances, max_steps=500
    )
    assert 0 < run.worst["output"] < 0.05
    assert 0 < run.worst["gradient"] < 1e-3
    assert run.steps + run.refused <= 500
    assert run.forced == 0


def test_forced_steps_pass_a_switch_that_no_short_step_can():
    relu = nets.FullyConnected(3, 6, 2, seed=0, dtype=torch.float64)
    options = {
        "loss": "softhinge_20",
        "tolerances": flow.Tolerances(gradient=1e-4),
        "max_steps": 3000,
    }
    stuck = flow.gradient_flow(relu, stripe(p=5), **options)
    forced = flow.gradient_flow(relu, stripe(p=5), rule=flow.StepRule(floor=1e-3), **options)
    assert forced.forced > 0
    assert forced.times[0, -1] > 2 * stuck.times[0, -1]


def test_momentum_without_inertia_is_gradient_flow():
    options = {"loss": "softhinge_20", "until": None, "t_end": 1.0}
    plain = flow.gradient_flow(smooth(), stripe(p=20), **options)
    none = flow.gradient_flow(smooth(), stripe(p=20), momentum=flow.Momentum(0.0), **options)
    torch.testing.assert_close(plain.outputs_train, none.outputs_train, rtol=0, atol=0)
    little = flow.gradient_flow(smooth(), stripe(p=20), momentum=flow.Momentum(1e-6), **options)
    torch.testing.assert_close(plain.outputs_train, little.outputs_train, rtol=1e-3, atol=1e-3)
    heavy = flow.gradient_flow(smooth(), stripe(p=20), momentum=flow.Momentum(1.0), **options)
    assert (heavy.losses[:, -1] > plain.losses[:, -1]).all()  # it has to be set in motion first


def test_momentum_of_a_linear_model_is_a_damped_oscillator():
    """tau o'' + o' = K (y - o)/n, for one point: a scalar equation."""
    tau, t = 2.0, 3.0
    run = flow.kernel_flow(
        torch.ones(1, 1, dtype=torch.float64),
        torch.ones(1, dtype=torch.float64),
        loss="mse",
        until=None,
        t_end=t,
        momentum=flow.Momentum(tau),
        tolerances=flow.Tolerances(output=1e-3, gradient=None),
        rule=flow.StepRule(first=1e-3),
    )
    rate, omega = 1 / (2 * tau), math.sqrt(1 / tau - 1 / (2 * tau) ** 2)
    decay = math.exp(-rate * t) * (math.cos(omega * t) + rate / omega * math.sin(omega * t))
    assert run.outputs_train.item() == pytest.approx(1 - decay, abs=2e-3)


def test_events_happen_in_order_and_observers_see_them():
    ds = stripe(p=15, d=3)
    seen = []

    def norm(snapshot):
        seen.append(len(snapshot.numbers))
        assert snapshot.predict_test().shape == (len(snapshot.numbers), 40, 1)
        assert snapshot.network(0)(ds.x_test).shape == (40, 1)
        torch.testing.assert_close(
            snapshot.predict(ds.x_train), snapshot.predictions, rtol=1e-8, atol=1e-8
        )
        return squared_norm(snapshot.parameters)

    when = flow.AnyOf((flow.LogTimes(5), flow.OnEvent("t_star")))
    run = flow.gradient_flow(
        shallow(),
        ds,
        alpha=1e-3,
        ensemble=3,
        divide_by="alpha",
        observe={"norm": flow.Observer(norm, when)},
    )
    times = run.event_times
    assert (times["t_star"] < times["halved"]).all()
    assert (times["halved"] < times["fitted"]).all()
    record = run.recordings["norm"]
    for i in range(3):
        assert record.times[i][0] == 0
        assert times["t_star"][i] in record.times[i]
        assert record.times[i][-1] == times["fitted"][i] == run.times[i, -1]
        assert (record.times[i].diff() > 0).all()
    torch.testing.assert_close(record.last, squared_norm(run.parameters))
    assert record.at(times["t_star"]).shape == (3,)
    assert min(seen) < 3  # members were observed at times of their own
