import math

import pytest
import torch

from regimes import data, flow, measure, nets


def test_layer_change(draw, dtype, tolerance):
    W, W0 = draw(5, 3), draw(5, 3, seed=1)
    found = measure.layer_change(W.to(dtype), W0.to(dtype))
    squares = float(((W - W0) ** 2).sum())
    assert float(found.change) == pytest.approx(math.sqrt(squares), rel=10 * tolerance)
    assert float(found.rms) == pytest.approx(math.sqrt(squares / 15), rel=10 * tolerance)
    assert float(found.norm) == pytest.approx(math.sqrt(float((W**2).sum())), rel=10 * tolerance)


def test_layer_change_of_a_stack(draw):
    W, W0 = draw(4, 5, 3), draw(4, 5, 3, seed=1)
    found = measure.layer_change(W, W0, stacked=True)
    for r in range(4):
        alone = measure.layer_change(W[r], W0[r])
        for name in ("rms", "norm", "change"):
            torch.testing.assert_close(getattr(found, name)[r], getattr(alone, name))


def test_preactivations(draw):
    zt, zt0 = draw(3, 10, 4), draw(3, 10, 4, seed=1)
    found = measure.preact_change(zt, zt0)
    for r in range(3):
        squares = [float(zt[r, i, j] - zt0[r, i, j]) ** 2 for i in range(10) for j in range(4)]
        assert float(found[r]) == pytest.approx(math.sqrt(sum(squares) / 40))
    torch.testing.assert_close(measure.preact_speed(zt, zt0, 0.1), found / 0.1)
    own = torch.tensor([0.1, 0.2, 0.4])
    torch.testing.assert_close(measure.preact_speed(zt, zt0, own), found / own.double())


def test_speed_is_the_derivative_of_a_moving_layer(draw):
    start, direction = draw(6, 4), draw(6, 4, seed=1)

    def layer(t):
        return torch.sin(start + t * direction)

    exact = float(((start.cos() * direction) ** 2).mean().sqrt())
    speeds = [float(measure.preact_speed(layer(dt), layer(0.0), dt)) for dt in (1e-3, 1e-4)]
    assert speeds[1] == pytest.approx(exact, rel=1e-3)
    assert abs(speeds[1] - exact) < 0.2 * abs(speeds[0] - exact)


def test_output_norm(draw):
    f, f0 = draw(3, 20), draw(3, 20, seed=1)
    torch.testing.assert_close(measure.output_norm(f), (f**2).mean(1).sqrt())
    torch.testing.assert_close(measure.output_norm(f, f0), ((f - f0) ** 2).mean(1).sqrt())


def test_relative_change(draw, dtype, tolerance):
    f, f0 = draw(3, 20), draw(3, 20, seed=1)
    found = measure.relative_change(f.to(dtype), f0.to(dtype))
    for r in range(3):
        squares = float(((f[r] - f0[r]) ** 2).sum()), float((f0[r] ** 2).sum())
        assert float(found[r]) == pytest.approx(math.sqrt(squares[0] / squares[1]), rel=1e-5)
    with pytest.raises(ValueError, match="one shape"):
        measure.relative_change(f, f0[:, :5])


def test_mask_flips_count_pairs(draw):
    zt, zt0 = draw(3, 10, 4), draw(3, 10, 4, seed=1)
    found = measure.mask_flips(zt, zt0)
    for r in range(3):
        pairs = [(i, j) for i in range(10) for j in range(4)]
        assert int(found[r]) == sum((zt[r][p] > 0) != (zt0[r][p] > 0) for p in pairs)
    assert measure.mask_flips(zt, 2 * zt).tolist() == [0, 0, 0]


def test_t_half_of_an_exponential():
    times = torch.cat([torch.zeros(1), torch.logspace(-2, 2, 400)]).double()
    losses = torch.exp(-times * torch.tensor([[1.0], [3.0], [1e-4]]).double())
    found = measure.t_half(times, losses)
    assert found[:2].tolist() == pytest.approx([math.log(2), math.log(2) / 3], rel=1e-3)
    assert math.isnan(found[2])
    own = measure.t_half(times * torch.tensor([[1.0], [10.0], [1.0]]).double(), losses)
    torch.testing.assert_close(own[:2], found[:2] * torch.tensor([1.0, 10.0]).double())


def test_t_half_takes_the_first_of_several_and_passes_gaps():
    times = torch.arange(6.0)
    losses = torch.tensor(
        [[2.0, 0.5, 3.0, 0.1, 0.0, 0.0], [2.0, 1.5, 0.5, math.nan, 9.0, math.nan]]
    )
    assert measure.t_half(times, losses).tolist() == pytest.approx([2 / 3, 1.5])
    # exactly half is not yet below
    assert float(measure.t_half(times[:3], torch.tensor([2.0, 1.0, 0.0]))) == pytest.approx(1.0)


def test_t_half_of_a_run_whose_members_end_at_different_times():
    ds = data.stripe(n_train=10, n_test=1, d=3, seed=0, dtype=torch.float64)
    net = nets.FullyConnected(3, 20, parametrization="mean_field", bias=True, dtype=torch.float64)
    run = flow.gradient_flow(net, ds, alpha=[0.1, 1.0, 10.0], until="halved", divide_by="alpha")
    assert (run.times[:, -1] == run.times[:, -2]).any()  # somebody's last record is repeated
    found = measure.t_half(run.times, run.losses)
    assert (found <= run.event_times["halved"]).all()
    assert (found > 0.8 * run.event_times["halved"]).all()
    gone = run.losses.clone()
    gone[0, -2:] = math.nan  # a member that diverged repeats its last record too
    assert measure.t_half(run.times, gone)[1:].tolist() == found[1:].tolist()


def test_t_half_of_a_constant_loss_is_nan():
    found = measure.t_half(torch.arange(3.0), torch.tensor([[1.0, 1.0, 1.0], [1.0, 0.4, 0.1]]))
    assert math.isnan(found[0])
    assert float(found[1]) == pytest.approx(0.5 / 0.6)


def test_weight_amplification(draw):
    path = draw(7, 12).cumsum(0)
    found = measure.weight_amplification(path, path[0], path[2])
    assert float(found[0]) == 0
    assert float(found[2]) == pytest.approx(1)
    last = float((path[6] - path[0]).norm() / (path[2] - path[0]).norm())
    assert float(found[6]) == pytest.approx(last)


def test_bad_input_is_refused(draw):
    with pytest.raises(ValueError, match=r"W and W0 must have one shape"):
        measure.layer_change(draw(2, 2), draw(3, 2))
    with pytest.raises(ValueError, match=r"shape \(R, ...\)"):
        measure.layer_change(draw(2), draw(2), stacked=True)
    with pytest.raises(ValueError, match=r"\(..., P, h\), got \(2,\)"):
        measure.preact_change(draw(2), draw(2))
    with pytest.raises(ValueError, match="step must be a finite number"):
        measure.preact_speed(draw(2, 2), draw(2, 2), 0.0)
    with pytest.raises(ValueError, match=r"step must be positive of shape \(\) or \(\)"):
        measure.preact_speed(draw(2, 2), draw(2, 2), torch.ones(2))
    with pytest.raises(ValueError, match="times must be increasing"):
        measure.t_half(torch.zeros(3), torch.tensor([3.0, 2.0, 1.0]))
    with pytest.raises(ValueError, match="initial loss must be positive"):
        measure.t_half(torch.arange(3.0), torch.zeros(3))
    with pytest.raises(ValueError, match="initial loss must be positive and finite"):
        measure.t_half(torch.arange(2.0), torch.tensor([math.inf, 1.0]))
    with pytest.raises(ValueError, match="times must be increasing"):
        measure.t_half(torch.tensor([0.0, 1.0, 1.0]), torch.tensor([3.0, 2.0, 1.0]))
    with pytest.raises(ValueError, match=r"times must have shape \(T,\)"):
        measure.t_half(torch.arange(2.0), torch.ones(3))
    with pytest.raises(ValueError, match="had not moved"):
        measure.weight_amplification(draw(4), torch.ones(4), torch.ones(4))
    with pytest.raises(ValueError, match="vectors of one length, got 4, 3 and 4"):
        measure.weight_amplification(draw(4), draw(3), draw(4))
