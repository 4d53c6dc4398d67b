import json
from dataclasses import replace

import pytest
import xarray as xr

from regimes.lab import (
    Store,
    Summary,
    Verdict,
    agenda,
    announce_run,
    discover,
    execute,
    keep_summary,
    known_summaries,
    label_of,
    run,
    save_results,
    summarise,
)


def test_a_summary_survives_saving(toys, store, tmp_path):
    summary = run("toy/echo", store=store)
    folder = save_results(summary, tmp_path / "results")
    assert folder == tmp_path / "results" / "toy" / "echo" / "smoke"
    again = Summary.load(folder)
    xr.testing.assert_identical(again.dataset, summary.dataset)
    assert replace(again, dataset=None) == replace(summary, dataset=None)
    assert {path.name for path in folder.iterdir()} == {
        "summary.json",
        "dataset.json",
        "dataset.safetensors",
    }


def test_a_summary_tells_what_was_run_where(toys, store):
    summary = run("toy/echo", store=store)
    assert (summary.trials, summary.finished, summary.failed, summary.flagged) == (6, 6, 0, 0)
    assert summary.params == {"width": (1, 2), "alpha": (0.5, 1.0, 2.0), "seed": (0, 1), "scale": 1}
    (place,) = summary.machines
    assert place.startswith(summary.environment["machine"]["host"] + ": ")
    assert "device cpu" in place
    assert summary.environment["versions"]["torch"] in place
    assert f"numpy {summary.environment['versions']['numpy']}" in place
    assert place.endswith("(6 trials)")
    assert summary.wall_seconds is not None
    assert summary.trial_seconds > 0
    verdicts = {claim.id: claim.verdict for claim in summary.claims}
    assert verdicts == {"TOY-1": Verdict.REPRODUCED, "TOY-2": Verdict.NOT_REPRODUCED}


def test_an_unfinished_run_decides_nothing(toys, store):
    params = toys.EchoParams()
    part = replace(params, width=(1,))
    execute(agenda(toys.Echo, part, store=store), store=store)
    summary = summarise(toys.Echo, "smoke", params, store=store)
    assert not summary.complete
    assert {claim.verdict for claim in summary.claims} == {Verdict.INCONCLUSIVE}
    assert summary.claims[0].why == "3 of 6 trials finished; so far reproduced"


def test_verdicts_must_be_declared(toys, store):
    execute(agenda(toys.Echo, toys.EchoParams(), store=store), store=store)
    with pytest.raises(ValueError, match="TOY-2: add them to judges"):
        summarise(replace(toys.Echo, judges=("TOY-1",)), "smoke", store=store)


def test_runs_with_changed_parameters_have_names_of_their_own(toys):
    study, params = toys.Echo, toys.EchoParams()
    labels = [
        label_of(study, "smoke", params),
        label_of(study, "smoke", replace(params, scale=2.0)),
        label_of(study, "smoke", replace(params, scale=3.0)),
        label_of(study, "smoke", params, "float32"),
        label_of(study, "smoke", params, "float64"),
    ]
    assert labels[0] == labels[4] == "smoke"
    assert len(set(labels)) == 4


def test_a_run_can_be_watched_from_the_moment_it_is_announced(toys, store, tmp_path):
    params = toys.EchoParams()
    announced = announce_run(toys.Echo, "smoke", params, trials=6, dtype=None, command="c")
    keep_summary(announced, store)
    execute(agenda(toys.Echo, replace(params, width=(2,)), store=store), store=store)
    (seen,) = known_summaries(discover(), store, tmp_path / "none")
    assert (seen.finished, seen.trials, seen.command) == (3, 6, "c")
    assert seen.dataset is not None


def test_the_fuller_of_two_summaries_is_shown(toys, store, tmp_path):
    results = tmp_path / "results"
    save_results(run("toy/echo", store=store), results)
    fresh = Store(tmp_path / "fresh")
    begun = announce_run(
        toys.Echo, "smoke", toys.EchoParams(), trials=6, dtype=None, command="begun"
    )
    keep_summary(begun, fresh)
    catalogue = discover()
    assert [s.finished for s in known_summaries(catalogue, fresh, results)] == [6]
    assert [s.finished for s in known_summaries(catalogue, fresh, results, source="store")] == [0]
    assert known_summaries(catalogue, Store(tmp_path / "no"), tmp_path / "no") == []


def test_a_complete_summary_is_final_until_refreshed(toys, store, tmp_path):
    summary = replace(run("toy/echo", store=store), command="kept")
    keep_summary(replace(summary, claims=()), store)
    catalogue, nowhere = discover(), tmp_path / "none"
    assert known_summaries(catalogue, store, nowhere)[0].claims == ()
    (new,) = known_summaries(catalogue, store, nowhere, refresh=True)
    assert (len(new.claims), new.command) == (2, "kept")


def test_the_summary_of_another_version_is_shown_as_it_is(toys, store, tmp_path):
    keep_summary(run("toy/echo", store=store), store)
    about = store.root / "summaries" / "toy" / "echo" / "smoke" / "summary.json"
    data = json.loads(about.read_text())
    data["params"] = {"older": 1}
    about.write_text(json.dumps(data))
    (seen,) = known_summaries(discover(), store, tmp_path / "none", refresh=True)
    assert seen.params == {"older": 1}


def test_a_study_that_fails_does_not_hide_the_others(toys, store, tmp_path, monkeypatch):
    keep_summary(run("toy/echo", store=store), store)
    catalogue = discover()
    broken = replace(toys.Echo, claims=lambda dataset: 1 / 0)
    studies = {**catalogue.studies, "toy/echo": broken}
    (seen,) = known_summaries(
        replace(catalogue, studies=studies), store, tmp_path / "none", refresh=True
    )
    assert "ZeroDivisionError" in seen.problem
    assert seen.complete
    (orphan,) = known_summaries(replace(catalogue, studies={}), store, tmp_path / "none")
    assert "not found" in orphan.problem
