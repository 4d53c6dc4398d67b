"""The generic learning curve: its identity, its root, and the exponents of power laws."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq

from regimes.theory import generic_curve

RANK = np.arange(1.0, 200_001)


@settings(max_examples=10)
@given(st.floats(1.2, 4.0), st.floats(2.0, 900.0))
def test_a_field_of_the_kernel_has_the_error_t(a, n):
    lam = RANK[:2000] ** -a
    curve = generic_curve(lam, lam, n)
    assert curve.error[0] == pytest.approx(curve.t[0], rel=1e-9)
    # t and gamma as they are defined
    t = brentq(lambda u: (lam / (1 + lam * n / u)).sum() / u - 1, 1e-30, 2 * lam.sum(), xtol=1e-300)
    assert curve.t[0] == pytest.approx(t, rel=1e-6)
    assert curve.gamma[0] == pytest.approx((lam**2 / (1 + lam * n / t) ** 2).sum(), rel=1e-6)


@pytest.mark.parametrize(("a", "b"), [(2.0, 2.0), (1.5, 3.0), (1.5, 6.0)])
def test_power_laws_have_the_exponent_of_the_theorem(a, b):
    """KER-33."""
    n = np.array([100.0, 200.0, 400.0])
    curve = generic_curve(RANK**-a, RANK**-b, n)
    slope = -np.polyfit(np.log(n), np.log(curve.error), 1)[0]
    assert slope == pytest.approx(min(b - 1, 2 * a), abs=0.03)


def test_the_error_falls_from_the_whole_power_and_is_linear_in_the_target():
    lam, q2 = RANK[:500] ** -2, RANK[:500] ** -1.5
    curve = generic_curve(lam, q2, [1e-6, 1, 10, 100, 400])
    assert curve.error[0] == pytest.approx(q2.sum(), rel=1e-4)
    assert (np.diff(curve.error) < 0).all()
    assert np.allclose(generic_curve(lam, 3 * q2, curve.n).error, 3 * curve.error, rtol=1e-12)
    # the scale of the kernel does not matter without a ridge
    assert np.allclose(generic_curve(7 * lam, q2, curve.n).error, curve.error, rtol=1e-9)


@pytest.mark.parametrize(
    ("given_", "told"),
    [
        (([1.0, 0.0], [1.0, 1.0], 1), "eigenvalues must be positive"),
        (
            ([1.0, 0.5], [1.0], 1),
            "eigenvalues must be .* and powers as many",
        ),
        (([1.0, 0.5], [1.0, -1.0], 1), "powers are squares"),
        (([1.0, 0.5], [1.0, np.nan], 1), "powers are squares"),
        (([1.0, 0.5], [1.0, 1.0], 2), "n must lie between 0 and the number of modes, 2, got 2"),
        (([1.0, 0.5], [1.0, 1.0], 0), "n must lie between 0"),
    ],
)
def test_bad_input_is_told(given_, told):
    with pytest.raises(ValueError, match=told):
        generic_curve(*given_)
