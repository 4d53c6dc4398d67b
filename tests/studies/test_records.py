"""The committed records, judged again by the present code: nothing may come out otherwise."""

import math
from pathlib import Path

import pytest

from regimes.lab import discover
from regimes.lab._results import stored_summaries

ROOT = Path(__file__).parents[2] / "results"
RECORDS = {f"{record.study} {record.label}": record for record in stored_summaries(ROOT)}


def same(a, b):
    if a is None or b is None:
        return a is b
    return math.isclose(a, b, rel_tol=1e-9) or (math.isnan(a) and math.isnan(b))


def test_there_are_records():
    assert len(RECORDS) >= 31


@pytest.mark.parametrize("name", RECORDS)
def test_a_record_is_judged_as_it_says(name):
    record = RECORDS[name]
    study = discover().studies[record.study]
    now = {claim.id: claim for claim in study.claims(study.upgraded(record.dataset))}
    assert set(now) == {claim.id for claim in record.claims}
    for then in record.claims:
        claim = now[then.id]
        assert claim.verdict == then.verdict, then.id
        assert same(claim.measured, then.measured), then.id
        assert same(claim.error, then.error), then.id


@pytest.mark.parametrize("name", RECORDS)
def test_a_record_can_be_drawn(name):
    record = RECORDS[name]
    study = discover().studies[record.study]
    figures = study.figures(study.upgraded(record.dataset))
    assert figures
    assert all("Not drawn yet" not in f.layout.meta["caption"] for f in figures.values())
