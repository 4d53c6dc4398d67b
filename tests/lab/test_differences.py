"""What counts as a difference between two judgements."""

import math

from regimes.lab import Claim
from regimes.lab._differences import changes_of, differences, with_kept_numbers


def test_verdicts_values_errors_and_ids_count():
    old = [Claim.between("X-1", 1.0, 0, 2, error=0.1), Claim.between("X-2", 1.0, 0, 2)]
    new = [Claim.between("X-1", 1.0 + 1e-6, 0, 2, error=0.2), Claim.between("X-3", 1.0, 0, 2)]
    found = [(each.id, each.what) for each in differences(old, new)]
    assert found == [("X-1", "measured"), ("X-1", "error"), ("X-2", "claim"), ("X-3", "claim")]
    told = [str(each) for each in differences(old, new)]
    assert told[2:] == ["X-2: no longer judged", "X-3: only now judged"]


def test_rounding_words_and_numbers_that_are_none_do_not():
    old = [Claim.between("X-1", 1.0, 0, 2, why="a"), Claim.between("X-2", math.nan)]
    new = [Claim.between("X-1", 1.0 + 1e-12, 0, 2, why="b"), Claim.between("X-2", math.nan)]
    assert differences(old, new) == []
    assert differences([Claim.between("X-1", 1e-17)], [Claim.between("X-1", -2e-16)]) == []


def test_an_update_keeps_digits_that_only_rounding_changed():
    old = [Claim.between("X-1", 1.0, 0, 2, error=0.1), Claim.between("X-2", 1.0)]
    new = [Claim.between("X-1", 1.0 + 1e-15, 0, 2, error=0.2, why="b"), Claim.between("X-3", 3.0)]
    first, other = with_kept_numbers(old, new)
    assert (first.measured, first.error, first.why) == (1.0, 0.2, "b")
    assert other == new[1]


def test_a_missing_error_is_not_an_error_of_zero():
    found = differences([Claim.between("X-1", 1.0)], [Claim.between("X-1", 1.0, error=0.0)])
    assert [each.what for each in found] == ["error"]


def test_a_changed_limit_is_listed_although_the_verdict_stays():
    old, new = Claim.between("X-1", 1.0, 0, 2), Claim.between("X-1", 1.0, 0.5, 2)
    (change,) = changes_of([old], [new])
    assert (change["id"], change["was"]["expected"], change["now"]["expected"]) == (
        "X-1",
        "0 to 2",
        "0.5 to 2",
    )
    assert len(change["date"]) == 10
    words = [Claim.holds("X-1", True, f"width {w} <= 3", why="") for w in ("h=1", "h")]
    assert changes_of(words[:1], words[1:]) == ()
    told = [Claim.holds("X-1", True, f"within a factor {k}", why="") for k in (4, 5)]
    assert len(changes_of(told[:1], told[1:])) == 1


def test_claims_that_come_and_go_are_listed():
    old, new = Claim.between("X-1", 1.0), Claim.between("X-2", 1.0)
    gone, come = changes_of([old], [new])
    assert (gone["id"], gone["now"]) == ("X-1", None)
    assert (come["id"], come["was"]) == ("X-2", None)
