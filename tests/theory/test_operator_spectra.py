"""Spectra on the circle and S^2 against Bessel functions, Grams and their traces."""

import numpy as np
import pytest
from scipy.special import iv, spherical_in

from regimes.kernels import Laplace
from regimes.theory import circle_spectrum, sphere_spectrum


def gauss(r):
    return np.exp(-(r**2) / 2)  # exp(t - 1), t the cosine of the angle


def laplace(r):
    return np.exp(-r)


def test_gauss_has_the_coefficients_of_the_exponential():
    circle, sphere = circle_spectrum(gauss, 8), sphere_spectrum(gauss, 8)
    levels = np.arange(8)
    assert np.allclose(circle.values, iv(levels, 1) / np.e, rtol=1e-9, atol=1e-13)
    assert np.allclose(sphere.values, spherical_in(levels, 1.0) / np.e, rtol=1e-9, atol=1e-13)
    assert circle.multiplicity.tolist() == [1] + 7 * [2]
    assert sphere.multiplicity.tolist() == [2 * level + 1 for level in levels]


@pytest.mark.parametrize(
    ("spectrum", "levels"), [(circle_spectrum, 20_000), (sphere_spectrum, 400)]
)
def test_all_eigenvalues_sum_to_one_and_fall_as_powers(spectrum, levels):
    found = spectrum(laplace, levels)
    total = found.all()
    assert (total > 0).all()
    assert total.sum() == pytest.approx(1.0, abs=3e-3)
    high, low = found.values[levels // 4], found.values[levels // 2]
    # lambda_l ~ l^-(d+1): alpha of the kernel
    assert np.log2(high / low) == pytest.approx(2 if spectrum is circle_spectrum else 3, abs=0.02)
    assert len(total) == found.multiplicity.sum()


def test_even_points_on_the_circle_have_the_aliased_spectrum():
    import torch

    n = 64
    angle = 2 * np.pi * np.arange(n) / n
    x = torch.from_numpy(np.stack([np.cos(angle), np.sin(angle)], 1))
    gram = np.sort(np.linalg.eigvalsh(Laplace(1.0)(x).numpy()))[::-1] / n
    found = circle_spectrum(laplace, 2**16).values
    folded = np.zeros(n)
    for k, value in enumerate(found):
        folded[k % n] += value
        folded[-k % n] += value if k else 0.0
    assert np.allclose(np.sort(folded)[::-1], gram, rtol=1e-3)


@pytest.mark.parametrize("spectrum", [circle_spectrum, sphere_spectrum])
def test_too_few_nodes_are_told(spectrum):
    with pytest.raises(ValueError, match="40 levels need more than 80 nodes, got 50"):
        spectrum(laplace, 40, nodes=50)
    with pytest.raises(ValueError, match="levels"):
        spectrum(laplace, 0)
