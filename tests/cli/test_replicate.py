import json

import pytest


@pytest.fixture
def recorded(regimes, tmp_path):
    """A record of toy/draws; gives its folder."""
    regimes("run", "toy/draws", "--size", "cpu", "--workers", 0)
    regimes("results", "save", "toy/draws")
    return tmp_path / "results" / "toy" / "draws" / "cpu"


def test_both_verdicts_are_shown_side_by_side(regimes, recorded):
    shown = regimes("replicate", "toy/draws", "--workers", 0).stdout
    lines = {line.split()[0]: line for line in shown.splitlines() if line.startswith("DRAW")}
    assert "toy/draws (cpu-fresh): 2 of 2 trials finished" in shown
    assert lines["DRAW-1"].count("reproduced") == 2
    assert lines["DRAW-1"].endswith("replicated")
    assert lines["DRAW-2"].endswith("not replicated")
    assert lines["DRAW-3"].endswith("ignores its seed")
    assert lines["DRAW-4"].endswith("same verdict")
    assert shown.splitlines()[-1] == (
        "1 replicated, 1 not replicated, 1 same verdict, 1 ignores its seed"
    )
    assert not (recorded / "replication-summary.json").exists()


def test_it_resumes_and_knows_its_own_seeds(regimes, recorded):
    first = json.loads(regimes("replicate", "toy/draws", "--workers", 0, "--json").stdout)
    again = json.loads(regimes("replicate", "toy/draws", "--workers", 0, "--json").stdout)
    assert (first["ran"], again["ran"]) == (1, 0)  # the block without seeds had run before
    assert [each["mark"] for each in first["comparison"]] == [
        each["mark"] for each in again["comparison"]
    ]


def test_recording_it_marks_the_claims_everywhere(regimes, recorded, tmp_path):
    words = ("replicate", "toy/draws", "--workers", 0, "--record")
    assert regimes(*words).stdout.splitlines()[-1] == str(recorded)
    about = json.loads((recorded / "replication-summary.json").read_text())
    assert about["params"]["draws"]["seed"] == [5, 6, 7, 8, 9]
    assert about["command"] == "regimes replicate toy/draws --workers 0 --record"
    assert about["wall_seconds"] >= 0
    assert {claim["id"] for claim in about["claims"]} == {f"DRAW-{i}" for i in (1, 2, 3, 4)}
    for elsewhere in ((), ("--store", tmp_path / "nothing")):
        answer = json.loads(regimes("claims", "--theme", "toy", "--json", *elsewhere).stdout)
        assert answer["replicated"] == 1
        assert [claim["fresh_seeds"] for claim in answer["claims"]] == [
            "replicated",
            "not replicated",
            "ignores its seed",
            "same verdict",
        ]
    assert "DRAW-1  reproduced, replicated" in regimes("claims", "--theme", "toy").stdout
    assert "cpu (1 of 4 replicated)" in regimes("studies").stdout
    page = tmp_path / "page.html"
    regimes("report", "--out", page, "--study", "toy/draws")
    assert "<span class='why'>replicated</span>" in page.read_text()
    assert "regimes replicate toy/draws" in page.read_text()
    regimes("check-results")


def test_a_part_may_be_run(regimes, recorded):
    words = ("replicate", "toy/draws", "--workers", 0, "--set", "block=draws")
    lines = regimes(*words).stdout.splitlines()
    assert next(line for line in lines if line.startswith("DRAW-3")).endswith("not measured")


def test_what_cannot_be_replicated_is_refused(regimes, recorded, store):
    assert "nothing is recorded" in regimes("replicate", "toy/echo", code=2).stderr
    regimes("run", "toy/trouble", "--workers", 0)
    refused = regimes("replicate", "toy/trouble", "--size", "smoke", code=2)
    assert "has no axis called 'seed'" in refused.stderr
    regimes("run", "toy/echo", "--workers", 0)
    shown = regimes("replicate", "toy/echo", "--size", "smoke", "--workers", 0)
    assert "TOY-1" in shown.stdout
    only_there = regimes("replicate", "toy/echo", "--size", "smoke", "--record", code=2)
    assert "is not in" in only_there.stderr


def test_a_stale_record_takes_no_replication(regimes, recorded):
    path = recorded / "summary.json"
    about = json.loads(path.read_text())
    path.write_text(json.dumps({**about, "judging": "other"}))
    result = regimes("replicate", "toy/draws", "--workers", 0)
    assert "stale: the judging code has changed" in result.stderr
    refused = regimes("replicate", "toy/draws", "--workers", 0, "--record", code=2)
    assert "cannot take a replication: the judging code has changed" in refused.stderr


def test_it_can_be_planned_without_running(regimes, recorded):
    assert "1 to run" in regimes("replicate", "toy/draws", "--dry-run").stdout


def test_failed_trials_leave_nothing_recorded(regimes, recorded, toys, monkeypatch):
    def fails(params, point):
        raise RuntimeError("no")

    object.__setattr__(toys.Draws, "trial", fails)
    regimes("replicate", "toy/draws", "--workers", 0, "--record", code=1)
    assert not (recorded / "replication-summary.json").exists()
