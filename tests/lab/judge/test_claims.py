"""Judges collected by a decorator, and what becomes of them without data."""

import pytest
import xarray as xr

from regimes.lab import Claim
from regimes.lab.judge import Claims, Missing, above, nearest, need

DATA = xr.Dataset(
    {"error": (("width", "kind"), [[0.1, float("nan")], [0.3, float("nan")]])},
    {"width": [8, 64], "kind": ["flow", "sgd"]},
)


@pytest.fixture
def claim():
    claim = Claims()

    @claim("X-1", "it falls")
    def _falls(dataset):
        yield above("error", need(dataset, "error", kind="flow").error.min(), 0.05)

    @claim("X-2", "it holds")
    def _holds(dataset):
        return Claim.holds("X-2", True, "it holds", why="seen")

    @claim("X-3", "nobody knows")
    def _unknown(dataset):
        raise Missing("too few seeds")
        yield

    return claim


def test_all_are_judged_in_order(claim):
    found = claim.judged(DATA)
    assert claim.ids == ("X-1", "X-2", "X-3")
    assert [each.verdict.value for each in found] == ["reproduced"] * 2 + ["inconclusive"]
    assert (found[2].expected, found[2].why) == ("nobody knows", "too few seeds")


def test_without_data_nothing_is_decided(claim):
    assert claim.judged(xr.Dataset())[0].verdict.value == "inconclusive"


def test_a_judge_must_say_something(claim):
    claim("X-4", "nothing")(lambda dataset: iter(()))
    with pytest.raises(TypeError, match="X-4 must yield parts"):
        claim.judged(DATA)


def test_an_id_has_one_judge(claim):
    with pytest.raises(ValueError, match="X-1 has two judges"):
        claim("X-1", "again")
    with pytest.raises(ValueError, match="no claim 'REG-999'"):
        claim("REG-999", "unknown")


@pytest.mark.parametrize(
    ("names", "place", "message"),
    [
        (["loss"], {}, "no finished trial has loss"),
        (["error"], {"kind": "sgd"}, "no finished trial at kind = sgd has error"),
        ([], {"kind": "adam"}, "kind = adam was not run, only kind = flow, sgd"),
        ([], {"depth": 3}, "has a depth"),
    ],
)
def test_what_is_missing_is_named(names, place, message):
    with pytest.raises(Missing, match=message):
        need(DATA, *names, **place)


def test_places_may_differ_by_rounding_or_be_the_nearest():
    floats = xr.Dataset({"x": ("scale", [1.0, 2.0])}, {"scale": [0.1, 0.3]})
    assert float(need(floats, "x", scale=0.1 + 0.2).x) == 2.0
    assert int(nearest(DATA, width=20).width) == 8
    assert int(nearest(DATA, width=30).width) == 64
    with pytest.raises(Missing, match="has a depth"):
        nearest(DATA, depth=2)


def test_a_row_that_is_only_reported_is_never_reproduced():
    claim = Claims()

    @claim("X-5", "a number", report=True)
    def _number(dataset):
        yield above("error", need(dataset, "error", kind="flow").error.min(), 0.05)

    assert claim.judged(DATA)[0].verdict.value == "reported"
    assert claim.judged(xr.Dataset())[0].verdict.value == "inconclusive"
    assert Claims(claim).judged(DATA)[0].verdict.value == "reported"
