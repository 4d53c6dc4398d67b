"""Regression without a ridge against numpy, scikit-learn and what a Gram can be."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process import kernels as peers

from regimes.data import cloud_points, sphere_points
from regimes.kernels import Gaussian, Laplace, Matern, factorise, regression

SINGULAR = Gaussian(6.0)  # on S^2: a few dozen directions above rounding


def task(n=40, d=3, seed=0):
    x = cloud_points(2 * n, d, seed)
    return x[:n], x[n:], (x[:n] ** 2).sum(1) - d


@given(st.integers(0, 10**6), st.sampled_from([0.5, 1.0, 1.5]), st.integers(2, 40))
def test_it_is_the_mean_of_the_gaussian_process(seed, nu, n):
    """KER-35: the posterior mean of scikit-learn's regressor with a vanishing noise."""
    x, x_test, z = task(n, seed=seed)
    kernel = Matern(1.0, nu)
    found = regression(kernel(x), z).predict(kernel(x_test, x))
    process = GaussianProcessRegressor(peers.Matern(1.0, "fixed", nu), alpha=1e-14, optimizer=None)
    expected = process.fit(x.numpy(), z.numpy()).predict(x_test.numpy())
    assert np.abs(found.numpy() - expected).max() < 1e-8 * float(z.abs().max())


@given(st.integers(0, 10**6), st.integers(1, 30))
def test_it_interpolates_and_is_linear_in_the_targets(seed, n):
    x, _, z = task(n, seed=seed)
    K = Laplace(1.0)(x)
    both = torch.stack([z, torch.ones(n).double()], 1)
    found = regression(K, both)
    assert torch.allclose(found.predict(K), both, atol=1e-9)
    assert torch.allclose(found.weights[:, 0], regression(K, z).weights, atol=1e-9)
    assert found.residual < 1e-12
    assert (found.method, found.rank, found.jitter) == ("cholesky", n, 0.0)


def test_the_condition_number_is_nearly_that_of_numpy():
    for kernel in (Laplace(1.0), Laplace(100.0), Matern(3.0, 2.5)):
        K = kernel(task()[0])
        ratio = regression(K, torch.ones(40)).condition / np.linalg.cond(K.numpy())
        assert 0.5 < ratio < 1 + 1e-6


def test_a_jitter_is_added_only_when_asked_for_and_recorded():
    x, _, z = task()
    K = Laplace(1.0)(x)
    found = regression(K, z, jitter=0.1)
    expected = torch.linalg.solve(K + 0.1 * torch.eye(40).double(), z)
    assert torch.allclose(found.weights, expected, atol=1e-12)
    assert found.jitter == 0.1
    assert found.residual < 1e-12
    assert float((K @ found.weights - z).norm() / z.norm()) > 1e-3


def test_a_singular_gram_is_solved_by_what_is_above_rounding():
    x = sphere_points(200, 2)
    K = SINGULAR(x)
    found = regression(K, torch.ones(200))
    values = torch.linalg.eigvalsh(K)
    assert (found.method, found.jitter) == ("eigen", 0.0)
    assert found.rank == int((values > 200 * 2.3e-16 * values[-1]).sum()) < 100
    assert found.condition < 1 / (200 * 2e-16)
    # the pseudo-inverse of what is kept
    expected = torch.linalg.pinv(K, rtol=200 * 2.220446049250313e-16, hermitian=True).sum(1)
    assert torch.allclose(K @ found.weights, K @ expected, atol=1e-6)
    assert found.residual < 1e-6
    assert regression(K, torch.ones(200), jitter=1e-6).method == "cholesky"


def test_a_factor_solves_for_many_columns():
    x, _, z = task()
    K = Laplace(1.0)(x)
    for factor in (factorise(K), factorise(SINGULAR(x))):
        columns = torch.stack([z, -2 * z], 1)
        solved = factor.solve(columns)
        assert torch.allclose(solved[:, 0], factor.solve(z), rtol=1e-6)
        assert torch.allclose(solved[:, 1], -2 * solved[:, 0], rtol=1e-6)
    assert torch.allclose(factorise(K).solve(K), torch.eye(40).double(), atol=1e-10)


def test_single_precision_is_taken_as_it_is():
    x, x_test, z = task()
    kernel = Laplace(1.0)
    single = regression(kernel(x).float(), z.float())
    double = regression(kernel(x), z).predict(kernel(x_test, x))
    assert single.weights.dtype == torch.float32
    assert torch.allclose(single.predict(kernel(x_test, x).float()).double(), double, atol=1e-4)


def test_equal_points_are_named_unless_there_is_a_jitter():
    x, _, z = task()
    x[30], x[31] = x[4], x[9]
    K = Laplace(1.0)(x)
    with pytest.raises(ValueError, match=r"rows 4 and 30, 9 and 31 are the same point.*jitter"):
        regression(K, z)
    assert regression(K, z, jitter=1e-3).residual < 1e-9
    x[:] = x[0]
    with pytest.raises(ValueError, match=r"\(and 777 more pairs\)"):
        regression(Laplace(1.0)(x), z)


def test_a_gram_that_is_not_symmetric_is_refused_where_it_is_not():
    x, _, z = task()
    K = Laplace(1.0)(x)
    K[3, 17] += 1e-6
    with pytest.raises(ValueError, match=r"must be symmetric: K\[(3, 17|17, 3)\] = .*kernel\(x, x"):
        regression(K, z)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda K, z: (K[:5], z), r"a Gram has shape \(n, n\)"),
        (lambda K, z: (K.int(), z), "a Gram holds floats"),
        (lambda K, z: (K * np.nan, z), "NaN or infinite entries"),
        (lambda K, z: (K, z[:5]), "z must be finite targets .* Gram of 40 points"),
        (lambda K, z: (K, z / 0), "z must be finite targets"),
        (lambda K, z: (-K, z), "no positive eigenvalue: this is no kernel"),
    ],
)
def test_bad_input_is_told(change, told):
    x, _, z = task()
    with pytest.raises(ValueError, match=told):
        regression(*change(Laplace(1.0)(x), z))
    with pytest.raises(ValueError, match="jitter"):
        regression(Laplace(1.0)(x), z, jitter=-1.0)
