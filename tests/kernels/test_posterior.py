"""Gaussian-process posteriors against the conditional of a joint Gaussian."""

import math

import pytest
import torch
from scipy.sparse.linalg import aslinearoperator

from regimes.kernels import posterior


def task(dtype=torch.float64):
    draws = torch.Generator().manual_seed(2)
    a = torch.randn(25, 40, generator=draws, dtype=torch.float64)
    joint = a @ a.T / 40  # of 20 training points, then 5 others
    y = torch.randn(20, 2, generator=draws, dtype=torch.float64)
    return joint.to(dtype), y.to(dtype)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_mean_and_variance_are_those_of_the_conditional(dtype):
    joint, y = task(dtype)
    K, cross, own = joint[:20, :20], joint[20:, :20], joint.diagonal()[20:]
    inverse = torch.linalg.inv(K.double() + 0.3 * torch.eye(20).double())
    mean = cross.double() @ inverse @ y.double()
    variance = own.double() - ((cross.double() @ inverse) * cross.double()).sum(1)
    for gram, method in ((K, "dense"), (K, "cg"), (aslinearoperator(K.double().numpy()), "auto")):
        found = posterior(gram, y, 0.3, cross, own, method=method, tolerance=1e-6)
        assert bool(found.converged.all())
        assert torch.allclose(found.mean.double(), mean, atol=1e-4)
        assert torch.allclose(found.variance.double(), variance, atol=1e-4)
        assert found.residuals.shape == (7,)
        assert found.method == ("dense" if method == "dense" else "cg")


def test_the_likelihood_is_that_of_a_gaussian():
    joint, y = task()
    K = joint[:20, :20]
    found = posterior(K, y[:, 0], 0.3, joint[20:, :20], joint.diagonal()[20:])
    covariance = K + 0.3 * torch.eye(20).double()
    normal = torch.distributions.MultivariateNormal(torch.zeros(20).double(), covariance)
    assert math.isclose(float(found.log_likelihood), float(normal.log_prob(y[:, 0])), rel_tol=1e-10)
    assert found.mean.shape == (5,)


def test_at_a_training_point_without_much_noise_nothing_is_left_to_know():
    joint, y = task()
    K = joint[:20, :20]
    found = posterior(K, y[:, 0], 1e-8, K[:3], K.diagonal()[:3])
    assert torch.allclose(found.mean, y[:3, 0], atol=1e-5)
    assert float(found.variance.max()) < 1e-6


def test_bad_input_is_told():
    joint, y = task()
    K, cross, own = joint[:20, :20], joint[20:, :20], joint.diagonal()[20:]
    with pytest.raises(ValueError, match="noise must be a finite number"):
        posterior(K, y, 0.0, cross, own)
    with pytest.raises(ValueError, match=r"gram_test must have shape \(m, 20\)"):
        posterior(K, y, 1.0, cross.T, own)
    with pytest.raises(ValueError, match=r"diagonal_test must have shape \(5,\)"):
        posterior(K, y, 1.0, cross, own[:2])
    with pytest.raises(ValueError, match="method='dense' needs a Gram"):
        posterior(lambda v: K @ v, y, 1.0, cross, own, method="dense")
    with pytest.raises(ValueError, match=r"a Gram of the 4 points .* shape \(4, 4\)"):
        posterior(K, y[:4], 1.0, cross, own)
    with pytest.raises(ValueError, match="the Gram holds NaN"):
        posterior(K * torch.nan, y, 1.0, cross, own)
    with pytest.raises(ValueError, match="the Gram must be symmetric"):
        posterior(K.triu(), y, 1.0, cross, own)
