"""How runs of networks end, and what is refused before they begin."""

import math

import numpy as np
import pytest
import torch
from torch import nn

from regimes import data, flow, nets


def stripe(p=60, d=3, seed=0, dtype=torch.float64, n_test=40):
    return data.stripe(n_train=p, n_test=n_test, d=d, seed=seed, dtype=dtype)


def shallow(d=3, width=30, seed=0, dtype=torch.float64, **options):
    chosen = {"parametrization": "mean_field", "bias": True, **options}
    return nets.FullyConnected(d, width, seed=seed, dtype=dtype, **chosen)


def smooth(d=3, width=20, depth=2, seed=0, dtype=torch.float64):
    return nets.FullyConnected(d, width, depth, activation="softplus_5", seed=seed, dtype=dtype)


def test_result_says_what_happened():
    run = flow.gradient_flow(shallow(), stripe(), alpha=1e-2, ensemble=2, max_steps=5)
    assert run.status == (flow.Status.OUT_OF_STEPS,) * 2
    text = repr(run)
    assert "2 out of steps" in text
    assert "increase max_steps" in text
    assert run.times.shape == run.losses.shape
    assert (run.times[:, 0] == 0).all()


def test_wall_clock_ends_a_run():
    run = flow.gradient_flow(shallow(width=200), stripe(p=200), alpha=1e-6, max_seconds=0.05)
    assert run.status == (flow.Status.OUT_OF_TIME,)


def test_dead_networks_are_stalled():
    net = shallow(width=4)
    with torch.no_grad():
        net.layers[0].weight.zero_()
        net.layers[0].bias.fill_(-1.0)
    run = flow.gradient_flow(net, stripe(p=10))
    assert run.status == (flow.Status.STALLED,)


def test_a_diverged_member_is_named_and_the_others_go_on():
    networks = [shallow(seed=i) for i in range(3)]
    with torch.no_grad():
        networks[1].layers[1].weight.fill_(torch.inf)
    run = flow.gradient_flow(nets.stack(networks), stripe(), alpha=0.01, until="t_star")
    assert run.status == (flow.Status.REACHED, flow.Status.DIVERGED, flow.Status.REACHED)
    assert "diverged: member 1" in repr(run)


def test_members_that_do_not_fit_are_split_and_it_is_said():
    def make(seed):
        return smooth(width=30, depth=3, seed=seed)

    ds = stripe(p=50)
    options = {"loss": "softhinge_20", "max_steps": 30, "ensemble": 8}
    whole = flow.gradient_flow(make, ds, **options)
    split = flow.gradient_flow(make, ds, memory="1500KiB", **options)
    assert whole.notes == ()
    assert "at a time" in split.notes[0]
    assert "at a time" in repr(split)
    torch.testing.assert_close(whole.outputs_test, split.outputs_test, rtol=1e-9, atol=1e-9)
    with pytest.raises(ValueError, match="too little"):
        flow.gradient_flow(make, ds, memory="10KiB", **options)


@pytest.mark.parametrize("alpha", [0.0, -1.0, math.nan, [1.0, 0.0]])
def test_alpha_must_be_positive(alpha):
    with pytest.raises(ValueError, match="alpha must be a finite number"):
        flow.gradient_flow(shallow(), stripe(), alpha=alpha)


def test_a_fit_that_never_comes_is_refused():
    for loss in ("cross_entropy", "mse"):
        with pytest.raises(ValueError, match="never reaches zero"):
            flow.gradient_flow(shallow(), stripe(), loss=loss, until="fitted")
    run = flow.gradient_flow(
        smooth(), stripe(p=10), loss="cross_entropy", until=flow.loss_below(0.6), max_steps=2000
    )
    assert run.status == (flow.Status.REACHED,)
    with pytest.raises(ValueError, match="nothing ends the flow"):
        flow.gradient_flow(shallow(), stripe(), until=None)


def test_labels_must_be_signs():
    digits = data.digits(n_train=50, n_test=10).pipe(data.flatten())
    net = nets.FullyConnected(64, 10)
    with pytest.raises(ValueError, match=r"labels \+1 and -1"):
        flow.gradient_flow(net, digits)


def test_float32_that_cannot_resolve_the_predictions_is_refused():
    with pytest.raises(ValueError, match="float64"):
        flow.gradient_flow(shallow(dtype=torch.float32), stripe(dtype=torch.float32), alpha=1e7)


def test_lists_must_have_one_entry_a_member():
    with pytest.raises(ValueError, match="2 of alpha, 3 of ensemble"):
        flow.gradient_flow(shallow(), stripe(), alpha=[1.0, 2.0], ensemble=3)
    with pytest.raises(ValueError, match="more points than the 60"):
        flow.gradient_flow(shallow(), stripe(), n_train=100)
    with pytest.raises(ValueError, match="test sets of one size"):
        flow.gradient_flow(shallow(), [stripe(), stripe(n_test=10)])


def test_an_ensemble_needs_to_know_how_its_networks_are_made():
    with pytest.raises(ValueError, match="does not say how"):
        flow.gradient_flow(nn.Sequential(nn.Flatten()), stripe(), ensemble=2)
    changed = shallow()
    with torch.no_grad():
        changed.layers[0].weight.mul_(2)
    with pytest.raises(ValueError, match="other parameters than its seed gives"):
        flow.gradient_flow(changed, stripe(), ensemble=2)


def test_observers_must_return_one_value_a_member():
    with pytest.raises(ValueError, match="one entry per member"):
        flow.gradient_flow(
            shallow(), stripe(), observe={"bad": flow.Observer(lambda s: torch.tensor(1.0))}
        )
    with pytest.raises(ValueError, match="no event 'nothing'"):
        flow.gradient_flow(
            shallow(),
            stripe(),
            observe={"x": flow.Observer(lambda s: s.predictions, flow.OnEvent("nothing"))},
        )


def test_arrays_and_tensors_are_lists_of_members():
    plain = flow.gradient_flow(shallow(), stripe(), alpha=[0.1, 1.0], until="t_star")
    for alpha in (np.array([0.1, 1.0]), torch.tensor([0.1, 1.0], dtype=torch.float64)):
        run = flow.gradient_flow(shallow(), stripe(), alpha=alpha, until="t_star")
        assert torch.equal(run.outputs_train, plain.outputs_train)
    seeds = flow.gradient_flow(shallow(), stripe(), ensemble=np.arange(2), until="t_star")
    assert len(seeds.status) == 2
