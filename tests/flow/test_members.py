"""Who takes part in a run: grids, and the networks that come back."""

import copy

import pytest
import torch

from regimes import data, flow, nets


def stripe(seed=0, p=12):
    return data.stripe(n_train=p, n_test=6, d=3, seed=seed, dtype=torch.float64)


def network(seed=0):
    return nets.FullyConnected(3, 8, 2, activation="tanh", seed=seed, dtype=torch.float64)


STEPS = {"loss": "softhinge_20", "max_steps": 8}


def test_a_grid_is_the_repetition_by_hand():
    sets, alphas, sizes, seeds = [stripe(0), stripe(1)], [0.5, 2.0], [5, 12], [3, 4, 8]
    run = flow.gradient_flow(
        network, sets, alpha=alphas, n_train=sizes, ensemble=seeds, grid=True, **STEPS
    )
    every = [(a, d, n, s) for a in alphas for d in sets for n in sizes for s in seeds]
    hand = flow.gradient_flow(
        network,
        [d for _, d, _, _ in every],
        alpha=[a for a, _, _, _ in every],
        n_train=[n for _, _, n, _ in every],
        ensemble=[s for _, _, _, s in every],
        **STEPS,
    )
    assert torch.equal(run.outputs_test, hand.outputs_test)
    assert run.grid == {
        "alpha": (0.5, 2.0),
        "data": (0, 1),
        "n_train": (5, 12),
        "ensemble": (3, 4, 8),
    }
    assert run.on_grid(run.outputs_test).shape == (2, 2, 2, 3, 6, 1)
    assert torch.equal(run.on_grid(run.outputs_test)[1, 0, 1, 2], hand.outputs_test[17])


def test_axes_are_the_lists_that_were_given():
    stacked = nets.stack(network, range(2))
    run = flow.gradient_flow(stacked, stripe(), alpha=[3.0], n_train=5, grid=True, **STEPS)
    assert run.grid == {"alpha": (3.0,), "network": (0, 1)}
    run = flow.gradient_flow(network(), stripe(), alpha=torch.ones(2), grid=True, **STEPS)
    assert run.grid == {"alpha": (1.0, 1.0)}
    assert torch.equal(run.outputs_test[0], run.outputs_test[1])


def test_descent_combines_rates_too():
    options = {"loss": "qhinge", "max_steps": 4, "alpha": 1.0}
    run = flow.descend(network(), stripe(), rate=[0.1, 0.2], ensemble=3, grid=True, **options)
    assert run.grid == {"rate": (0.1, 0.2), "ensemble": (0, 1, 2)}
    alone = flow.descend(network(2), stripe(), rate=0.2, **options)
    torch.testing.assert_close(run.on_grid(run.outputs_test)[1, 2], alone.outputs_test[0])


def nudged(net):
    """The network with every weight moved by its last bit."""
    made = copy.deepcopy(net)
    with torch.no_grad():
        for weight in made.parameters():
            weight.copy_(torch.nextafter(weight, torch.full_like(weight, torch.inf)))
    return made


def test_members_influence_each_other_by_rounding_alone():
    """Rounding grows where loose tolerances let steps reach the edge of stability."""
    ds = data.stripe(n_train=30, n_test=20, d=3, seed=0, dtype=torch.float64)
    first, other = (
        nets.FullyConnected(3, 30, 2, activation="softplus_5", seed=seed, dtype=torch.float64)
        for seed in (7, 1)
    )
    batch, spread = {}, {}
    for gradient in (1e-3, 1e-2):
        options = {
            "loss": "softhinge_20",
            "alpha": 3.0,
            "until": None,
            "t_end": 300.0,
            "tolerances": flow.Tolerances(gradient=gradient),
        }
        together = flow.gradient_flow(nets.stack([first, other, nudged(first)]), ds, **options)
        alone = flow.gradient_flow(first, ds, **options)
        outputs = together.outputs_test
        batch[gradient] = float((outputs[0] - alone.outputs_test[0]).abs().max())
        spread[gradient] = float((outputs[0] - outputs[2]).abs().max())
    assert spread[1e-2] > 1e-9  # the last bit of the weights (1e-16) is seen in the outputs
    assert batch[1e-3] < 1e-6
    assert batch[1e-2] < 1e-2


def test_a_run_gives_its_networks_back():
    run = flow.gradient_flow(
        network(), stripe(), alpha=2.0, ensemble=2, subtract_init=False, **STEPS
    )
    torch.testing.assert_close(2.0 * run.ensemble(stripe().x_test), run.outputs_test)
    module = run.ensemble.member(1)
    torch.testing.assert_close(2.0 * module(stripe().x_test), run.outputs_test[1])
    kernel = torch.eye(3, dtype=torch.float64)
    frozen = flow.kernel_flow(kernel, torch.ones(3, dtype=torch.float64))
    with pytest.raises(ValueError, match="trains no networks"):
        _ = frozen.ensemble


def test_bad_grids():
    with pytest.raises(ValueError, match=r"2 of alpha, 3 of ensemble; .* give grid=True"):
        flow.gradient_flow(network(), stripe(), alpha=[1.0, 2.0], ensemble=3)
    with pytest.raises(ValueError, match="grid must be True or False, got str 'alpha'"):
        flow.gradient_flow(network(), stripe(), alpha=[1.0, 2.0], grid="alpha")
    run = flow.gradient_flow(network(), stripe(), **STEPS)
    with pytest.raises(ValueError, match="give grid=True to the flow"):
        run.on_grid(run.test_errors)
    run = flow.gradient_flow(network(), stripe(), alpha=[1.0, 2.0], grid=True, **STEPS)
    with pytest.raises(ValueError, match="each of the 2 members"):
        run.on_grid(torch.ones(3))
