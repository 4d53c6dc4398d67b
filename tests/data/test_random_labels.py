import math

import pytest
import torch

from regimes import data


def test_labels_are_fair_and_independent_of_x():
    n = 100_000
    ds = data.random_labels(n, 10, d=3)
    assert set(ds.y_train.unique().tolist()) == {-1.0, 1.0}
    assert abs(ds.y_train.double().mean().item()) < 5 / math.sqrt(n)
    correlation = (ds.x_train * ds.y_train[:, None]).double().mean(0)
    assert correlation.abs().max() < 5 / math.sqrt(n)


def test_balanced_alternates():
    ds = data.random_labels(11, 6, d=2, balanced=True)
    assert ds.y_train.tolist() == [1.0, -1.0] * 5 + [1.0]
    assert ds.y_test.sum() == 0
    assert torch.equal(ds.x_train, data.random_labels(11, 6, d=2).x_train)


def test_on_the_sphere():
    ds = data.random_labels(20, 5, d=7, dtype=torch.float64).pipe(data.sphere())
    assert torch.allclose(ds.x_train.square().sum(1), torch.full((20,), 7.0).double())


def test_bad_input():
    with pytest.raises(ValueError, match="d must be"):
        data.random_labels(5, 5, d=0)
