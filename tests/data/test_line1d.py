import math

import pytest
import torch

from regimes import data


def test_points(dtype, tolerance):
    ds = data.line1d(50, dtype=dtype)
    assert ds.x_train.shape == (50, 1)
    assert (ds.x_train[0, 0], ds.x_train[-1, 0]) == (0, 1)
    steps = ds.x_train[:, 0].diff()
    assert torch.allclose(steps, torch.full_like(steps, 1 / 49), rtol=100 * tolerance)
    assert torch.equal(ds.y_train, torch.zeros(50, dtype=dtype))
    assert ds.seed is None


def test_target_is_a_function_of_the_stored_point(dtype):
    ds = data.line1d(20, n_test=5, target=torch.cos, dtype=dtype)
    for x, y in ((ds.x_train, ds.y_train), (ds.x_test, ds.y_test)):
        assert torch.equal(y, torch.cos(x[:, 0].double()).to(dtype))
    assert ds.x_test[:, 0].tolist() == pytest.approx([0.1, 0.3, 0.5, 0.7, 0.9])
    assert "y = cos(x)" in ds.description[0]


def test_noise_on_training_targets_only():
    n = 20_000
    ds = data.line1d(n, seed=2, noise=0.5, dtype=torch.float64)
    assert abs(ds.y_train.std().item() - 0.5) < 5 * 0.5 / math.sqrt(2 * n)
    assert torch.equal(ds.y_test, torch.zeros(50).double())
    assert ds.seed == 2


def test_bad_input():
    with pytest.raises(ValueError, match="n_train must be an integer >= 2"):
        data.line1d(1)
    with pytest.raises(ValueError, match="noise is a standard deviation"):
        data.line1d(noise=-1)
    with pytest.raises(ValueError, match="target must return a tensor of 50 values"):
        data.line1d(target=lambda x: x[:3])
    with pytest.raises(ValueError, match="got float"):
        data.line1d(target=lambda x: 1.0)
