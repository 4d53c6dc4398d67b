"""Activations with their derivatives, against automatic differentiation."""

import pytest
import torch

from regimes import nets

NAMES = ("softplus_5", "softplus_0.5", "swish_1", "swish_10", "relu", "tanh", "erf", "gelu")


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", NAMES)
def test_value_and_derivative_are_those_of_the_activation(name, dtype):
    sigma = nets.activation(name)
    curve = nets.pullback(sigma, dtype, torch.device("cpu"))
    u = torch.linspace(-300.0, 300.0, 40_001, dtype=dtype).requires_grad_()
    weight = torch.cos(u.detach())
    expected = sigma.unscaled(u.clone())
    (slope,) = torch.autograd.grad(expected, u, weight)
    value, kept = curve.apply(curve.gain * u.detach())
    room = 4 * torch.finfo(dtype).eps
    torch.testing.assert_close(value / curve.gain, expected.detach(), rtol=room, atol=room)
    # swish_10 multiplies its derivative's rounding by the argument
    torch.testing.assert_close(curve.pull(weight, kept), slope, rtol=20 * room, atol=20 * room)


def test_arguments_far_out_stay_finite_and_exact():
    sigma = nets.activation("softplus_5")
    curve = nets.pullback(sigma, torch.float64, torch.device("cpu"))
    u = torch.tensor([-1e4, -200.0, 0.0, 200.0, 1e4], dtype=torch.float64)
    value, kept = curve.apply(curve.gain * u)
    torch.testing.assert_close(value / curve.gain, sigma.function(u), rtol=1e-15, atol=1e-15)
    torch.testing.assert_close(curve.pull(torch.ones_like(u), kept), torch.sigmoid(5 * u))


def test_expanded_gradients_are_taken_and_not_changed():
    for name in NAMES:
        curve = nets.pullback(nets.activation(name), torch.float64, torch.device("cpu"))
        g = torch.tensor([[[1.0, 2.0]]], dtype=torch.float64)
        kept = curve.apply(torch.ones(1, 3, 2, dtype=torch.float64))[1]
        pulled = curve.pull(g.expand(-1, 3, -1), kept)
        torch.testing.assert_close(pulled, curve.pull(g.expand(-1, 3, -1).contiguous(), kept))
        assert g.tolist() == [[[1.0, 2.0]]]


def test_a_nan_does_not_hide_what_lies_far_out():
    curve = nets.pullback(nets.activation("softplus_1"), torch.float64, torch.device("cpu"))
    value, _ = curve.apply(torch.tensor([torch.nan, -1000.0, -5.0], dtype=torch.float64))
    assert value[1:].tolist() == pytest.approx([-1000.0, -5.006715])


@pytest.mark.parametrize(
    "sigma",
    [torch.sin, nets.Activation("softplus_shifted", lambda u: torch.relu(u) - 1.0, beta=1.0)],
)
def test_an_unknown_activation_has_none(sigma):
    made = nets.activation(sigma)
    assert nets.pullback(made, torch.float64, torch.device("cpu")) is None
