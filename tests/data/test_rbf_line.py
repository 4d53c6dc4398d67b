import math

import pytest
import torch

from regimes import data


def test_features_approximate_the_rbf_kernel():
    N, P, gamma = 40, 20_000, 1.5
    x = data.rbf_line(N, P, 2.0, gamma, n_train=10, dtype=torch.float64).probes["line"].x
    t = torch.linspace(-2, 2, N, dtype=torch.float64)
    kernel = torch.exp(-gamma * (t[:, None] - t) ** 2)
    assert (x @ x.T - kernel).abs().max() < 6 / math.sqrt(P)


def test_labels_are_the_sign_of_a_singular_function(dtype):
    for mode in (0, 1, 2):
        ds = data.rbf_line(200, 150, 3.0, n_train=20, label_mode=mode, dtype=dtype)
        x, y = ds.probes["line"]
        U = torch.linalg.svd(x.double(), full_matrices=False).U[:, mode]
        agreement = (y * U.sign().to(dtype)).sum().abs()
        assert agreement == 200
        assert int((y.diff() != 0).sum()) == mode  # as many sign changes as the mode's number


def test_train_and_test_split_the_line():
    ds = data.rbf_line(100, 30, n_train=30)
    both = torch.cat([ds.x_train, ds.x_test])
    line = ds.probes["line"].x
    assert torch.equal(both.sort(dim=0).values, line.sort(dim=0).values)
    assert data.rbf_line(100, 30, n_train=30, n_test=10).n_test == 10


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"N": 1}, "N must be"),
        ({"P": 0}, "P must be"),
        ({"a": 0}, "a must be"),
        ({"gamma": -1}, "gamma must be"),
        ({"n_train": 51}, "do not fit into N=50"),
        ({"n_train": 40, "n_test": 11}, "do not fit into N=50"),
        ({"n_train": 50}, "leaves no test points"),
        ({"label_mode": 20}, "label_mode=20"),
        ({"label_mode": -1}, "label_mode must be"),
    ],
)
def test_bad_input(options, message):
    with pytest.raises(ValueError, match=message):
        data.rbf_line(**({"N": 50, "P": 20, "n_train": 10} | options))
