"""Laplace, Gaussian and Matern against scikit-learn, their own Fourier transforms and limits."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn.gaussian_process import kernels as peers

import regimes as rg
from regimes.data import Points
from regimes.kernels import Gaussian, Laplace, Matern, gram, grams, kernel_ridge, regression

NUS = (0.5, 0.8, 1.0, 1.5, 2.5, 3.2, 10.0)
EVERY = [Laplace(1.3), Gaussian(0.9), *(Matern(0.7, nu) for nu in NUS)]


def points(n, d, seed=0):
    draws = torch.Generator().manual_seed(seed)
    return torch.randn(n, d, generator=draws, dtype=torch.float64)


@pytest.mark.parametrize("d", [2, 40])
def test_values_are_those_of_scikit_learn(d):
    x, z = points(50, d), points(30, d, 1)
    pairs = [(Gaussian(0.9), peers.RBF(0.9)), (Laplace(1.3), peers.Matern(1.3, nu=0.5))]
    pairs += [(Matern(0.7, nu), peers.Matern(0.7, nu=nu)) for nu in NUS]
    for ours, theirs in pairs:
        for other in (None, z):
            expected = theirs(x.numpy(), None if other is None else other.numpy())
            assert np.abs(ours(x, other).numpy() - expected).max() < 1e-12, ours


@pytest.mark.parametrize("kernel", EVERY, ids=repr)
def test_equal_points_have_exactly_one_and_close_ones_a_number(kernel):
    x = points(20, 30)
    x[3] = x[11]
    K = kernel(x)
    assert torch.equal(K, K.T)
    assert bool((K.diagonal() == 1).all())
    assert float(K[3, 11]) == 1.0
    r = torch.tensor([0.0, 1e-300, 1e-200, 1e-30, 1e-12, 1e-8, 1e-5, 1e-3], dtype=torch.float64)
    near = kernel.of_distance(r.clone())
    assert bool(near.isfinite().all())
    assert bool((near.diff() <= 1e-12).all())  # it falls
    assert torch.allclose(near, torch.ones(8).double(), atol=1e-2)
    assert float(kernel.of_distance(torch.tensor([1e4]).double())) < 1e-3


def test_half_is_laplace_and_a_large_nu_is_nearly_gauss():
    x = points(40, 3)
    assert torch.allclose(Matern(1.3, 0.5)(x), Laplace(1.3)(x), rtol=1e-14, atol=0)
    gaps = [float((Matern(0.9, nu)(x) - Gaussian(0.9)(x)).abs().max()) for nu in (10, 30, 100)]
    assert gaps[2] < gaps[1] < gaps[0] < 0.05
    assert gaps[2] < 0.005


@given(st.floats(0.3, 4.0), st.floats(0.3, 3.0), st.floats(0.0, 6.0))
def test_the_spectral_density_is_the_fourier_transform(nu, sigma, w):
    u = (np.arange(20_000) + 0.5) / 20_000  # r = L u^3: nodes where rough kernels have their kink
    length = 45 * sigma * max(1.0, nu**-0.5)
    r = length * u**3
    weights = 3 * length * u**2 / len(u)
    K = Matern(sigma, nu).of_distance(torch.from_numpy(r.copy())).numpy()
    line = 2 * (weights * K * np.cos(w * r)).sum()
    space = 4 * np.pi * (weights * K * r**2 * np.sinc(w * r / np.pi)).sum()
    for d, expected in ((1, line), (3, space)):
        found = float(Matern(sigma, nu).spectral_density(torch.tensor(w), d))
        top = float(Matern(sigma, nu).spectral_density(torch.tensor(0.0), d))
        assert abs(found - expected) < 1e-6 * top


def test_the_density_of_gauss_is_a_gauss():
    w = torch.linspace(0, 5, 11).double()
    expected = (2 * math.pi) ** 1.5 * 0.7**3 * (-((0.7 * w) ** 2) / 2).exp()
    assert torch.allclose(Gaussian(0.7).spectral_density(w, 3), expected, rtol=1e-12)
    assert float(Gaussian(1.0).log_spectral_density(torch.tensor(100.0), 1)) < -4990  # no underflow


@pytest.mark.parametrize("d", [1, 2, 7])
@pytest.mark.parametrize("nu", [0.5, 1.0, 2.7])
def test_alpha_is_the_exponent_of_the_density(nu, d):
    kernel = Matern(1.5, nu)
    low, high = (float(kernel.log_spectral_density(torch.tensor(w), d)) for w in (1e4, 1e5))
    assert abs((low - high) / math.log(10) - kernel.alpha(d)) < 1e-6
    assert kernel.alpha(d) == d + 2 * nu


def test_smoothness_counts_continuous_derivatives():
    expected = {0.5: 0, 0.8: 1, 1.0: 1, 1.5: 2, 2.0: 3, 2.5: 4, 3.5: 6}
    assert {nu: Matern(1.0, nu).smoothness for nu in expected} == expected
    assert Gaussian(1.0).smoothness == Gaussian(1.0).alpha(4) == math.inf
    # of K(|x|) on the line: the m-th derivative at 0 from the right must vanish for odd m <= it
    h = 1e-3
    for nu, kinked in ((0.5, True), (1.0, False), (1.5, False)):
        values = Matern(1.0, nu).of_distance(torch.tensor([0.0, h, 2 * h]).double())
        slope = float((-3 * values[0] + 4 * values[1] - values[2]) / (2 * h))
        assert (abs(slope) > 0.5) == kinked


def test_every_room_that_takes_a_kernel_or_a_gram_takes_them():
    x, z = points(30, 4), points(9, 4, 1)
    y = torch.where(x[:, 0] > 0, 1.0, -1.0)
    for kernel in (Laplace(2.0), Gaussian(1.0), Matern(2.0, 1.2)):
        K = kernel(x)
        assert torch.equal(gram(kernel, x), K)
        assert np.array_equal(rg.kernels.kernel_values(kernel, x, z), kernel(x, z).numpy())
        interpolated = regression(K, y).predict(kernel(z, x))
        ridge = kernel_ridge(kernel, x, y, 1e-10, z)
        assert torch.allclose(ridge.outputs_test.double(), interpolated, atol=1e-4)
        flow = rg.flow.kernel_flow(K, y, kernel(z, x), loss="hinge")
        assert bool(flow.outputs_test.isfinite().all())
        assert float(rg.measure.cka(K, K)) == pytest.approx(1.0)
        assert float(rg.measure.kernel_pca(K).values.sum()) == pytest.approx(1.0)
        learned = rg.kernels.hard_margin(kernel, Points(x, y), Points(x[:9], y[:9]))
        assert learned.error == 0.0


def test_grams_of_several_share_their_distances(monkeypatch):
    x, z = points(20, 5), points(8, 5, 1)
    named = {"a": Laplace(1.0), "own": lambda u, v: u @ v.T, "b": Gaussian(2.0), "c": Matern(1, 1)}
    alone = {name: (gram(kernel, x), gram(kernel, x, z)) for name, kernel in named.items()}
    computed = []
    from regimes.kernels import _values

    true = _values.fill_distances
    monkeypatch.setattr(
        _values, "fill_distances", lambda *given: computed.append(1) or true(*given)
    )
    inner, outer = grams(named, x), grams(named, x, z)
    assert len(computed) == 2
    for name in named:
        assert torch.allclose(inner[name](), alone[name][0], rtol=1e-14)
        assert torch.allclose(outer[name](), alone[name][1], rtol=1e-14)


def test_images_and_single_precision_are_taken():
    x = torch.rand(6, 1, 4, 4, generator=torch.Generator().manual_seed(0))
    K = Laplace(1.0)(x)
    assert K.dtype == torch.float64
    assert torch.equal(K, Laplace(1.0)(x.flatten(1).double()))


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: Laplace(0.0), "sigma, the length of the kernel, must be .* in .0, inf., got 0"),
        (lambda: Gaussian(-1.0), "sigma, the length of the kernel,.*got -1"),
        (lambda: Matern(math.nan, 1.0), "sigma, the length of the kernel,"),
        (lambda: Matern(1.0, 0.0), "nu must"),
        (lambda: Matern(1.0, 1000.0), "nu must be at most 100, got 1000.*Gaussian is the limit"),
        (lambda: Laplace(1.0)([1.0]), "x must be a tensor of points"),
        (lambda: Laplace(1.0)(torch.zeros(0, 3)), "x must be a tensor of points"),
        (lambda: Laplace(1.0)(torch.tensor([[math.nan]])), "x holds NaN"),
        (lambda: Laplace(1.0)(torch.zeros(2, 3), torch.zeros(2, 4)), "x has 3 .* z has 4"),
        (lambda: Laplace(1.0)(torch.zeros(99, 2), memory="50KiB"), "99 x 99 .* budget of 50"),
    ],
)
def test_bad_input_is_told(call, told):
    with pytest.raises(ValueError, match=told):
        call()
