import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regimes.nets import gaussian_second_moment


def test_polynomials():
    # E g^2 = 1, E g^4 = 3, E (g^5)^2 = 945
    for power, moment in ((1, 1.0), (2, 3.0), (5, 945.0)):
        assert gaussian_second_moment(lambda u, p=power: u**p) == pytest.approx(moment, rel=1e-12)


@given(st.floats(-3, 3))
def test_a_kink_anywhere(where):
    # |g - a|^2 = g^2 - 2 a g + a^2
    found = gaussian_second_moment(lambda u: (u - where).abs())
    assert found == pytest.approx(1 + where**2, rel=1e-11)


@given(st.floats(-3, 3))
def test_a_jump_anywhere(where):
    found = gaussian_second_moment(lambda u: (u > where).to(u.dtype))
    assert found == pytest.approx(math.erfc(where / math.sqrt(2)) / 2, rel=1e-11)


def test_steep_growth_reaches_the_tail():
    assert gaussian_second_moment(lambda u: torch.exp(3 * u)) == pytest.approx(
        math.exp(18.0), rel=1e-11
    )


def test_infinite_moment_is_refused():
    with pytest.raises(ValueError, match="finite"):
        gaussian_second_moment(lambda u: torch.exp(u**2))


@pytest.mark.parametrize("function", [torch.sum, lambda u: 1.0, lambda u: u[:, :1]])
def test_functions_that_are_not_elementwise(function):
    with pytest.raises(ValueError, match="each entry"):
        gaussian_second_moment(function)
