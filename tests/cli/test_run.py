import errno
import importlib.util
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from regimes.lab import _registry


def test_a_run_tells_what_it_did_and_resumes(regimes):
    first = regimes("run", "toy/echo", "--workers", 0)
    assert "toy/echo (smoke): 6 of 6 trials finished, 6 of them now" in first.stdout
    assert "TOY-1  reproduced  expected 0 to 100  measured 4" in first.stdout
    assert "0 of them now" in regimes("run", "toy/echo", "--workers", 0).stdout


def test_json_is_one_document(regimes):
    answer = json.loads(regimes("run", "toy/echo", "--workers", 0, "--json").stdout)
    assert (answer["trials"], answer["ran"], answer["already"], answer["left"]) == (6, 6, 0, 0)
    assert [claim["verdict"] for claim in answer["claims"]] == ["reproduced", "not reproduced"]


def test_settings_make_another_run(regimes):
    words = ("run", "toy/echo", "--workers", 0, "--json", "--set", "alpha=3", "--set", "scale=2")
    answer = json.loads(regimes(*words).stdout)
    assert answer["trials"] == 2
    assert answer["label"].startswith("smoke-")


def test_an_unknown_key_lists_the_valid_ones_with_types(regimes):
    result = regimes("run", "toy/echo", "--set", "alhpa=3", code=2)
    assert "unknown parameter 'alhpa'" in result.stderr
    assert "  alpha: list of number (now 0.5,1.0,2.0)" in result.stderr
    assert "Traceback" not in result.output


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("toy/ecko",), "nearest: toy/echo"),
        (("toy/echo", "--size", "huge"), "unknown size of toy/echo 'huge'"),
        (("toy/echo", "--on", "mars"), "--on must be local or ray"),
        (("toy/echo", "--dtype", "float16"), "unknown dtype 'float16'"),
        (("toy/echo", "--set", "scale=big"), "scale must be a number, got 'big'"),
        (("toy/echo", "--set", "width=big"), "width must be a list of integer, got 'big'"),
        (("toy/echo", "--workers", -1), "Invalid value for '--workers'"),
        (("toy/echo", "--threads", 0), "Invalid value for '--threads'"),
        (("toy/echo", "--grace", -1), "Invalid value for '--grace'"),
        (("toy/echo", "--set", "help"), "  scale: number (now 1.0)"),
    ],
)
def test_mistakes_are_explained_without_a_traceback(regimes, words, message):
    result = regimes("run", *words, code=2)
    assert message in result.stderr
    assert "Traceback" not in result.output


def test_a_gpu_that_is_not_there_is_missed_before_anything_runs(regimes, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    result = regimes("run", "toy/echo", "--device", "cuda", "--workers", 0, code=2)
    assert "this machine shows no GPU" in result.stderr


def test_a_dry_run_counts_and_estimates_and_runs_nothing(regimes, store):
    before = regimes("run", "toy/echo", "--dry-run")
    assert "6 trials: 0 finished, 6 to run" in before.stdout
    assert "relative cost 9" in before.stdout
    assert not store.root.exists()
    regimes("run", "toy/echo", "--workers", 0, "--set", "width=1")
    after = json.loads(regimes("run", "toy/echo", "--dry-run", "--json").stdout)
    assert (after["finished"], after["to_run"], after["relative_cost"]) == (3, 3, 6.0)
    assert after["worker_seconds"] > 0


def test_failures_are_listed_with_how_to_run_them_again(regimes):
    result = regimes("run", "toy/trouble", "--workers", 0, "--set", "kind=raise", code=1)
    assert "failed: kind=raise, i=1: RuntimeError: number 1 does not like it" in result.stderr
    assert "2 trials failed. The same command runs them again" in result.stderr
    key = result.stderr.partition("regimes runs show ")[2][:20]
    assert "toy_studies.py" in regimes("runs", "show", key).stdout


def test_a_damaged_trial_is_set_aside_and_run_again(regimes, store):
    regimes("run", "toy/echo", "--workers", 0)
    key = sorted(store.keys("toy/echo"))[0]
    (store.folder("toy/echo") / key / "arrays.safetensors").write_bytes(b"")
    result = regimes("run", "toy/echo", "--workers", 0)
    assert f"trial {key} was damaged" in result.stderr
    assert "6 of 6 trials finished, 1 of them now" in result.stdout


def test_a_store_that_cannot_be_written_is_named(regimes, tmp_path):
    (tmp_path / "file").write_text("")
    result = regimes("run", "toy/echo", "--store", tmp_path / "file" / "s", code=3)
    assert f"cannot write to the store {tmp_path / 'file' / 's'}" in result.stderr


def test_a_finished_study_is_shown_from_a_store_that_is_only_for_reading(
    regimes, store, monkeypatch
):
    regimes("run", "toy/echo", "--workers", 0)
    (store.root / "checkpoints" / "toy" / "echo" / next(iter(store.keys("toy/echo")))).mkdir(
        parents=True
    )

    def refuse(path, *rest, **options):
        raise OSError(errno.EROFS, "Read-only file system", str(path))

    for name in ("mkdir", "rename", "unlink", "rmdir"):
        monkeypatch.setattr(os, name, refuse)
    again = regimes("run", "toy/echo", "--workers", 0)
    assert "6 of 6 trials finished, 0 of them now" in again.stdout
    assert "TOY-1  reproduced" in again.stdout
    result = regimes("run", "toy/echo", "--workers", 0, "--size", "cpu", code=3)
    assert "cannot write to the store" in result.stderr


def test_a_folder_in_the_place_of_a_trial_is_set_aside(regimes, store):
    regimes("run", "toy/echo", "--workers", 0)
    file = store.folder("toy/echo") / sorted(store.keys("toy/echo"))[0] / "trial.json"
    file.unlink()
    file.mkdir()
    assert "damaged: trial.json cannot be read: Is a directory" in regimes("runs", "list").stdout
    assert "is damaged" in regimes("runs", "show", file.parent.name, code=1).stderr
    result = regimes("run", "toy/echo", "--workers", 0)
    assert f"trial {file.parent.name} was damaged (trial.json cannot be read" in result.stderr
    assert "6 of 6 trials finished, 1 of them now" in result.stdout


@pytest.mark.parametrize(
    "words", [("run", "toy/echo"), ("runs", "list"), ("report",), ("claims",), ("studies",)]
)
def test_a_store_with_too_long_a_name_is_one_sentence(regimes, words):
    result = regimes(*words, "--store", "s" * 300, code=3)
    assert result.stderr.startswith("error: File name too long: /")
    assert result.stderr.count("\n") == 1


def test_a_time_limit_needs_workers_of_this_machine(regimes):
    for words in (("--workers", 0), ("--on", "ray")):
        result = regimes("run", "toy/echo", "--trial-timeout", 5, *words, code=2)
        assert "use it with --on local" in result.stderr


def environment_of(toys):
    places = [str(Path(toys.__file__).parent), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, places))}


def test_in_a_pipe_progress_is_plain_lines(toys):
    command = [sys.executable, "-m", "regimes", "run", "toy/echo", "--workers", "1"]
    environment = environment_of(toys)
    answer = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert "6/6 trials" in answer.stdout
    assert "\x1b" not in answer.stdout + answer.stderr


@pytest.mark.ray
@pytest.mark.skipif(
    importlib.util.find_spec("ray") is None, reason="ray is not installed: pip install regimes[ray]"
)
def test_the_same_study_on_a_ray_cluster_started_for_it(toys):
    command = [sys.executable, "-m", "regimes", "run", "toy/echo", "--json"]
    environment = environment_of(toys)
    environment["RAY_AUTH_MODE"] = "disabled"
    command += ["--on", "ray", "--workers", "2"]
    answer = subprocess.run(command, env=environment, capture_output=True, check=True)
    assert json.loads(answer.stdout)["finished"] == 6


def test_without_ray_the_way_to_get_it_is_shown(regimes, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    result = regimes("run", "toy/echo", "--on", "ray", code=3)
    assert "pip install 'regimes[ray]'" in result.stderr


def test_a_study_that_cannot_summarise_keeps_its_trials(regimes, toys, store):
    broken = replace(toys.Echo, claims=lambda dataset: 1 / 0)
    _registry._registered["toy/echo"] = broken
    result = regimes("run", "toy/echo", "--workers", 0, code=1)
    assert "ZeroDivisionError" in result.stderr
    assert f"its trials are kept in {store.root}" in result.stderr
    assert len(store.keys("toy/echo")) == 6
    assert "cannot be brought up to date" in regimes("claims", "--theme", "toy").stderr


def test_the_command_is_kept_as_it_was_typed(regimes, store, tmp_path):
    about = store.root / "summaries" / "toy" / "echo"
    regimes("run", "toy/echo", "--workers", 0, "--set", "alpha=0.5, 1", "--json")
    (folder,) = about.iterdir()
    command = json.loads((folder / "summary.json").read_text())["command"]
    assert command == "regimes run toy/echo --workers 0 --set 'alpha=0.5, 1' --json"
    regimes("run", "toy/echo", "--set", "alpha=0.5, 1")  # nothing is left to do
    assert json.loads((folder / "summary.json").read_text())["command"] == command
