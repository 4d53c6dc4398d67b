"""Spectra and interpolants on lattices against Grams and solved regressions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regimes.theory import lattice_interpolant, lattice_spectrum


def power(alpha):
    return lambda w: -alpha / 2 * np.log(1 + w**2)


def kernel(log_kappa, N, d, images, finer):
    """K between the fine lattice and the coarse one, from the same modes."""
    most = N * images + N // 2
    k = np.arange(-most, most + 1)
    x = np.arange(finer * N) / (finer * N)
    waves = np.exp(2j * np.pi * k[:, None] * x)
    grid = np.meshgrid(*[k] * d, indexing="ij")
    found = np.exp(log_kappa(2 * np.pi * np.sqrt(sum(g.astype(float) ** 2 for g in grid))))
    for axis in range(d):
        found = np.moveaxis(np.tensordot(waves.T, found, (1, axis)), 0, axis)
    fine = np.indices((finer * N,) * d).reshape(d, -1).T
    coarse = finer * np.indices((N,) * d).reshape(d, -1).T
    gap = (fine[:, None] - coarse) % (finer * N)
    return found.real[tuple(np.moveaxis(gap, -1, 0))]


@settings(max_examples=10)
@given(st.sampled_from([(3, 1), (7, 1), (3, 2), (3, 3)]), st.floats(3.5, 8.0))
def test_eigenvalues_are_those_of_the_gram(shape, alpha):
    N, d = shape
    K = kernel(power(alpha), N, d, 2, 1)
    expected = np.sort(np.linalg.eigvalsh(K))[::-1] / N**d
    found = lattice_spectrum(power(alpha), N, d, images=2)
    assert np.allclose(found.values, expected, rtol=1e-9, atol=1e-15)
    assert found.multiplicity.sum() == N**d
    assert found.values.sum() == pytest.approx(K[0, 0])


@settings(max_examples=10)
@given(st.sampled_from([(5, 1), (3, 2)]), st.floats(3.0, 6.0), st.integers(0, 10**6))
def test_the_interpolant_is_the_regression(shape, alpha, seed):
    N, d = shape
    z = np.random.default_rng(seed).standard_normal((N,) * d)
    K = kernel(power(alpha), N, d, 2, 3)
    own = kernel(power(alpha), N, d, 2, 1)
    expected = (K @ np.linalg.solve(own, z.ravel())).reshape((3 * N,) * d)
    found = lattice_interpolant(z, power(alpha), finer=3, images=2)
    assert np.allclose(found, expected, atol=1e-9)
    assert np.allclose(found[tuple([slice(None, None, 3)] * d)], z, atol=1e-12)


def test_a_smooth_kernel_does_not_underflow():
    z = np.cos(2 * np.pi * np.arange(64) / 64)
    found = lattice_interpolant(z, lambda w: -(w**2) / 2, finer=2, images=2)
    assert np.allclose(found, np.cos(2 * np.pi * np.arange(128) / 128), atol=1e-12)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: lattice_spectrum(power(2), 8, 4), "d must be 1, 2 or 3, got 4"),
        (lambda: lattice_spectrum(power(2), 100, 3), "give at most images=0"),
        (lambda: lattice_spectrum(power(2), 0), "N must"),
        (lambda: lattice_interpolant([[1.0, 2.0]], power(2)), "values must be finite numbers on"),
        (lambda: lattice_interpolant([np.nan], power(2)), "values must be finite"),
        (lambda: lattice_interpolant([1.0, 2.0], power(2), finer=0), "finer"),
    ],
)
def test_bad_input_is_told(call, told):
    with pytest.raises(ValueError, match=told):
        call()
