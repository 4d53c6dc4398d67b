import json
from dataclasses import replace

from regimes.lab._perform import perform
from regimes.lab._record import encode


def test_trials_are_listed_filtered_and_shown(regimes):
    regimes("run", "toy/echo", "--workers", 0)
    regimes("run", "toy/trouble", "--workers", 0, "--set", "kind=raise,nan", code=1)
    assert "14 trials" in regimes("runs").stdout
    counts = {
        status: len(json.loads(regimes("runs", "list", "--status", status, "--json").stdout))
        for status in ("finished", "failed", "flagged", "damaged")
    }
    assert counts == {"finished": 12, "failed": 2, "flagged": 1, "damaged": 0}
    words = ("runs", "list", "--study", "toy/echo", "--where", "alpha=0.5", "--where", "seed=1")
    found = json.loads(regimes(*words, "--json").stdout)
    assert [body["config"]["point"]["width"] for body in found] != []
    assert {body["config"]["point"]["alpha"] for body in found} == {0.5}
    text = regimes("runs", "show", found[0]["key"][:12]).stdout
    shown = json.loads(text.rpartition("}")[0] + "}")
    assert shown["scalars"]["product"] == 0.5 * found[0]["config"]["point"]["width"]


def test_long_lists_are_cut_and_say_so(regimes):
    regimes("run", "toy/echo", "--workers", 0)
    text = regimes("runs", "list", "--limit", 2).stdout
    assert "6 trials, the first 2 shown" in text
    assert "Invalid value" in regimes("runs", "list", "--limit", -1, code=2).stderr


def test_a_damaged_trial_is_listed_and_cannot_be_shown(regimes, store):
    regimes("run", "toy/echo", "--workers", 0)
    key = sorted(store.keys("toy/echo"))[0]
    (store.folder("toy/echo") / key / "trial.json").write_text("{}")
    assert "damaged: trial.json does not match" in regimes("runs", "list").stdout
    assert "is damaged" in regimes("runs", "show", key, code=1).stderr


def test_pruning_needs_a_filter_and_a_yes(regimes, store):
    regimes("run", "toy/echo", "--workers", 0)
    assert "say which trials" in regimes("runs", "prune", code=2).stderr
    dry = regimes("runs", "prune", "--where", "width=1")
    assert "3 trials would be deleted" in dry.stdout
    assert len(store.keys("toy/echo")) == 6
    assert "3 trials deleted" in regimes("runs", "prune", "--where", "width=1", "--yes").stdout
    assert len(store.keys("toy/echo")) == 3
    assert "0 trials deleted" in regimes("runs", "prune", "--older-than", 1, "--yes").stdout


def test_trials_of_an_older_version_can_be_pruned(regimes, store, toys):
    older = replace(toys.Echo, version=7)
    config = older.configs(toys.EchoParams(width=(1,)))[0]
    store.commit([encode(perform(older, config))])
    regimes("run", "toy/echo", "--workers", 0)
    assert len(store.keys("toy/echo")) == 7
    assert "1 trials deleted" in regimes("runs", "prune", "--outdated", "--yes").stdout
    assert config.key not in store.keys("toy/echo")


def test_mistakes_are_explained(regimes):
    assert "use one of: finished" in regimes("runs", "list", "--status", "odd", code=2).stderr
    assert "KEY=VALUE" in regimes("runs", "prune", "--where", "width", code=2).stderr
    assert "0 trials" in regimes("runs", "show", "abc", code=1).stderr
