import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regimes import data


@given(
    st.lists(st.floats(-3, 3), min_size=1, max_size=6).filter(lambda u: max(map(abs, u)) > 1e-3),
    st.floats(0.1, 10),
    st.floats(0, 4),
    st.booleans(),
)
def test_projection_is_the_margin_exactly(u, eps, sigma, half):
    u = torch.tensor(u, dtype=torch.float64)
    ds = data.linearly_separable(u, 50, eps, sigma, n_test=10, half=half, dtype=torch.float64)
    margin = eps / 2 if half else eps
    for x, y in ((ds.x_train, ds.y_train), (ds.x_test, ds.y_test)):
        assert torch.allclose(x @ (u / u.norm()), margin * y, atol=1e-10)


def test_noise_has_variance_sigma_across_u():
    n, sigma = 50_000, 4.0
    u = torch.tensor([1.0, 2.0, 2.0], dtype=torch.float64) / 3
    ds = data.linearly_separable(u, n, 1.0, sigma, n_test=0, dtype=torch.float64)
    w = ds.x_train - ds.y_train[:, None] * u
    expected = sigma * (torch.eye(3) - torch.outer(u, u))
    assert (w.T @ w / n - expected).abs().max() < 5 * sigma * math.sqrt(2 / n)


def test_labels_are_fair():
    n = 100_000
    ds = data.linearly_separable(torch.ones(1), n, n_test=0)
    assert abs((ds.y_train > 0).double().mean().item() - 0.5) < 5 * math.sqrt(0.25 / n)


def test_points_have_the_shape_of_u(dtype, tolerance):
    u = torch.zeros(1, 4, 4, dtype=dtype)
    u[0, 1, 2] = -2
    ds = data.linearly_separable(u, 20, n_test=5, dtype=dtype)
    assert ds.in_shape == (1, 4, 4)
    assert torch.allclose(ds.x_train[:, 0, 1, 2], -ds.y_train, atol=tolerance)


@pytest.mark.parametrize(
    ("u", "options", "message"),
    [
        (torch.zeros(3), {}, "positive length"),
        (torch.tensor([float("nan")]), {}, "positive length"),
        (torch.tensor(1.0), {}, "tensor of the inputs' shape"),
        (torch.ones(3, dtype=torch.int64), {}, "floating point"),
        ([1.0, 0.0], {}, "floating point tensor"),
        (torch.ones(2), {"eps": 0}, "eps must be"),
        (torch.ones(2), {"sigma": -1}, "sigma is a variance"),
    ],
)
def test_bad_input(u, options, message):
    with pytest.raises(ValueError, match=message):
        data.linearly_separable(u, 10, n_test=10, **options)
