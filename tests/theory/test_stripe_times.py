import pytest

from regimes.theory import dominant, fitting_slope, stripe_fixed_points, stripe_tau


def test_times():
    assert stripe_tau(10, 8) == 20.0
    points = stripe_fixed_points(-0.3, 1.18549, 5)
    fastest = dominant(points)
    assert (fastest.sign_w, fastest.sign_beta) == (-1, 1)
    assert fastest.rate == max(point.rate for point in points)
    # COMP-17
    assert fitting_slope(points) == pytest.approx(1.143, abs=5e-4)


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="h must be an integer >= 1, got 0"):
        stripe_tau(0, 5)
    with pytest.raises(ValueError, match="no attractor"):
        fitting_slope([])
