"""What is exact about the two parts of the Hessian of networks with relu [Geiger 2019]."""

import pytest
import torch

from regimes import measure, nets
from regimes._random import generator
from regimes.curvature import hessian

D, POINTS = 6, 20


def problem(depth=2, width=6, seed=0, points=POINTS):
    draws = generator(seed, "tests/identities")
    x = torch.randn(points, D, generator=draws, dtype=torch.float64)
    y = torch.randn(points, generator=draws, dtype=torch.float64).sign()
    net = nets.FullyConnected(
        D, width, depth, parametrization="standard", bias=True, seed=seed, dtype=torch.float64
    )
    with torch.no_grad():  # biases that are not zero
        for layer in net.layers:
            draw = torch.randn(layer.bias.shape, generator=draws, dtype=torch.float64)
            layer.bias.copy_(0.1 * draw)
    return net, x, y


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_hp_is_zero_within_a_layer_and_half_of_the_rest_is_bounded(depth):
    net, x, y = problem(depth)
    found = hessian(net, x, y, "qhinge")
    blocks = found.by_layer("network")
    assert all(not block.any() for block in blocks.values())
    assert float(found.network.trace()) == 0.0
    counts = measure.mode_counts(found.spectrum("network"), cutoff=1e-9)
    sizes = [len(block) for block in blocks.values()]
    assert 0 < counts.negative <= sum(sizes) - max(sizes)


def test_h0_has_a_mode_for_every_unsatisfied_point():
    """LAND-20: the kernel of H0 is exact, then comes a gap."""
    net, x, y = problem()
    margins = y * net(x).detach()[:, 0]
    unmet = int((margins < 1).sum())
    assert 0 < unmet < POINTS
    found = hessian(net, x, y, "qhinge")
    values = found.spectrum("gauss_newton")
    counts = measure.mode_counts(values)
    assert (counts.negative, counts.positive) == (0, unmet)
    assert counts.gap > 1e5


def test_h_of_satisfied_points_is_zero():
    net, x, y = problem()
    with torch.no_grad():
        y = net(x)[:, 0].sign()
        net.layers[-1].weight.mul_(1e4)
        net.layers[-1].bias.mul_(1e4)
    assert not hessian(net, x, y, "qhinge").total.any()


def test_of_the_hinge_only_hp_is_left():
    net, x, y = problem()
    found = hessian(net, x, y, "hinge")
    assert not found.gauss_newton.any()
    assert found.network.any()


@pytest.mark.parametrize("depth", [2, 3])
def test_the_sign_of_the_last_layer_is_that_of_hp(depth):
    """LAND-37: at fixed slopes of the loss the flipped network has the negated spectrum."""
    net, x, y = problem(depth)
    flipped, _, _ = problem(depth)
    with torch.no_grad():
        flipped.layers[-1].weight.neg_()
        flipped.layers[-1].bias.neg_()

    def linear(f, y):
        return -y * f

    one, other = (hessian(each, x, y, linear).spectrum("network") for each in (net, flipped))
    torch.testing.assert_close(one, -other.flip(0), rtol=0, atol=1e-12)


def test_odd_traces_vanish_on_average_over_labels():
    """LAND-37, all draws of the labels at once, as an ensemble of one network."""
    net, x, _ = problem(points=12)
    draws = 40
    y = torch.randn(draws, 12, generator=generator(1, "tests/identities"), dtype=torch.float64)
    copies = nets.stack([net] * draws)
    found = hessian(
        copies, x.expand(draws, *x.shape), y.sign(), lambda f, y: -y * f, own=True
    ).spectrum("network")
    for power in (3, 5):
        odd = found.pow(power).sum(1) / found.abs().pow(power).sum(1)
        assert abs(float(odd.mean())) < 3 * float(odd.std()) / draws**0.5
        assert float(odd.abs().max()) > 0


def test_rescaling_a_hidden_unit_is_a_zero_mode_of_h0():
    net, x, y = problem()
    found = hessian(net, x, y, "qhinge")
    v = torch.zeros(len(found.network), dtype=torch.float64)
    into, out = found.slices["layers.0.weight"], found.slices["layers.1.weight"]
    v[into].view(6, D)[2] = net.layers[0].weight[2].detach()
    v[found.slices["layers.0.bias"]][2] = net.layers[0].bias[2].detach()
    v[out].view(6, 6)[:, 2] = -net.layers[1].weight[:, 2].detach()
    torch.testing.assert_close(found.gauss_newton @ v, torch.zeros_like(v), rtol=0, atol=1e-13)
    assert float((found.gauss_newton @ v.abs()).norm()) > 1e-3


def test_the_cross_entropy_keeps_a_curvature_where_all_is_fitted():
    net, x, _ = problem()
    y = net(x).detach()[:, 0].sign()
    values = hessian(net, x, y, "cross_entropy").spectrum("gauss_newton")
    assert measure.mode_counts(values).positive == POINTS
