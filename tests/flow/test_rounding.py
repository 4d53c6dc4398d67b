"""Rounding of `alpha (f - f0)`: runs that it moves are refused or say so, others do not."""

import warnings

import pytest
import torch

from regimes import data, flow, nets


def train(alpha, dtype, *, gradient=1e-3, **options):
    """A small network at a large scale, where float32 resolves alpha (f - f0) to 4e-7 alpha."""
    ds = data.stripe(n_train=12, n_test=20, d=3, seed=0, dtype=dtype)
    net = nets.FullyConnected(3, 30, 2, activation="softplus_5", seed=0, dtype=dtype)
    chosen = {"loss": "softhinge_20", "tolerances": flow.Tolerances(gradient=gradient), **options}
    return flow.gradient_flow(net, ds, alpha=alpha, **chosen)


def test_a_run_that_rounding_moved_says_so_and_names_the_cure():
    with pytest.warns(RuntimeWarning, match=r"rounding: member 2: .*in float64"):
        single = train([10.0, 100.0, 4e3], torch.float32)
    assert "rounding: member 2:" in repr(single)
    assert single.unresolved[2] > 1e-3 > 1e3 * single.unresolved[:2].max()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        double = train(1e6, torch.float64, max_steps=150)
    assert (double.unresolved == 0).all()
    assert double.notes == ()


def test_out_of_steps_for_rounding_does_not_advise_more_steps():
    with pytest.warns(RuntimeWarning, match="float64"):
        run = train(6e3, torch.float32, max_steps=250)
    assert run.status == (flow.Status.OUT_OF_STEPS,)
    assert "increase max_steps" not in repr(run)
    short = train(10.0, torch.float32, max_steps=20)
    assert "increase max_steps" in repr(short)


@pytest.mark.parametrize("options", [{}, {"subtract_init": False}])
def test_precision_is_measured_against_the_tolerances(options):
    """The tighter the tolerance of the gradient, the shorter steps are and the finer they show."""
    with pytest.raises(ValueError, match="make the network and the data in float64"):
        train(1e4, torch.float32, gradient=1e-5, **options)
    run = train(1e4, torch.float32, gradient=1e-2, max_steps=1, **options)
    assert run.unresolved == 0
    with pytest.raises(ValueError, match="use kernel_flow"):
        train(1e14, torch.float64, **options)


def test_a_flow_that_has_arrived_may_take_steps_below_its_resolution():
    ds = data.stripe(n_train=4, n_test=1, d=6, seed=0, dtype=torch.float64)
    net = nets.FullyConnected(6, 30, 2, activation="softplus_5", seed=0, dtype=torch.float64)
    tolerances = flow.Tolerances(gradient=1.0)
    run = flow.gradient_flow(
        net, ds, alpha=1e6, loss="mse", until=None, t_end=300.0, tolerances=tolerances
    )
    assert 0 < run.unresolved < 1e-12  # such steps were taken, and little was left to do
    assert run.notes == ()
