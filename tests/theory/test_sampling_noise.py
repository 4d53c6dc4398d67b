import pytest
import torch

from regimes.theory import AxisNoise, boundary_noise, sample_drift, stripe_constants

STRIPE = [-0.3, 1.18549]


def stripe_data(p, d, seed=0):
    x = torch.randn(p, d, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return x, torch.where((x[:, 0] > STRIPE[0]) & (x[:, 0] < STRIPE[1]), -1.0, 1.0).double()


@pytest.mark.parametrize("side", [1, -1])
def test_noise_is_the_sum_over_the_active_side(side):
    x, y = stripe_data(50, 3)
    found = boundary_noise(x, y, 0.4, side)
    for i in (1, 2):
        active = [float(x[m, i] * y[m]) for m in range(50) if side * (float(x[m, 0]) - 0.4) > 0]
        assert float(found.drift[i - 1]) == pytest.approx(sum(active) / 50)
    share = float(stripe_constants(0.4, side, interfaces=STRIPE).d_perp)
    assert found.d_perp == pytest.approx(share)
    torch.testing.assert_close(found.normal, found.drift * (50 / share) ** 0.5)
    assert found.vector.tolist() == [0.0, *found.drift.tolist(), 0.0]


def test_noise_has_variance_one_over_data_sets():
    draws = torch.stack(
        [boundary_noise(*stripe_data(200, 9, s), 0.45, -1).normal for s in range(60)]
    )
    assert float(draws.var()) == pytest.approx(1, abs=4 * (2 / draws.numel()) ** 0.5)
    assert abs(float(draws.mean())) < 4 / draws.numel() ** 0.5


def test_sample_drift_is_the_mean_over_samples(dtype, tolerance):
    x, y = stripe_data(40, 3)
    numbers = torch.Generator().manual_seed(1)
    w, b = torch.randn(5, 3, generator=numbers).double(), torch.randn(5, generator=numbers).double()
    found = sample_drift(w.to(dtype), b.to(dtype), x.to(dtype), y.to(dtype))
    for n in range(5):
        active = (x @ w[n] / 3**0.5 + b[n] > 0).double() * y
        torch.testing.assert_close(found.w[n], active @ x / 40, rtol=tolerance, atol=1e-7)
        assert float(found.b[n]) == pytest.approx(3**0.5 * float(active.sum()) / 40)


@pytest.mark.parametrize("everything", [False, True])
def test_noise_along_the_axis(everything):
    p, d = 300, 4
    x, y = stripe_data(p, d)
    noise = AxisNoise(x, y, interfaces=STRIPE, everything=everything)
    zeta = torch.linspace(-2, 2, 21).double() + 0.013
    one_sample = 4 * float(x.abs().max()) / p
    for side in (1, -1):
        w = torch.zeros(21, d).double()
        w[:, 0] = 2.0 * side
        found = noise(w, -2.0 * side * zeta / d**0.5)
        sample = sample_drift(w, -2.0 * side * zeta / d**0.5, x, y)
        mean = stripe_constants(zeta, side, interfaces=STRIPE)
        assert float((found[:, 1:-1] - sample.w[:, 1:]).abs().max()) < one_sample
        if everything:
            gap = found[:, 0] - (sample.w[:, 0] - mean.c1)
            assert float(gap.abs().max()) < one_sample
            gap = found[:, -1] - (sample.b - d**0.5 * mean.cb)
            assert float(gap.abs().max()) < one_sample
        else:
            assert not found[:, [0, -1]].any()
    # at a fixed point it is the vector of the boundary there, up to one sample
    point = torch.tensor([0.45], dtype=torch.float64)
    here = noise(torch.tensor([[-1.0, 0, 0, 0]]).double(), point / d**0.5)
    there = boundary_noise(x, y, 0.45, -1)
    assert float((here[0, 1:-1] - there.drift).abs().max()) < one_sample


def test_beyond_the_data_all_or_nothing_is_active():
    x, y = stripe_data(100, 2)
    noise = AxisNoise(x, y, interfaces=STRIPE)
    w = torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]).double()
    found = noise(w, torch.tensor([50.0, -50.0, 1.0]).double())
    everyone = float((x[:, 1] * y).mean())
    assert found[:, 1].tolist() == pytest.approx([everyone, 0.0, everyone])


def test_bad_input_is_refused():
    x, y = stripe_data(10, 3)
    with pytest.raises(ValueError, match=r"x must have shape \(p, d\)"):
        boundary_noise(x, y[:5], 0.0, 1)
    with pytest.raises(ValueError, match="sign_w"):
        boundary_noise(x, y, 0.0, 0)
    with pytest.raises(ValueError, match=r"w must have shape \(N, 3\)"):
        sample_drift(torch.ones(2, 2), torch.ones(2), x, y)
