import math

import pytest
import torch

from regimes.measure import crossing

X = torch.logspace(0, 2, 9, dtype=torch.float64)


def test_power_laws_cross_where_they_should():
    (found,) = crossing(X, 30 * X**-1.5, 2 * X**-0.5)
    assert found.x == pytest.approx(15)  # 30/2 = x
    assert not found.rising
    assert found.bracket[0] <= 15 <= found.bracket[1]
    assert math.isnan(found.error)
    assert found.found == 1


def test_a_level_on_linear_axes():
    x = torch.linspace(-1, 1, 9)
    (found,) = crossing(x, 2 * x, 0.5, log_x=False, log_y=False)
    assert found.x == pytest.approx(0.25)
    assert found.rising


def test_every_crossing_is_found_in_order():
    x = torch.linspace(0, 10, 200)
    found = crossing(x, torch.sin(x), 0.0, log_x=False, log_y=False)
    assert [c.x for c in found] == pytest.approx([math.pi, 2 * math.pi, 3 * math.pi], abs=1e-2)
    assert [c.rising for c in found] == [False, True, False]
    assert crossing(x, torch.sin(x), 2.0, log_x=False, log_y=False) == ()


def test_points_on_the_level_count_once():
    (found,) = crossing([1.0, 2.0, 3.0], [-1.0, 0.0, 1.0], 0.0, log_x=False, log_y=False)
    assert found.x == 2.0
    (found,) = crossing([1.0, 2.0, 3.0], [1.0, 0.0, -1.0], 0.0, log_x=False, log_y=False)
    assert found.x == 2.0


def test_error_is_the_bootstrap_spread_over_seeds():
    numbers = torch.Generator().manual_seed(0)
    shift = 0.2 * torch.randn(50, 1, generator=numbers, dtype=torch.float64)
    y = X**-1.0 * shift.exp()  # each seed crosses the level .1 at 10 e^shift
    (found,) = crossing(X, y, 0.1, center="mean")
    assert found.x == pytest.approx(10, rel=0.1)
    assert found.error / found.x == pytest.approx(0.2 / 50**0.5, rel=0.25)
    assert found.found == 1


def test_shared_noise_cancels_between_two_curves():
    numbers = torch.Generator().manual_seed(0)
    noise = (0.3 * torch.randn(30, 1, generator=numbers, dtype=torch.float64)).exp()
    (found,) = crossing(X, 30 * X**-1.5 * noise, 2 * X**-0.5 * noise)
    assert found.x == pytest.approx(15)
    assert found.error < 1e-9


def test_resamples_without_a_crossing_are_counted():
    x = torch.tensor([1.0, 2.0]).double()
    y = torch.tensor([[2.0, 1.5], [2.0, 1.5], [2.0, 0.1], [2.0, 0.1], [2.0, 0.1]]).double()
    (found,) = crossing(x, y, 1.0)
    assert 0.5 < found.found < 0.95


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="x must be increasing"):
        crossing([2.0, 1.0], [1.0, 1.0], 1.0)
    with pytest.raises(ValueError, match="a must be positive on logarithmic axes"):
        crossing([1.0, 2.0], [1.0, -1.0], 1.0)
    with pytest.raises(ValueError, match=r"b must have shape \(2,\)"):
        crossing([1.0, 2.0], [1.0, 1.0], [1.0, 1.0, 1.0])
