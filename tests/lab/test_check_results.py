"""Records judged again: what fails the check, and what an update does."""

import json
from dataclasses import replace

import pytest

from regimes.lab import Claim, Summary, check_results, discover, run, save_results


@pytest.fixture
def root(toys, store, tmp_path):
    """Two records."""
    root = tmp_path / "results"
    for name in ("toy/echo", "toy/draws"):
        save_results(run(name, store=store), root)
    return root


def check(root, study=None, **details):
    catalogue = discover()
    if study is not None:
        catalogue = replace(catalogue, studies={**catalogue.studies, study.name: study})
    return {each.study: each for each in check_results(catalogue, root, **details)}


def with_limit(study, limit):
    """The study with another criterion for TOY-1."""

    def claims(dataset):
        first, second = study.claims(dataset)
        return [Claim.between("TOY-1", first.measured, 0, limit, statement="It is small"), second]

    return replace(study, claims=claims)


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_records_of_the_present_code_pass(root):
    found = check(root)
    assert [each.problems for each in found.values()] == [(), ()]
    assert [each.claims for each in found.values()] == [4, 2]
    assert list(check(root, only=["toy/echo"])) == ["toy/echo"]


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("verdict", "inconclusive", "TOY-1: verdict was inconclusive, is reproduced"),
        ("measured", 4.0001, "TOY-1: measured was 4.0001, is 4.0"),
        ("error", 0.5, "TOY-1: error was 0.5, is None"),
        ("id", "TOY-9", "TOY-9: no longer judged"),
    ],
)
def test_an_edited_claim_fails(root, name, value, problem):
    path = root / "toy" / "echo" / "smoke" / "summary.json"
    about = json.loads(path.read_text())
    about["claims"][0][name] = value
    path.write_text(json.dumps(about))
    assert problem in check(root)["toy/echo"].problems


def test_a_digest_that_does_not_match_fails(root, toys):
    path = root / "toy" / "echo" / "smoke" / "summary.json"
    about = json.loads(path.read_text())
    path.write_text(json.dumps({**about, "judging": "0123"}))
    assert check(root)["toy/echo"].problems == ("the judging code has changed",)
    del about["judging"]
    path.write_text(json.dumps(about))
    assert check(root)["toy/echo"].problems == ("no digest of the judging code",)


def test_a_study_that_is_gone_or_fails_is_a_problem_of_its_record_alone(root, toys):
    broken = replace(toys.Echo, claims=lambda dataset: 1 / 0)
    found = check(root, broken)
    assert "cannot be judged again: ZeroDivisionError" in found["toy/echo"].problems[0]
    assert found["toy/draws"].problems == ()
    none = {each.study: each for each in check_results(replace(discover(), studies={}), root)}
    assert none["toy/echo"].problems == ("the study's code was not found",)


def test_what_only_a_new_run_mends_is_remarked(root, toys):
    found = check(root, replace(toys.Echo, version=2))["toy/echo"]
    assert found.problems == ()
    assert found.remarks == ("the study has version 2, the run had 1",)


def test_an_update_rewrites_claims_and_digest_and_lists_what_changed(root, toys):
    folder = root / "toy" / "echo" / "smoke"
    before, was = files(folder), Summary.load(folder)
    strict = with_limit(toys.Echo, 3)
    (_, problem) = check(root, strict)["toy/echo"].problems
    assert problem == "TOY-1: verdict was reproduced, is not reproduced"
    assert files(folder) == before
    found = check(root, strict, update=True)
    assert found["toy/echo"].changes == (problem,)
    assert found["toy/echo"].rewritten
    assert not found["toy/draws"].rewritten
    after, now = files(folder), Summary.load(folder)
    assert {name for name in after if after[name] != before.get(name)} == {"summary.json"}
    assert [claim.verdict.value for claim in now.claims] == ["not reproduced"] * 2
    (change,) = now.changed
    assert change["id"] == "TOY-1"
    assert change["was"]["verdict"] == "reproduced"
    assert change["was"]["expected"] == "0 to 100"
    assert now.judging != was.judging
    kept = {"dataset": None, "claims": (), "judging": "", "changed": ()}
    assert replace(now, **kept) == replace(was, **kept)
    assert check(root, strict)["toy/echo"].problems == ()
    assert not check(root, strict, update=True)["toy/echo"].rewritten


def test_a_limit_that_changed_without_the_verdict_is_listed(root, toys):
    found = check(root, with_limit(toys.Echo, 50), update=True)["toy/echo"]
    assert found.changes == ("TOY-1: expected 0 to 100, now 0 to 50",)
    (change,) = Summary.load(root / "toy" / "echo" / "smoke").changed
    assert change["now"]["expected"] == "0 to 50"


def test_an_update_of_a_failing_study_leaves_the_record(root, toys):
    folder = root / "toy" / "echo" / "smoke"
    before = files(folder)
    broken = replace(toys.Echo, claims=lambda dataset: 1 / 0)
    assert check(root, broken, update=True)["toy/echo"].problems
    assert files(folder) == before


def test_a_run_saved_again_keeps_its_history(root, toys, store):
    check(root, with_limit(toys.Echo, 3), update=True)
    save_results(run("toy/echo", store=store), root)
    changes = Summary.load(root / "toy" / "echo" / "smoke").changed
    assert [(each["was"]["verdict"], each["now"]["verdict"]) for each in changes] == [
        ("reproduced", "not reproduced"),
        ("not reproduced", "reproduced"),
    ]


def test_a_study_run_again_with_other_parameters_keeps_what_changed(root, toys, store):
    check(root, with_limit(toys.Echo, 3), update=True)
    again = run("toy/echo", store=store, scale=2.0)
    save_results(replace(again, label="smoke"), root)  # its size now means other parameters
    (change,) = Summary.load(root / "toy" / "echo" / "smoke").changed
    assert change["now"]["expected"] == "0 to 3"
