"""Trials that are killed in their middle go on from their checkpoint and end bit for bit alike."""

import dataclasses
import errno
import importlib
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from regimes.cli import app
from regimes.lab import LocalExecutor, Point, Store, _checkpoint, agenda, begun, execute
from regimes.lab._perform import perform


@pytest.fixture
def long(toys, monkeypatch):
    """The module of the long study; checkpoints after every step."""
    monkeypatch.setenv("REGIMES_STUDIES", "long_study")
    monkeypatch.setenv("REGIMES_CHECKPOINT_SECONDS", "0")
    sys.modules.pop("long_study", None)
    yield importlib.import_module("long_study")
    sys.modules.pop("long_study", None)


@pytest.fixture
def undisturbed(long, tmp_path):
    """Arrays of a trial that nobody stops and that leaves no checkpoints, and its steps."""
    folder = tmp_path / "undisturbed"
    folder.mkdir()
    record = perform(long.Long, config_of(long, folder=str(folder)))
    assert record.error is None
    return arrays_of(record), lines(folder, "steps")


def config_of(long, **changes):
    (config,) = long.Long.configs(dataclasses.replace(long.Params(), **changes))
    return config


def arrays_of(record):
    return {
        name: (array.values.dtype, array.values.shape, array.values.tobytes())
        for name, array in record.result.arrays.items()
    }


def lines(folder, name):
    return (Path(folder) / name).read_text().splitlines()


def states(store, config, name="run"):
    return sorted(store.checkpoints(config.study, config.key).glob(f"{name}/*"))


def test_killed_twice_a_trial_ends_like_an_undisturbed_one(long, store, begun, undisturbed):
    expected, steps = undisturbed
    config = config_of(long, folder=begun.path, die_at=(8, 16))
    with pytest.MonkeyPatch.context() as patch:  # the first life ends in this process, which lives
        patch.setattr(long.os, "kill", lambda *_: None)
        assert perform(long.Long, config, store=store).status == "failed"
    params = params_of(long, config)
    report = execute(agenda(long.Long, params, store=store), store=store, executor=LocalExecutor(1))
    assert (report.ran, report.failures) == (1, ())
    assert arrays_of(store.read("toy/long", config.key)) == expected
    assert len(lines(begun.path, "lives")) == 3
    assert len(lines(begun.path, "steps")) == len(steps) + 2  # only the steps it died in
    assert not store.checkpoints("toy/long", config.key).exists()


def stopped(long, store, begun, at=10):
    """A trial that failed in its first life and has left a checkpoint; its configuration."""
    config = config_of(long, folder=begun.path, die_at=(at,), how="raise")
    assert perform(long.Long, config, store=store).status == "failed"
    assert len(states(store, config)) == 1
    return config


def test_seconds_before_the_checkpoint_count(long, store, begun, undisturbed):
    config = stopped(long, store, begun)
    (state,) = states(store, config)
    body = _checkpoint._body(state, config.key)
    text = _checkpoint.seal({k: v for k, v in body.items() if k != "checksum"} | {"seconds": 1e6})
    (state / "state.json").write_bytes(text)
    record = perform(long.Long, config, store=store)
    assert 1e6 < record.seconds < 1e6 + 1e3
    assert arrays_of(record) == undisturbed[0]


@pytest.mark.parametrize("file", ["state.json", "arrays.safetensors"])
def test_a_damaged_checkpoint_is_not_used(long, store, begun, undisturbed, file):
    config = stopped(long, store, begun)
    (state,) = states(store, config)
    content = bytearray((state / file).read_bytes())
    content[len(content) // 2] ^= 1
    (state / file).write_bytes(content)
    with pytest.warns(RuntimeWarning, match="does not match its checksum"):
        record = perform(long.Long, config, store=store)
    assert arrays_of(record) == undisturbed[0]
    assert lines(begun.path, "steps").count("0 of life 2") == 1  # it began anew


def test_a_damaged_checkpoint_leaves_the_one_before_it(long, store, begun, undisturbed):
    config = stopped(long, store, begun)
    (state,) = states(store, config)
    newer = state.with_name(f"{int(state.name) + 1:08d}")
    newer.mkdir()
    (newer / "state.json").write_bytes((state / "state.json").read_bytes())
    with pytest.warns(RuntimeWarning, match="is not used"):
        record = perform(long.Long, config, store=store)
    assert arrays_of(record) == undisturbed[0]
    assert "0 of life 2" not in lines(begun.path, "steps")


def test_a_checkpoint_of_other_software_is_not_used(long, store, begun, undisturbed, monkeypatch):
    config = stopped(long, store, begun)
    monkeypatch.setattr(_checkpoint, "_software", lambda: {"commit": "another"})
    with pytest.warns(RuntimeWarning, match="it was made by"):
        record = perform(long.Long, config, store=store)
    assert arrays_of(record) == undisturbed[0]


def test_a_full_disk_is_said_once_and_does_not_stop_the_trial(
    long, store, undisturbed, monkeypatch
):
    def full(self, place, files):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Store, "add", full)
    with pytest.warns(RuntimeWarning, match="goes on without checkpoints") as said:
        record = perform(long.Long, config_of(long), store=store)
    assert len(said) == 1
    assert arrays_of(record) == undisturbed[0]


def test_flows_that_ended_are_not_repeated(long, store, begun):
    config = config_of(long, folder=begun.path)
    record = perform(long.Long, config, store=store)
    first = len(lines(begun.path, "steps"))
    assert states(store, config)
    assert states(store, config, "second")
    again = perform(long.Long, config, store=store)
    assert arrays_of(again) == arrays_of(record)
    assert len(lines(begun.path, "steps")) == first


def test_the_store_sweeps_what_finished_trials_left(long, store, begun):
    config = stopped(long, store, begun)
    execute(agenda(long.Long, params_of(long, config), store=store), store=store)
    assert store.with_checkpoints() == []
    left = store.checkpoints(config.study, config.key)
    store.add(left / "run" / "00000001", {"state.json": b"{}"})
    assert store.sweep() == 1
    assert store.with_checkpoints() == []


def params_of(long, config):
    return dataclasses.replace(long.Params(), **config.params)


def test_trials_that_are_begun_are_listed_and_pruned(long, store, begun):
    config = stopped(long, store, begun)
    (found,) = _checkpoint.begun(store)
    assert (found.study, found.key, found.config["params"]["how"]) == (
        "toy/long",
        config.key,
        "raise",
    )
    runner, place = CliRunner(), ["--store", str(store.root)]
    listed = runner.invoke(app, ["runs", "list", *place])
    assert "begun" in listed.output
    for words, count in ((["--status", "finished"], 1), (["--status", "begun"], 0)):
        answer = runner.invoke(app, ["runs", "prune", *words, "--yes", *place])
        assert answer.exit_code == 0, answer.output
        assert len(store.with_checkpoints()) == count


def test_a_point_without_a_store_has_no_checkpoints():
    assert Point({"seed": (0,)}).checkpoint() is None


def test_names_and_intervals_are_checked(long, store, monkeypatch):
    made = _checkpoint.Checkpoints(store, config_of(long))
    assert made.named("run").load() is None
    with pytest.raises(ValueError, match="a name of its own"):
        made.named("run")
    with pytest.raises(ValueError, match="lower case"):
        made.named("../run")
    monkeypatch.setenv("REGIMES_CHECKPOINT_SECONDS", "soon")
    with pytest.raises(ValueError, match="REGIMES_CHECKPOINT_SECONDS must be a number of seconds"):
        made.named("other")
    monkeypatch.setenv("REGIMES_CHECKPOINT_SECONDS", "3600")
    rarely = made.named("rarely")
    assert not rarely.due(ended=False)
    assert not rarely.due(ended=True)
    assert list(begun(store)) == []
