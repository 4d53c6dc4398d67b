import math

import pytest
import torch

from regimes.theory import (
    amplification_prefactor,
    boundary_noise,
    dominant,
    median_amplification,
    noise_time,
    sample_attractor,
    sample_drift,
    saturation,
    stripe_fixed_points,
)

STRIPE = (-0.3, 1.18549)


def stripe_data(p, d, seed=0):
    x = torch.randn(p, d, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return x, torch.where((x[:, 0] > STRIPE[0]) & (x[:, 0] < STRIPE[1]), -1.0, 1.0).double()


@pytest.mark.parametrize(("d", "expected"), [(2, 0.929), (3, 0.915), (5, 0.902), (10, 0.889)])
def test_prefactors_of_the_paper(d, expected):
    point = dominant(stripe_fixed_points(*STRIPE, d))
    assert amplification_prefactor(point) == pytest.approx(expected, abs=5e-4)


@pytest.mark.parametrize(("d", "expected"), [(5, 0.98), (10, 0.92)])
def test_medians_of_the_paper(d, expected):
    point = dominant(stripe_fixed_points(*STRIPE, d))
    assert median_amplification(point, 400) / 20 == pytest.approx(expected, abs=6e-3)
    # and they are the medians of the prediction per data set
    many = [saturation(point, *stripe_data(400, d, seed)).amplification for seed in range(200)]
    median = float(torch.tensor(many).median())
    assert median == pytest.approx(median_amplification(point, 400), rel=0.08)


def test_prediction_per_data_set():
    d, p = 5, 1000
    x, y = stripe_data(p, d)
    point = dominant(stripe_fixed_points(*STRIPE, d))
    found, noise = saturation(point, x, y), boundary_noise(x, y, point.z, point.sign_w)
    phi = math.exp(-(point.z**2) / 2) / math.sqrt(2 * math.pi)
    denominator = point.c1 - point.sign_w * point.label * phi
    torch.testing.assert_close(found.ratios, noise.drift / denominator)
    by_normal = (
        p**0.5 * amplification_prefactor(point) * (d - 1) ** 0.5 / float(noise.normal.norm())
    )
    assert found.amplification == pytest.approx(by_normal)


def test_first_order_is_the_limit_of_the_data_sets_own_attractor():
    """Their difference, as a share, falls as p^(-1/4): by 2 when p grows by 16."""
    point = dominant(stripe_fixed_points(*STRIPE, 5))
    gaps = []
    for p in (500, 8000):
        pairs = [stripe_data(p, 5, seed) for seed in range(8)]
        exact = torch.stack([sample_attractor(point, x, y).ratios for x, y in pairs])
        first = torch.stack([saturation(point, x, y).ratios for x, y in pairs])
        gaps.append(float((exact - first).norm() / first.norm()))
    assert gaps[0] / gaps[1] == pytest.approx(2, rel=0.25)
    assert gaps[1] < 0.15


def test_the_attractor_of_a_data_set_is_parallel_to_its_drift():
    point = dominant(stripe_fixed_points(*STRIPE, 3))
    x, y = stripe_data(5000, 3)
    found = sample_attractor(point, x, y)
    w = point.sign_w * torch.cat([torch.ones(1).double(), found.ratios])
    b = -w[0] * found.z / 3**0.5
    drift = sample_drift(w[None], b[None], x, y)
    pull = point.sign_beta * torch.cat([drift.w[0], drift.b])
    own = torch.cat([w, b[None]])
    torch.testing.assert_close(pull / pull.norm(), own / own.norm(), atol=2e-3, rtol=0)
    assert found.z == pytest.approx(point.z, abs=0.1)
    assert found.residual < 2e-3


def test_noise_time_grows_with_the_log_of_p():
    point = dominant(stripe_fixed_points(*STRIPE, 5))
    assert noise_time(point, 1e6) == pytest.approx(2 * noise_time(point, 1e3))
    # lambda = exp((rate - perpendicular_rate) t) reaches sqrt(p)
    growth = math.exp((point.rate - point.perpendicular_rate) * noise_time(point, 1e4))
    assert growth == pytest.approx(100)


def test_bad_input_is_refused():
    point = dominant(stripe_fixed_points(*STRIPE, 5))
    with pytest.raises(ValueError, match=r"that of d=5, x has shape \(10, 3\)"):
        saturation(point, *stripe_data(10, 3))
    with pytest.raises(ValueError, match=r"that of d=5, x has shape \(10, 3\)"):
        sample_attractor(point, *stripe_data(10, 3))
    with pytest.raises(ValueError, match="p must be an integer >= 1, got 0"):
        median_amplification(point, 0)
    with pytest.raises(ValueError, match="p must be a finite number"):
        noise_time(point, 1)
