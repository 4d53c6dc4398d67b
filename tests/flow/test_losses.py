"""Losses against automatic differentiation and identities."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regimes import data, flow, nets
from regimes._random import generator
from regimes.flow._losses import resolve_loss
from regimes.flow._slopes import check_slope

BINARY = [
    flow.hinge(),
    flow.hinge(margin=0.5),
    flow.quadratic_hinge(),
    flow.quadratic_hinge(0.5, half=False),
    flow.soft_hinge(20.0),
    flow.soft_hinge(3.0),
    flow.binary_cross_entropy(),
]


def predictions(dtype, c=1):
    return 3 * torch.randn(2, 30, c, generator=generator(0, "F"), dtype=torch.float64).to(dtype)


def signs(dtype):
    return torch.where(torch.arange(30) % 2 == 0, 1.0, -1.0)[None].to(dtype)


@pytest.mark.parametrize("loss", BINARY, ids=lambda loss: loss.name)
def test_binary_derivatives_are_those_of_the_values(loss, dtype, tolerance):
    F = predictions(dtype).requires_grad_()
    loss.value(F, signs(dtype)).sum().backward()
    torch.testing.assert_close(
        loss.derivative(F.detach(), signs(dtype)), F.grad, rtol=tolerance, atol=tolerance
    )


@pytest.mark.parametrize(
    "loss", [*BINARY[:4], flow.CrossEntropy()], ids=lambda loss: loss.name + " classes"
)
def test_multiclass_derivatives_are_those_of_the_values(loss, dtype, tolerance):
    F, y = predictions(dtype, 4).requires_grad_(), (torch.arange(30) % 4)[None]
    loss.value(F, y).sum().backward()
    torch.testing.assert_close(
        loss.derivative(F.detach(), y), F.grad, rtol=tolerance, atol=tolerance
    )


def test_cross_entropy_is_torchs_own():
    F, y = predictions(torch.float64, 4), torch.arange(30) % 4
    own = torch.nn.functional.cross_entropy(F[0], y, reduction="none")
    torch.testing.assert_close(flow.CrossEntropy().value(F[:1], y[None])[0], own)


def test_mean_square_has_the_residual_as_derivative():
    F, y = predictions(torch.float64), signs(torch.float64)
    loss = flow.MeanSquare()
    torch.testing.assert_close(loss.derivative(F, y)[..., 0], F[..., 0] - y)
    torch.testing.assert_close(loss.value(F, y), 0.5 * (F[..., 0] - y) ** 2)


def test_multiclass_hinge_averages_over_classes():
    F = torch.tensor([[[0.5, -2.0, 0.25]]])
    # true class 0: 1 - 0.5; class 1: 1 - 2 < 0; class 2: 1 + 0.25
    assert flow.hinge().value(F, torch.tensor([[0]])).item() == pytest.approx((0.5 + 1.25) / 3)
    assert flow.hinge().margins(F, torch.tensor([[0]])).item() == pytest.approx(-0.25)


@given(st.floats(-3, 3), st.floats(0.05, 20))
def test_the_margin_plays_the_role_of_one_over_alpha(f, alpha):
    one = torch.ones(1, 1, dtype=torch.float64)
    value = torch.full((1, 1, 1), f, dtype=torch.float64)
    scaled = flow.hinge().value(alpha * value, one).item()
    other = alpha * flow.hinge(margin=1 / alpha).value(value, one).item()
    assert scaled == pytest.approx(other, abs=1e-12)


@pytest.mark.parametrize(("beta", "gap"), [(1, 0.693), (5, 0.139), (20, 0.0347)])
def test_soft_hinge_differs_from_the_hinge_most_at_the_margin(beta, gap):
    F = torch.linspace(-3, 5, 801, dtype=torch.float64)[None, :, None]
    y = torch.ones(1, 801, dtype=torch.float64)
    difference = flow.soft_hinge(beta).value(F, y) - flow.hinge().value(F, y)
    assert difference.max().item() == pytest.approx(math.log(2) / beta, rel=1e-6)
    assert difference.max().item() == pytest.approx(gap, rel=5e-3)
    assert F[0, difference.argmax(), 0].item() == pytest.approx(1.0)


def test_names_resolve():
    for name in flow.loss_names():
        assert resolve_loss(name, 1).name
    assert resolve_loss("softhinge_7.5", 1).name == "softhinge_7.5"
    assert resolve_loss("cross_entropy", 3) == flow.CrossEntropy()
    with pytest.raises(ValueError, match="unknown loss 'hing'; use one of: hinge"):
        resolve_loss("hing", 1)


def test_labels_must_suit_the_loss():
    with pytest.raises(ValueError, match=r"labels \+1 and -1"):
        flow.hinge().check(torch.tensor([[0.0, 1.0]]), 1)
    with pytest.raises(ValueError, match=r"class indices 0..2"):
        flow.hinge().check(torch.tensor([[0, 3]]), 3)
    with pytest.raises(ValueError, match="real targets"):
        flow.MeanSquare().check(torch.tensor([[0, 3]]), 1)


def cubic(F, y):
    return (1 - y * F).clamp_min(0) ** 3


KERNEL = torch.eye(6, dtype=torch.float64) + 0.5
LABELS = signs(torch.float64)[0, :6]


def test_a_function_is_a_loss_by_autodiff(dtype, tolerance):
    F, y = predictions(dtype), signs(dtype)
    loss = resolve_loss(cubic, 1)
    assert loss.name == "cubic"
    exact = -3 * y * (1 - y * F[..., 0]).clamp_min(0) ** 2
    torch.testing.assert_close(loss.derivative(F, y)[..., 0], exact, rtol=tolerance, atol=tolerance)
    torch.testing.assert_close(loss.margins(F, y), y * F[..., 0])
    classes = flow.FunctionLoss(lambda F, y: F.logsumexp(-1) - F.gather(-1, y[..., None])[..., 0])
    F, y = predictions(dtype, 4), (torch.arange(30) % 4)[None]
    for part in ("value", "derivative", "margins"):
        expected = getattr(flow.CrossEntropy(), part)(F, y)
        torch.testing.assert_close(getattr(classes, part)(F, y), expected)


def test_flows_take_functions():
    own = flow.FunctionLoss(lambda F, y: 0.5 * (1 - y * F).clamp_min(0) ** 2, margin=1.0)
    end = {"until": None, "t_end": 5.0}
    named, mine = (flow.kernel_flow(KERNEL, LABELS, loss=loss, **end) for loss in ("qhinge", own))
    torch.testing.assert_close(mine.outputs_train, named.outputs_train)
    plain = flow.MarginLoss("mine", lambda m: 0.5 * (1 - m).clamp_min(0).square(), None, 1.0)
    mine = flow.kernel_flow(KERNEL, LABELS, loss=plain, **end)
    torch.testing.assert_close(mine.outputs_train, named.outputs_train)
    ds = data.stripe(n_train=6, n_test=3, d=3, dtype=torch.float64)
    net = nets.FullyConnected(3, 5, dtype=torch.float64)
    run = flow.gradient_flow(net, ds, loss=cubic, until="correct", max_steps=20)
    assert (run.losses[:, -1] < run.losses[:, 0]).all()


def test_a_given_slope_is_checked():
    wrong = flow.MarginLoss("wrong", lambda m: (1 - m).clamp_min(0).square(), torch.sign, 1.0)
    with pytest.raises(ValueError, match="derivative of the loss 'wrong' is not that of its val"):
        flow.kernel_flow(KERNEL, LABELS, loss=wrong)
    for loss in (*BINARY, flow.MeanSquare()):
        check_slope(loss, signs(torch.float32), (2, 30, 1))
    check_slope(flow.CrossEntropy(), torch.zeros(1, 5, dtype=torch.int64), (2, 5, 3))


def test_functions_that_are_no_losses_are_refused():
    cases = {
        "a name, a Loss or a function": (3, None, torch.nn.MSELoss),
        "take no mean over points": (torch.nn.MSELoss(), lambda F, y: 1.0),
        "leaves torch on the way": (lambda F, y: torch.zeros_like(F.detach()),),
    }
    for sentence, losses in cases.items():
        for loss in losses:
            with pytest.raises(ValueError, match=sentence):
                flow.kernel_flow(KERNEL, LABELS, loss=loss)
