"""Claims of several parts."""

import pytest

from regimes.lab import Verdict
from regimes.studies._parts import Part, claim_of_parts

GOOD = Part("good", 0.5, high=0.6, error=0.01)
UNSURE = Part("unsure", 0.59, high=0.6, error=0.05)
BAD = Part("bad", 0.9, low=1.0, high=2.0)


@pytest.mark.parametrize(
    ("parts", "verdict"),
    [
        ([GOOD], Verdict.REPRODUCED),
        ([GOOD, UNSURE], Verdict.INCONCLUSIVE),
        ([GOOD, UNSURE, BAD], Verdict.NOT_REPRODUCED),
        ([BAD, GOOD], Verdict.NOT_REPRODUCED),
    ],
)
def test_the_weakest_part_decides(parts, verdict):
    claim = claim_of_parts("X-1", parts)
    assert claim.verdict is verdict
    assert (claim.measured, claim.error) == (parts[0].measured, parts[0].error)


def test_all_numbers_are_told():
    claim = claim_of_parts("X-1", [GOOD, BAD], why="few seeds")
    assert claim.expected == "good <= 0.6; bad in [1, 2]"
    assert claim.why == "good 0.5 ± 0.01, bad 0.9 (not reproduced); few seeds"


def test_ranges_in_words():
    assert Part("a", 1.0, low=0.5).expected == "a >= 0.5"
