"""A hinge of the output over its norm, against automatic differentiation and scale."""

import pytest
import torch

from regimes import data, flow, nets


def draws(dtype):
    source = torch.Generator().manual_seed(0)
    F = torch.randn(3, 20, 1, generator=source, dtype=torch.float64).to(dtype)
    return F, torch.where(torch.arange(20) % 3 == 0, 1.0, -1.0)[None].to(dtype)


def test_the_derivative_is_that_of_the_sum_and_tangent_to_the_sphere(dtype, tolerance):
    F, y = draws(dtype)
    loss, leaf = flow.NormalisedHinge(0.7), F.clone().requires_grad_()
    values = loss.value(leaf, y)
    by_hand = 0.5 * (0.7 - y * F[..., 0] / F.square().mean(1).sqrt()).clamp_min(0) ** 2
    torch.testing.assert_close(values.detach(), by_hand, rtol=tolerance, atol=tolerance)
    values.sum().backward()
    found = loss.derivative(F, y)
    torch.testing.assert_close(found, leaf.grad, rtol=10 * tolerance, atol=10 * tolerance)
    assert float((found * F).sum(1).abs().max()) < 100 * tolerance
    for each in (loss.value, loss.margins):
        torch.testing.assert_close(each(3 * F, y), each(F, y), rtol=tolerance, atol=tolerance)


def trained(ds, **options):
    return flow.descend(
        nets.FullyConnected(4, 20, 2, bias=True, parametrization="standard"),
        ds,
        rate=3e-3,
        optimiser="adam",
        loss=flow.NormalisedHinge(0.3),
        subtract_init=False,
        divide_by="1",
        until="fitted",
        max_steps=500,
        **options,
    )


def test_networks_reach_the_margin_in_units_of_their_norm():
    ds = data.random_labels(30, 0, 4, seed=1)
    run = trained(ds, ensemble=2)
    F = run.outputs_train[..., 0]
    margins = ds.y_train * F / F.square().mean(1, keepdim=True).sqrt()
    assert [status.name for status in run.status] == ["FITTED"] * 2
    assert float(margins.min()) >= 0.3


def test_bad_input():
    ds = data.random_labels(30, 0, 4)
    with pytest.raises(ValueError, match="members need as many of them, got \\[20, 30\\]"):
        trained(ds, ensemble=2, n_train=[20, 30])
    with pytest.raises(ValueError, match="one output"):
        flow.NormalisedHinge().check(torch.zeros(1, 3), 2)
    with pytest.raises(ValueError, match="margin must be a finite number"):
        flow.NormalisedHinge(float("nan"))
