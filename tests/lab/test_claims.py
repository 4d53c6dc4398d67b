import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from regimes.lab import Claim, Verdict

numbers = st.floats(-1e6, 1e6)


@pytest.mark.parametrize(
    ("measured", "low", "high", "error", "verdict"),
    [
        (0.5, 0.4, 0.6, None, "reproduced"),
        (0.5, 0.4, 0.6, 0.09, "reproduced"),
        (0.5, 0.4, 0.6, 0.2, "inconclusive"),  # the error bar is wider than the range
        (0.58, 0.4, 0.6, 0.03, "inconclusive"),  # inside by less than the error bar
        (0.43, 0.4, 0.6, 0.03, "reproduced"),
        (0.5, 0.4, 0.6, 0.11, "inconclusive"),
        (0.65, 0.4, 0.6, 0.1, "inconclusive"),  # outside by less than the error bar
        (0.65, 0.4, 0.6, 0.01, "not reproduced"),
        (0.65, 0.4, 0.6, None, "not reproduced"),
        (3.0, 2.0, math.inf, 0.5, "reproduced"),
        (2.1, 2.0, math.inf, 0.5, "inconclusive"),
        (1.9, 2.0, math.inf, 0.5, "inconclusive"),
        (1.0, 2.0, math.inf, 0.5, "not reproduced"),
        (-5.0, -math.inf, 0.0, 1.0, "reproduced"),
        (math.nan, 0.0, 1.0, None, "inconclusive"),
        (0.5, 0.0, 1.0, math.nan, "inconclusive"),
        (1.0, 1.0, 1.0, None, "reproduced"),
    ],
)
def test_the_error_bar_decides_what_cannot_be_decided(measured, low, high, error, verdict):
    claim = Claim.between("X-1", measured, low, high, error=error)
    assert claim.verdict == verdict
    assert claim.why or verdict != "inconclusive"


@given(numbers, numbers, st.floats(0, 1e6), st.floats(0, 1e6))
def test_a_smaller_error_never_makes_a_decided_claim_undecided(measured, centre, width, error):
    wide = Claim.near("X-1", measured, centre, width, error=error)
    assume(wide.verdict is not Verdict.INCONCLUSIVE)
    assert Claim.near("X-1", measured, centre, width, error=error / 2).verdict == wide.verdict


def test_expectations_are_put_in_words():
    assert Claim.between("X-1", 1, high=2).expected == "<= 2"
    assert Claim.between("X-1", 1, low=0.5).expected == ">= 0.5"
    assert Claim.between("X-1", 1, 0, 2).expected == "0 to 2"
    assert Claim.near("X-1", 1, 0.5, 0.1).expected == "0.5 ± 0.1"


@pytest.mark.parametrize(
    "claim",
    [
        Claim.near("X-1", 0.5, 0.4, 0.2, error=0.01, why="a fit", where="eq. 1", statement="s"),
        Claim.holds("X-2", False, "falls", why="0.1, 0.2"),
        Claim.unclear("X-3", "0.5", why="too few points"),
    ],
)
def test_a_claim_survives_json(claim):
    assert Claim.from_dict(claim.as_dict()) == claim


def test_a_measured_nan_is_null_in_json():
    assert Claim.between("X-1", math.nan, 0, 1).as_dict()["measured"] is None


def test_mistakes_are_refused():
    with pytest.raises(ValueError, match="must not exceed"):
        Claim.between("X-1", 1, 2, 1)
    with pytest.raises(ValueError, match="no claim 'REG-99'"):
        Claim.between("REG-99", 1)
