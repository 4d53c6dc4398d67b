"""The committed records, judged again by the present code: nothing may come out otherwise."""

from pathlib import Path

import pytest

from regimes.lab import check_results, discover, stored_summaries

ROOT = Path(__file__).parents[2] / "results"
RECORDS = {f"{record.study} {record.label}": record for record in stored_summaries(ROOT)}


def test_there_are_records():
    assert len(RECORDS) >= 31


def test_records_are_judged_as_they_say_by_the_code_they_name():
    """What `regimes check-results` does; after a change on purpose: `--update`."""
    checked = list(check_results(discover(), ROOT))
    problems = [f"{each.study} ({each.label}): {p}" for each in checked for p in each.problems]
    assert not problems
    assert len(checked) == len(RECORDS)


# figures of what a record does not run, by its size or its own parameters
UNDRAWN = {
    "linearization/eigenfunctions paper": {"Accuracy with Adam"},
    "pomdp/training paper-332249f1": {"Training from a column of confidence (fig. 2)"},
}


@pytest.mark.parametrize("name", RECORDS)
def test_a_record_can_be_drawn(name):
    record = RECORDS[name]
    study = discover().studies[record.study]
    figures = study.figures(study.upgraded(record.dataset))
    assert figures
    captions = {title: figure.layout.meta["caption"] for title, figure in figures.items()}
    undrawn = {title for title, caption in captions.items() if "Not drawn yet" in caption}
    assert undrawn == UNDRAWN.get(name, set())
