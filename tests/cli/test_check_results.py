import json

import pytest


@pytest.fixture
def record(regimes, tmp_path):
    """The summary of a committed record, and a way to edit it."""
    regimes("run", "toy/echo", "--size", "cpu", "--workers", 0)
    regimes("results", "save", "toy/echo")
    path = tmp_path / "results" / "toy" / "echo" / "cpu" / "summary.json"

    def edit(change):
        about = json.loads(path.read_text())
        change(about)
        path.write_text(json.dumps(about))

    return edit


def test_a_record_as_it_was_made_passes(regimes, record):
    result = regimes("check-results")
    assert result.stdout == "1 records with 2 claims: 0 with differences\n"
    assert result.stderr == ""


def test_an_edited_verdict_fails_and_is_marked_everywhere(regimes, record, tmp_path):
    record(lambda about: about["claims"][1].update(verdict="reproduced"))
    result = regimes("check-results", code=1)
    line = "toy/echo (cpu): TOY-2: verdict was reproduced, is not reproduced"
    assert result.stderr.splitlines() == [line]
    assert "regimes check-results --update" in result.stdout
    elsewhere = ("--store", tmp_path / "nothing")
    shown = regimes("claims", "--theme", "toy", *elsewhere)
    told = "stale: its data, judged again, say otherwise of TOY-2"
    assert told in shown.stderr
    assert "TOY-2  reproduced, stale" in shown.stdout
    answer = json.loads(regimes("claims", "--theme", "toy", "--json", *elsewhere).stdout)
    assert all(claim["stale"] for claim in answer["claims"])
    page = tmp_path / "page.html"
    assert told in regimes("report", "--out", page, *elsewhere).stderr
    assert "<li class=warn>stale</li>" in page.read_text()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"version": 7}, "the study has version 1, the run had 7"),
        ({"judging": "0"}, "the judging code has changed"),
        ({"judging": ""}, "no digest of the judging code"),
    ],
)
def test_other_reasons_are_shown_in_the_list_of_studies(regimes, record, change, reason):
    record(lambda about: about.update(change))
    result = regimes("studies")
    assert f"toy/echo (cpu): stale: {reason}" in result.stderr
    assert "cpu (stale)" in result.stdout
    assert f"stale: {reason}" in regimes("claims", "--from", "results").stderr


def test_changed_parameters_are_shown(regimes, record):
    record(lambda about: about["params"].update(scale=3.0))
    reason = "stale: the parameters of size cpu have changed"
    assert reason in regimes("studies").stderr
    result = regimes("check-results")  # only a new run can mend it
    assert reason in result.stdout


def test_an_update_mends_what_the_judges_say(regimes, record, tmp_path):
    record(lambda about: about["claims"][1].update(verdict="reproduced"))
    shown = regimes("check-results", "--update").stdout.splitlines()
    assert shown == [
        "toy/echo (cpu): changed: TOY-2: verdict was reproduced, is not reproduced",
        "1 records with 2 claims: 1 rewritten, 0 with differences",
    ]
    regimes("check-results")
    page = tmp_path / "page.html"
    regimes("report", "--out", page, "--from", "results")
    assert "Changed after the run" in page.read_text()


def test_some_studies_only(regimes, record):
    assert "0 records" in regimes("check-results", "--study", "toy/draws").stdout
    assert "unknown study" in regimes("check-results", "--study", "no/such", code=2).stderr
