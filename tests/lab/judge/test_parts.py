"""Claims of several parts."""

import pytest

from regimes.lab import Verdict
from regimes.lab.judge import Measured, Part, above, claim_of_parts, mean_of, near, within

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


def test_whatever_stands_for_a_number_with_an_error():
    from regimes.measure import power_law

    fit = power_law([1.0, 2.0, 4.0, 8.0], [1.0, 2.1, 3.9, 8.0])
    assert within("slope", fit, 0.9, 1.1).error == fit.error
    assert within("pair", (0.5, 0.1)).error == 0.1
    assert within("exact", 3).error is None
    assert near("ratio", Measured(1.0, 0.1), 1.0, 0.25).expected == "ratio in [0.75, 1.25]"


def test_the_error_of_a_single_draw_is_unknown_and_decides_nothing():
    claim = claim_of_parts("X-1", [above("mean", mean_of([3.0]), 0.0)])
    assert claim.verdict is Verdict.INCONCLUSIVE
    assert claim.why.startswith("mean 3 ± ?")
