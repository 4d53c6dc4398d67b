import math

import pytest
import torch

from regimes import data

N = 200_000
FIVE_SIGMA = 5 * math.sqrt(0.25 / N)


def test_radius_in_two_dimensions():
    assert math.isclose(data.balanced_radius(), math.sqrt(2 * math.log(2)))
    assert round(data.balanced_radius(), 4) == 1.1774


def test_radius_in_one_and_three_dimensions():
    # medians of |N(0, 1)| and of the Maxwell distribution
    assert math.isclose(math.erf(data.balanced_radius(1) / math.sqrt(2)), 0.5, rel_tol=1e-12)
    r = data.balanced_radius(3)
    mass = math.erf(r / math.sqrt(2)) - math.sqrt(2 / math.pi) * r * math.exp(-r * r / 2)
    assert math.isclose(mass, 0.5, rel_tol=1e-12)


@pytest.mark.parametrize(("d", "d_par"), [(3, 2), (2, 2), (4, 1), (4, 3)])
def test_classes_are_balanced(d, d_par):
    y = data.cylinder(N, 1, d=d, d_par=d_par).y_train
    assert abs((y > 0).double().mean().item() - 0.5) < FIVE_SIGMA


def test_label_is_the_rule(dtype):
    ds = data.cylinder(3000, 100, d=4, d_par=2, radius=0.8, dtype=dtype, n_kernel=50)
    for x, y in ((ds.x_train, ds.y_train), (ds.x_test, ds.y_test), ds.probes["kernel"]):
        outside = x[:, 0].double() ** 2 + x[:, 1].double() ** 2 > 0.64
        assert torch.equal(y, torch.where(outside, 1.0, -1.0).to(dtype))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"d": 2, "d_par": 3}, "do not fit into d=2"),
        ({"d_par": 0}, "d_par must be"),
        ({"radius": 0}, "radius must be"),
        ({"radius": -1}, "radius must be"),
    ],
)
def test_bad_input(options, message):
    with pytest.raises(ValueError, match=message):
        data.cylinder(10, 10, **options)
