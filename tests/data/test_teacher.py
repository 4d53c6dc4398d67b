"""Labels of a random teacher."""

import pytest
import torch

from regimes._random import generator
from regimes.data import load, teacher


def test_targets_are_those_of_one_network_with_noise_in_training_alone():
    quiet, loud = (teacher(400, 300, 6, 10, noise=s, dtype=torch.float64) for s in (0.0, 0.5))
    assert torch.equal(quiet.x_train, loud.x_train)
    assert torch.equal(quiet.y_test, loud.y_test)
    errors = loud.y_train - quiet.y_train
    assert float(errors.std()) == pytest.approx(0.5, rel=0.1)
    assert float(quiet.y_train.var(correction=0)) == pytest.approx(1.0)
    assert 0.5 < float(quiet.y_test.var()) < 2


def test_the_teacher_is_the_network_of_the_formula():
    ds = teacher(300, 0, 4, 3, dtype=torch.float64)
    draws = generator(0, "teacher/network")
    w, a, b = (torch.randn(s, generator=draws, dtype=torch.float64) for s in ((3, 4), (3,), (3,)))
    raw = torch.relu(ds.x_train @ w.T / 2 + b) @ a / 3**0.5
    torch.testing.assert_close(ds.y_train, (raw - raw.mean()) / raw.std(correction=0))


def test_classes_are_signs():
    real, sign = teacher(100, 50, 4), teacher(100, 50, 4, classify=True)
    assert torch.equal(sign.y_train, torch.where(real.y_train > 0, 1.0, -1.0))
    assert torch.equal(sign.y_test, torch.where(real.y_test > 0, 1.0, -1.0))
    assert load("teacher", n_train=5, n_test=0).n_train == 5


def test_bad_input():
    with pytest.raises(ValueError, match="cannot be negative"):
        teacher(noise=-1.0)
    with pytest.raises(ValueError, match="n_train must be an integer >= 2"):
        teacher(n_train=1)
