import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regimes.theory import beta_feature, beta_lazy, compression_exponent, compression_gain


@given(st.integers(2, 1000))
def test_comp_49_exponent_identities_for_one_informative_direction(d):
    assert beta_lazy(d) == pytest.approx(d / (3 * d - 2))
    gain = (d - 1) / (3 * d - 2)
    assert gain + beta_lazy(d) == pytest.approx((2 * d - 1) / (3 * d - 2))
    assert beta_feature(d, d - 1) == pytest.approx((2 * d - 1) / (3 * d - 2))
    assert compression_exponent(d, d - 1) == pytest.approx(2 * gain)


@given(st.integers(3, 1000), st.data())
def test_comp_49_exponent_identities_for_more(d, data):
    d_perp = data.draw(st.integers(0, d - 2))
    assert beta_feature(d, d_perp) == pytest.approx((d + d_perp / 2) / (3 * d - 2))
    assert compression_exponent(d, d_perp) == pytest.approx(d_perp / (3 * d - 2))


def test_comp_49_values_of_the_paper():
    assert beta_lazy(5) == pytest.approx(0.3846, abs=5e-5)
    assert beta_feature(5, 4) == pytest.approx(0.6923, abs=5e-5)
    assert beta_lazy(10) == pytest.approx(0.3571, abs=5e-5)
    assert beta_feature(10, 9) == pytest.approx(0.6786, abs=5e-5)
    assert beta_lazy(3) == pytest.approx(3 / 7)
    assert beta_feature(3, 1) == pytest.approx(1 / 2)


def test_other_cusps_and_the_gain():
    assert beta_lazy(4, xi=2.0) == pytest.approx((4 - 1 + 2) / (12 - 3 + 2))
    # err ~ p^-beta_lazy Lambda^-g with Lambda = sqrt(p) is p^-beta_feature
    p = 1000.0
    error = p ** -beta_lazy(5) * compression_gain(math.sqrt(p), 5, 4)
    assert error == pytest.approx(p ** -beta_feature(5, 4))


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="d must be an integer >= 1, got 0"):
        beta_lazy(0)
    with pytest.raises(ValueError, match="0 <= d_perp < d=5, got 5"):
        beta_feature(5, 5)
    with pytest.raises(ValueError, match="amplification must be a finite number"):
        compression_gain(0.0, 5, 4)
