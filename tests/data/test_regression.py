import math

import pytest
import torch

from regimes import data


def test_features_have_the_stated_variances():
    n, d = 50_000, 10
    x = data.noisy_regression(10, d, n_test=n, dtype=torch.float64).x_test
    scaled = x * torch.tensor([1.0] + [math.sqrt(d)] * d).double()
    covariance = scaled.T @ scaled / n
    assert (covariance - torch.eye(d + 1)).abs().max() < 5 * math.sqrt(2 / n)


def test_test_targets_are_noiseless(dtype):
    ds = data.noisy_regression(dtype=dtype)
    assert torch.equal(ds.y_test, ds.x_test[:, 0])
    assert not torch.allclose(ds.y_train, ds.x_train[:, 0])


def test_noise_is_phi_noise_phi_noise_transposed_eps():
    """The same eps with and without projector, and the variance of the noise, give P away."""
    plain = data.noisy_regression(30, 4, dtype=torch.float64)
    projected = data.noisy_regression(30, 4, orthogonal=True, dtype=torch.float64)
    features = plain.x_train[:, 1:]
    P = features @ torch.linalg.inv(features.T @ features) @ features.T
    noise, clean = projected.y_train - projected.x_train[:, 0], plain.y_train - plain.x_train[:, 0]
    assert torch.allclose(P @ noise, noise)
    # phi_noise phi_noise^T eps = phi_noise phi_noise^T P eps
    assert torch.allclose(features @ features.T @ noise, clean)


def test_variance_of_the_noise():
    draws = []
    for seed in range(200):
        ds = data.noisy_regression(30, 4, 0.3, seed, orthogonal=True, n_test=0, dtype=torch.float64)
        draws.append((ds.y_train - ds.x_train[:, 0]).square().sum())
    # a projector of rank 4 keeps 4 of the 30 components: 0.3 chi^2_4
    assert abs(torch.stack(draws).mean().item() - 1.2) < 5 * 0.3 * math.sqrt(8 / 200)


def test_no_noise_at_zero_variance():
    ds = data.noisy_regression(20, 3, 0.0)
    assert torch.equal(ds.y_train, ds.x_train[:, 0])


def test_bad_input():
    with pytest.raises(ValueError, match="d must be an integer >= 1"):
        data.noisy_regression(d=0)
    with pytest.raises(ValueError, match="sigma2 is a variance"):
        data.noisy_regression(sigma2=-0.1)
