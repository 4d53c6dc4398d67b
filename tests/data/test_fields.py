"""Gaussian fields: their covariance is the kernel, however they are drawn."""

import math

import numpy as np
import pytest
import torch

from regimes.data import (
    fourier_field,
    gaussian_field,
    lattice_points,
    manifold_points,
    periodic_field,
    sphere_points,
)
from regimes.kernels import Gaussian, Laplace, Matern

COUNT = 4000


def assert_covariance(Z, K):
    """Within what so many draws allow: entries of the covariance scatter by at most sqrt(2/n)."""
    found = Z.T @ Z / len(Z)
    assert float((found - K).abs().max()) < 5.5 * (2 / len(Z)) ** 0.5 * float(K.max())
    assert float(Z.mean(0).abs().max()) < 5.5 * float(K.max() / len(Z)) ** 0.5


@pytest.mark.parametrize("kernel", [Laplace(1.0), Gaussian(5.0), Matern(1.0, 1.5)], ids=repr)
@pytest.mark.parametrize("manifold", ["sphere", "torus", "cloud", "lattice"])
def test_draws_have_the_kernel_for_covariance(kernel, manifold):
    x = lattice_points(3, 2) if manifold == "lattice" else manifold_points(manifold, 9, 2)
    assert_covariance(gaussian_field(x, kernel, COUNT), kernel(x))


def test_a_smooth_field_is_drawn_where_its_gram_is_singular():
    x = sphere_points(150, 2)
    kernel = Gaussian(4.0)
    assert int(torch.linalg.cholesky_ex(kernel(x)).info) > 0
    Z = gaussian_field(x, kernel, 3)
    assert bool(Z.isfinite().all())
    assert_covariance(gaussian_field(x, kernel, COUNT)[:, :5], kernel(x[:5]))


@pytest.mark.parametrize(
    ("kernel", "nu"), [(Gaussian(1.5), math.inf), (Matern(1.5, 1.0), 1.0), (Laplace(1.5), 0.5)]
)
def test_random_waves_have_the_kernel_for_covariance(kernel, nu):
    x = sphere_points(7, 2)
    field = fourier_field(3, 1.5, nu, features=60, count=COUNT)
    assert_covariance(field(x), kernel(x))
    assert torch.allclose(field(x)[:, 2], field(x[2:3])[:, 0])  # a function of the point alone


@pytest.mark.parametrize("d", [1, 2, 3])
def test_periodic_fields_have_the_sum_over_modes_for_covariance(d):
    N = 4
    Z = periodic_field(N, d, lambda w: torch.exp(-w / 10), COUNT)
    k = np.fft.fftfreq(N, 1 / N) * 2 * np.pi
    w = np.sqrt(sum(g**2 for g in np.meshgrid(*[k] * d, indexing="ij")))
    table = np.fft.ifftn(np.exp(-w / 10)).real * N**d
    places = np.indices((N,) * d).reshape(d, -1).T
    gaps = (places[:, None] - places) % N
    assert_covariance(Z, torch.from_numpy(table[tuple(np.moveaxis(gaps, -1, 0))]))


def test_seeds_are_streams():
    x = sphere_points(4, 1)
    made = {
        "gaussian": lambda seed: gaussian_field(x, Laplace(1.0), seed=seed),
        "fourier": lambda seed: fourier_field(2, 1.0, seed=seed)(x),
        "periodic": lambda seed: periodic_field(4, 1, lambda w: 1 / (1 + w**2), seed=seed),
    }
    for draw in made.values():
        assert torch.equal(draw(1), draw(1))
        assert not torch.equal(draw(1), draw(2))


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: gaussian_field([1.0], Laplace(1.0)), "points must be a tensor"),
        (lambda: gaussian_field(torch.zeros(2, 1), lambda x, z: x), "values of shape .2, 2."),
        (lambda: gaussian_field(torch.zeros(2, 1), lambda x, z: -torch.ones(2, 2)), "no positive"),
        (lambda: fourier_field(2, 0.0), "sigma must"),
        (lambda: fourier_field(2, 1.0, 0.0), "nu must"),
        (lambda: fourier_field(2, 1.0)(torch.zeros(3, 5)), r"points must have shape \(n, 2\)"),
        (lambda: periodic_field(4, 1, lambda w: -w), "finite variances >= 0"),
        (lambda: periodic_field(0, 1, lambda w: w), "N must"),
    ],
)
def test_bad_input_is_told(call, told):
    with pytest.raises(ValueError, match=told):
        call()
