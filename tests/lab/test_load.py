"""A study's data by its name, recorded or from the store."""

import shutil

import pytest
import xarray as xr

from regimes.lab import Store, find, load, run, save_results

STUDY = "toy/echo"


@pytest.fixture
def places(toys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return Store(tmp_path / "store"), tmp_path / "results"


@pytest.fixture
def summary(places):
    return run(STUDY, store=places[0])


def test_a_finished_run_is_loaded_from_the_store(summary, places):
    data = load(STUDY, "smoke", store=places[0])
    xr.testing.assert_equal(data, summary.dataset)
    assert data.attrs["command"] == summary.command
    assert data.attrs["stale"] == ""


def test_the_record_comes_first(summary, places):
    store, results = places
    folder = save_results(summary, results)
    assert load(STUDY, "smoke", store=store).attrs["source"] == str(folder)
    shutil.rmtree(store.root)
    xr.testing.assert_equal(load(STUDY, "smoke", store=store), summary.dataset)


def test_runs_with_other_parameters_go_by_their_label(places):
    store, _ = places
    other = run(STUDY, store=store, width=(7,))
    assert load(STUDY, other.label, store=store).width.values.tolist() == [7]
    with pytest.raises(ValueError, match=rf"no run .* 'smoke', only: {other.label} \(in the store"):
        load(STUDY, "smoke", store=store)


def test_what_is_missing_is_said(places):
    store, _ = places
    with pytest.raises(ValueError, match="unknown study 'toy/ecko'; nearest: toy/echo"):
        load("toy/ecko", store=store)
    with pytest.raises(ValueError, match=r"none at all.*regimes run toy/echo --size smoke"):
        load(STUDY, "smoke", store=store)


def test_an_unfinished_run_is_refused_with_its_counts(summary, places):
    store, _ = places
    key = next(iter(store.keys(STUDY)))
    shutil.rmtree(store.folder(STUDY) / key)
    folder = store.root / "summaries" / STUDY / "smoke" / "summary.json"
    folder.write_text(
        folder.read_text().replace(f'"finished": {summary.finished}', '"finished": 0')
    )
    with pytest.raises(ValueError, match=rf"not finished: {summary.finished - 1} of"):
        load(STUDY, "smoke", store=store)


def test_a_damaged_record_is_told(summary, places):
    folder = save_results(summary, places[1])
    (folder / "dataset.safetensors").write_bytes(b"cut")
    with pytest.raises(ValueError, match=r"is damaged: dataset.safetensors does not match"):
        load(STUDY, "smoke", store=places[0])


def test_a_study_of_the_package_is_known_in_any_folder(places):
    data = load("regimes/phase-diagram", "cpu")
    assert data.sizes["width"] == len(find("regimes/phase-diagram").parameters("cpu").width)
