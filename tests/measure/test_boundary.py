"""Distances of decision boundaries, for planes where they are known, and point by point."""

import math

import pytest
import torch

from regimes import nets
from regimes.measure import boundary_distance, line_probe
from regimes.tangent import input_gradients


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_every_distance_is_that_of_its_definition(dtype):
    draw = torch.Generator().manual_seed(0)
    F = torch.randn(3, 20, generator=draw).to(dtype)
    slope = torch.rand(3, 20, generator=draw).to(dtype)
    slope[1, 4] = 0.0  # a point in a dead region
    found, middle = boundary_distance(F, slope), F.mean(0)
    for i in range(3):
        apart = [float(F[i, k] - middle[k]) for k in range(20)]
        kept = [k for k in range(20) if slope[i, k] > 0]
        cross = [k for k in kept if float(F[i, k]) * float(middle[k]) < 0]
        typical = sum(abs(apart[k]) / float(slope[i, k]) for k in cross) / len(cross)
        assert float(found.typical[i]) == pytest.approx(typical, rel=1e-5)
        assert found.disagreeing[i] == len(cross)
        norms = sum(a * a for a in apart), float(slope[i].square().sum())
        assert float(found.overall[i]) == pytest.approx((norms[0] / norms[1]) ** 0.5, rel=1e-5)
    assert found.flat.tolist() == [0, 1, 0]
    assert found.pointwise[1, 4].isnan()


def test_planes_have_the_distance_of_geometry():
    shift = torch.tensor([0.3, -0.3], dtype=torch.float64)
    x = torch.linspace(-1, 1, 400, dtype=torch.float64)
    F = 2.0 * (x + shift[:, None])  # boundaries at -0.3 and 0.3, that of the mean at 0
    found = boundary_distance(F, torch.full_like(F, 2.0))
    torch.testing.assert_close(found.typical, shift.abs())
    torch.testing.assert_close(found.overall, shift.abs())


def test_gradients_are_those_of_autograd():
    members = nets.stack(lambda s: nets.FullyConnected(3, 5, 2, seed=s, bias=True), range(3))
    x = torch.randn(4, 3, generator=torch.Generator().manual_seed(0))
    found = input_gradients(members, x)
    for i in range(3):
        net = members.member(i)
        own = torch.autograd.functional.jacobian(lambda p, net=net: net(p)[:, 0], x)
        torch.testing.assert_close(found[i], torch.stack([own[k, k] for k in range(4)]))
    assert torch.equal(input_gradients(members, x, memory=4000), found)
    with pytest.raises(ValueError, match="one output"):
        input_gradients(nets.stack([nets.FullyConnected(3, 5, out_dim=2)]), x)


def test_lines_meet_a_plane_where_predicted_and_a_bend_elsewhere():
    draw = torch.Generator().manual_seed(1)
    x = torch.randn(30, 2, generator=draw, dtype=torch.float64)
    normal = torch.tensor([3.0, 4.0], dtype=torch.float64)
    flat = line_probe(lambda p: p @ normal - 1, x, normal.expand(30, 2), (x @ normal - 1) / 5)
    torch.testing.assert_close(flat.ratio, torch.ones(30, dtype=torch.float64))
    assert flat.quartiles == pytest.approx((1, 1, 1))
    assert flat.missed == 0
    # f = x^2 - 1/4 from x = 1: the tangent meets zero at 1 - 0.375, f at 1/2
    bend = line_probe(
        lambda p: p[:, :1] ** 2 - 0.25,
        torch.ones(1, 1).double(),
        torch.full((1, 1), 2.0).double(),
        torch.tensor([0.375]).double(),
        steps=600,
    )
    assert float(bend.ratio[0]) == pytest.approx(0.5 / 0.375, abs=1e-3)
    never = line_probe(lambda p: p[:, 0] ** 2 + 1, x, normal.expand(30, 2), x[:, 0])
    assert never.missed == 1
    assert math.isnan(never.quartiles[1])


def test_bad_input():
    F = torch.ones(2, 3)
    with pytest.raises(ValueError, match="norms of the same shape"):
        boundary_distance(F, -F)
    with pytest.raises(ValueError, match="center must have shape"):
        boundary_distance(F, F, center=torch.ones(2))
    with pytest.raises(ValueError, match="gradient is zero"):
        line_probe(lambda p: p[:, 0], F, torch.zeros(2, 3), torch.ones(2))
    with pytest.raises(ValueError, match="one output for each point"):
        line_probe(lambda p: p, F, F, torch.ones(2))
