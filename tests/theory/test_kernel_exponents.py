"""Exponents of kernel regression: their values, limits and relations."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regimes.kernels import Gaussian, Laplace, Matern
from regimes.theory import beta, density_exponent, in_rkhs, limited_by, smoothness_index

INF = math.inf


@given(st.integers(1, 40), st.floats(0.01, 60.0), st.floats(0.01, 60.0))
def test_the_smaller_of_two_limits_decides(d, rough, smooth):
    alpha_T, alpha_S = d + rough, d + smooth
    teacher, student = (alpha_T - d) / d, 2 * alpha_S / d
    assert beta(alpha_T, alpha_S, d) == min(teacher, student)
    limit = limited_by(alpha_T, alpha_S, d)
    assert limit == ("teacher" if teacher < student else "student" if student < teacher else "both")
    if limit == "teacher":  # a fixed exponent needs ever more derivatives
        s = smoothness_index(alpha_T, d)
        assert s == pytest.approx(beta(alpha_T, alpha_S, d) * d / 2)
    # every function of the student's space has at least d/2 derivatives
    if in_rkhs(alpha_T, alpha_S, d):
        assert smoothness_index(alpha_T, d) > d / 2


@pytest.mark.parametrize("d", [1, 2, 3, 10])
def test_kernels_have_the_exponents_of_the_figures(d):
    rough, smooth = Laplace(1.0).alpha(d), Gaussian(1.0).alpha(d)
    assert beta(rough, rough, d) == pytest.approx(1 / d)
    assert beta(smooth, rough, d) == pytest.approx(2 * (1 + 1 / d))
    assert beta(rough, smooth, d) == pytest.approx(1 / d)
    assert beta(smooth, smooth, d) == INF
    assert (limited_by(rough, rough, d), limited_by(smooth, rough, d)) == ("teacher", "student")
    for nu in (0.5, 1.0, 2.5, 4.0):
        assert beta(Matern(2.0, nu).alpha(1), 2, 1) == min(2 * nu, 4)


def test_values_that_the_paper_quotes():
    assert smoothness_index(784 * 1.4, 784) == pytest.approx(157, abs=0.5)
    assert smoothness_index(15 * 1.4, 15) == pytest.approx(3)
    assert density_exponent(Laplace(1.0).alpha(15), 15) == pytest.approx(1.937, abs=1e-3)
    assert density_exponent(Laplace(1.0).alpha(35), 35) == pytest.approx(1.972, abs=1e-3)
    assert density_exponent(INF, 3) == 1.0
    assert limited_by(5, 2, 1) == limited_by(INF, INF, 2) == "both"
    assert not in_rkhs(INF, INF, 1)
    assert in_rkhs(INF, 4, 1)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: beta(1.0, 2.0, 1), "alpha_T must be a number above d = 1, .*got 1"),
        (lambda: beta(3.0, 2.0, 2), "alpha_S must be a number above d = 2"),
        (lambda: beta("rough", 2.0, 1), "alpha_T must be a number"),
        (lambda: beta(math.nan, 2.0, 1), "alpha_T must be a number"),
        (lambda: limited_by(2.0, 2.0, 0), "d must"),
        (lambda: density_exponent(2.0, 2), "alpha_T must be a number above d = 2"),
    ],
)
def test_bad_input_is_told(call, told):
    with pytest.raises(ValueError, match=told):
        call()
