import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regimes import data

N = 200_000
FIVE_SIGMA = 5 * math.sqrt(0.25 / N)


def share(y):
    return (y > 0).double().mean().item()


def test_default_edges_are_the_paper_s():
    assert math.isclose(data.balanced_x_max(-0.3), 1.18549, abs_tol=5e-6)


@given(st.floats(-6, -1e-3))
def test_balanced_stripe_holds_half_the_mass(x_min):
    x_max = data.balanced_x_max(x_min)
    mass = 0.5 * (math.erf(x_max / math.sqrt(2)) - math.erf(x_min / math.sqrt(2)))
    assert math.isclose(mass, 0.5, abs_tol=1e-12)


@pytest.mark.parametrize("x_min", [0, 0.3, float("nan"), "low"])
def test_no_balanced_stripe_on_the_positive_side(x_min):
    with pytest.raises(ValueError, match="x_min must be"):
        data.balanced_x_max(x_min)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_classes_are_balanced(seed):
    assert abs(share(data.stripe(N, 1, d=1, seed=seed).y_train) - 0.5) < FIVE_SIGMA


def test_label_is_the_rule(dtype):
    ds = data.stripe(5000, 1000, d=4, dtype=dtype)
    x_max = data.balanced_x_max(-0.3)
    inside = (ds.x_train[:, 0].double() > -0.3) & (ds.x_train[:, 0].double() < x_max)
    assert torch.equal(ds.y_train, torch.where(inside, -1.0, 1.0).to(dtype))


def test_points_are_standard_normal():
    x = data.stripe(N, 1, d=3).x_train.double()
    assert x.mean(0).abs().max() < 5 / math.sqrt(N)
    assert ((x.T @ x) / N - torch.eye(3)).abs().max() < 5 * math.sqrt(2 / N)


@given(
    st.lists(st.floats(-2, 2), min_size=1, max_size=5, unique=True).map(sorted),
    st.sampled_from([1, -1]),
)
def test_several_stripes_alternate(edges, first_sign):
    ds = data.stripe(200, 1, d=2, interfaces=edges, first_sign=first_sign, dtype=torch.float64)
    for x, y in zip(ds.x_train[:, 0].tolist(), ds.y_train.tolist(), strict=True):
        crossed = sum(edge < x for edge in edges)
        assert y == first_sign * (-1) ** crossed


def test_a_point_on_an_edge_carries_the_first_sign():
    x = data.stripe(3, 1, d=1, dtype=torch.float64, seed=4).x_train[:, 0].sort().values.tolist()
    y = data.stripe(3, 1, d=1, dtype=torch.float64, seed=4, interfaces=[x[0], x[2]])
    by_position = dict(zip(y.x_train[:, 0].tolist(), y.y_train.tolist(), strict=True))
    assert [by_position[v] for v in x] == [1, -1, 1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"d": 0}, "d must be an integer >= 1"),
        ({"interfaces": []}, "increasing"),
        ({"interfaces": [1.0, -1.0]}, "increasing"),
        ({"interfaces": [1.0, 1.0]}, "increasing"),
        ({"interfaces": [0.0, float("inf")]}, "interface must be a finite number"),
        ({"first_sign": 0}, "first_sign must be"),
        ({"n_kernel": -1}, "n_kernel must be"),
    ],
)
def test_bad_input(options, message):
    with pytest.raises(ValueError, match=message):
        data.stripe(10, 10, **options)
