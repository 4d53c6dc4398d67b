import pytest
import torch

from regimes.theory import (
    AxisNoise,
    boundary_velocity,
    dominant,
    fixed_points,
    neuron_field,
    neuron_trajectories,
    sample_drift,
    saturation,
    stripe_drift,
    stripe_fixed_points,
)

STRIPE = [-0.3, 1.18549]


def neurons(n, d, seed=0):
    numbers = torch.Generator().manual_seed(seed)
    draws = torch.randn(n, d + 2, generator=numbers, dtype=torch.float64)
    return draws[:, :d], draws[:, d], draws[:, d + 1]


def stripe_data(p, d, seed=0):
    x = torch.randn(p, d, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return x, torch.where((x[:, 0] > STRIPE[0]) & (x[:, 0] < STRIPE[1]), -1.0, 1.0).double()


def test_field_conserves_the_balance_and_is_homogeneous():
    w, b, beta = neurons(20, 4)
    dw, db, dbeta = neuron_field(w, b, beta, interfaces=STRIPE)
    balance = beta * dbeta - (w * dw).sum(1) - b * db
    torch.testing.assert_close(balance, torch.zeros(20).double(), rtol=0, atol=1e-14)
    scaled = neuron_field(7 * w, 7 * b, 7 * beta, interfaces=STRIPE)
    for one, other in zip((dw, db, dbeta), scaled, strict=True):
        torch.testing.assert_close(other, 7 * one, rtol=1e-12, atol=1e-14)
    mu = stripe_drift(w, b, interfaces=STRIPE)
    torch.testing.assert_close(dw, beta[:, None] * mu.w)
    torch.testing.assert_close(db, beta * mu.b)


def test_trajectories_obey_the_field():
    w, b, beta = neurons(10, 3, seed=1)
    step = 1e-4
    path = neuron_trajectories(w, b, beta, [0.0, 2 - step, 2.0, 2 + step], interfaces=STRIPE)
    scale = path.log_scale.exp()
    torch.testing.assert_close(path.w[0] * scale[0][:, None], w)
    torch.testing.assert_close(path.beta[0] * scale[0], beta)
    whole = torch.cat([path.w, path.b[..., None], path.beta[..., None]], -1) * scale[..., None]
    found = (whole[3] - whole[1]) / (2 * step)
    dw, db, dbeta = neuron_field(whole[2, :, :3], whole[2, :, 3], whole[2, :, 4], interfaces=STRIPE)
    expected = torch.cat([dw, db[:, None], dbeta[:, None]], 1)
    torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-4)


def test_precision_follows_the_tolerance():
    w, b, beta = neurons(30, 2, seed=2)
    times = torch.linspace(0, 10, 5)
    best = neuron_trajectories(w, b, beta, times, interfaces=STRIPE, rtol=1e-11)
    assert best.log_abs(best.w).shape == (5, 30, 2)
    gaps = []
    for rtol in (1e-4, 1e-6, 1e-8):
        path = neuron_trajectories(w, b, beta, times, interfaces=STRIPE, rtol=rtol)
        size = best.log_abs(best.w[..., 0]) - path.log_abs(path.w[..., 0])
        gaps.append(float(size.abs().max()))
    assert gaps[0] > 10 * gaps[1] > 100 * gaps[2]
    assert gaps[2] < 1e-6
    balance = best.beta**2 - (best.w**2).sum(-1) - best.b**2
    torch.testing.assert_close(
        balance * (2 * best.log_scale).exp(),
        (beta**2 - (w**2).sum(1) - b**2).expand(5, 30),
        rtol=0,
        atol=1e-6,
    )


def test_neurons_do_not_depend_on_their_batch():
    w, b, beta = neurons(12, 3, seed=3)
    together = neuron_trajectories(w, b, beta, [1.0, 6.0], interfaces=STRIPE)
    alone = neuron_trajectories(w[5:6], b[5:6], beta[5:6], [1.0, 6.0], interfaces=STRIPE)
    torch.testing.assert_close(together.w[:, 5:6], alone.w, rtol=1e-12, atol=1e-14)


def test_comp_09_amplification_diverges():
    """COMP-09: 100 random neurons, d=2, t = 40 tau: lambda > 20 for 80 % of those that settled."""
    w, b, beta = neurons(100, 2)
    path = neuron_trajectories(w, b, beta, [39.0, 40.0], interfaces=STRIPE)
    settled = (path.zeta[1] - path.zeta[0]).abs() < 0.01
    assert int(settled.sum()) >= 70
    diverged = path.amplification[-1, settled].abs() > 20
    assert float(diverged.double().mean()) >= 0.8
    # and where: each compressed neuron at the attractor of its signs, growing at its rate
    sharp = path.amplification[-1].abs() > 1e3
    rate = path.log_abs(path.w[..., 0]).diff(dim=0)[0]
    for point in stripe_fixed_points(*STRIPE, d=2):
        same = (path.w[-1, :, 0].sign() == point.sign_w) & (path.beta[-1].sign() == point.sign_beta)
        chosen = same & sharp
        assert int(chosen.sum()) >= 2
        torch.testing.assert_close(
            path.z[-1, chosen, 0],
            torch.full((int(chosen.sum()),), point.z).double(),
            rtol=0,
            atol=5e-3,
        )
        assert float((rate[chosen] - point.rate).abs().max()) < 5e-3


def test_other_stripes_attract_where_the_theory_says():
    edges, first_sign, d = [-1.0, -0.2, 0.9], -1, 4
    points = [p for p in fixed_points(edges, first_sign, d) if p.attractor]
    w, b, beta = neurons(60, d, seed=6)
    path = neuron_trajectories(w, b, beta, [80.0], interfaces=edges, first_sign=first_sign)
    sharp = path.amplification[0].abs() > 1e4
    assert int(sharp.sum()) > 30
    for n in torch.nonzero(sharp)[:, 0].tolist():
        signs = (float(path.w[0, n, 0].sign()), float(path.beta[0, n].sign()))
        gaps = [
            abs(float(path.zeta[0, n]) - p.z) for p in points if (p.sign_w, p.sign_beta) == signs
        ]
        assert min(gaps) < 1e-2


def test_nothing_overflows():
    w, b, beta = neurons(4, 2, seed=1)
    path = neuron_trajectories(w, b, beta, [0.0, 2000.0], interfaces=STRIPE, rtol=1e-4)
    assert float(path.log_scale[-1].max()) > 710  # e^710 is not a double
    assert bool(path.w.isfinite().all())
    rate = dominant(stripe_fixed_points(*STRIPE, d=2)).rate
    assert float(path.log_scale[-1].max()) / 2000 == pytest.approx(rate, rel=0.01)


def test_with_a_data_set_s_noise_compression_stops_where_predicted():
    p, d = 4000, 5
    x, y = stripe_data(p, d)
    w, b, beta = neurons(40, d)
    point = dominant(stripe_fixed_points(*STRIPE, d))
    predicted = saturation(point, x, y)

    def exact(weights, biases):
        sample = sample_drift(weights, biases, x, y)
        mean = stripe_drift(weights, biases, interfaces=STRIPE)
        return torch.cat([sample.w - mean.w, (sample.b - mean.b)[:, None]], 1)

    kinds = {
        "frozen": (predicted.noise.vector, 1e-4),
        "axis": (AxisNoise(x, y, interfaces=STRIPE), 0.006),
        "all": (AxisNoise(x, y, interfaces=STRIPE, everything=True), 0.006),
        "exact": (exact, 0.006),
    }
    paths = {}
    for name, (noise, tolerance) in kinds.items():
        path = neuron_trajectories(
            w, b, beta, [24.0, 30.0], interfaces=STRIPE, noise=noise, rtol=1e-4
        )
        paths[name] = path
        there = (path.w[-1, :, 0] < 0) & (path.beta[-1] > 0) & (path.log_scale[-1] > 8)
        assert int(there.sum()) >= 10
        ratios = path.w[-1, there, 1:] / path.w[-1, there, :1]
        assert float((ratios - predicted.ratios).abs().max()) < tolerance
    # Noise in w_1 and b too brings the sizes nearer to those of the data set's own dynamics.
    size = {name: path.log_abs(path.w[..., 0])[-1] for name, path in paths.items()}
    grown = paths["exact"].log_scale[-1] > 8
    gap = {name: float((size[name] - size["exact"])[grown].abs().median()) for name in size}
    assert gap["all"] < 0.5 * gap["axis"]
    assert gap["all"] < 0.1


def test_bad_input_is_refused():
    w, b, beta = neurons(3, 2)
    with pytest.raises(ValueError, match="non-negative and increasing"):
        neuron_trajectories(w, b, beta, [1.0, 1.0], interfaces=STRIPE)
    with pytest.raises(ValueError, match="times must be a list of finite numbers"):
        neuron_trajectories(w, b, beta, [float("nan")], interfaces=STRIPE)
    with pytest.raises(ValueError, match=r"noise must have shape \(3,\) or \(3, 3\)"):
        neuron_trajectories(w, b, beta, [1.0], interfaces=STRIPE, noise=torch.ones(2))
    with pytest.raises(ValueError, match=r"noise must return shape \(3, 3\)"):
        neuron_trajectories(w, b, beta, [1.0], interfaces=STRIPE, noise=lambda w, b: w)
    with pytest.raises(ValueError, match=r"beta \(2,\)"):
        neuron_trajectories(w, b, beta[:2], [1.0], interfaces=STRIPE)
    with pytest.raises(ValueError, match="never moves"):
        neuron_trajectories(0 * w, 0 * b, beta, [1.0], interfaces=STRIPE)


def test_boundaries_move_as_those_of_trajectories():
    w, b, beta = neurons(20, 3)
    soon = neuron_trajectories(w, b, beta, [0.0, 1e-5], interfaces=STRIPE, rtol=1e-11).z
    found = boundary_velocity(w, b, beta, interfaces=STRIPE)
    torch.testing.assert_close((soon[1] - soon[0]) / 1e-5, found, rtol=1e-3, atol=1e-3)
