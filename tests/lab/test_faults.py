"""What must not break a sweep, tried on the real command line with real signals."""

import json
import os
import signal
import subprocess
import sys
import time
import tracemalloc
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy
from typer.testing import CliRunner

from regimes.cli import app
from regimes.lab import (
    Array,
    InlineExecutor,
    LocalExecutor,
    Record,
    Stop,
    Summary,
    TrialResult,
    agenda,
    discover,
    execute,
    gather,
    known_summaries,
    report_html,
    report_section,
    run,
    save_results,
)
from regimes.lab._config import digest
from regimes.lab._perform import perform_all
from regimes.lab._record import encode, seal

TRIALS = 40


@pytest.fixture
def drive(toys, store, begun):
    """Start `regimes run toy/trouble` as a process of its own."""
    drivers = []

    def start(*words, seconds=0.05, trials=TRIALS, cwd=None):
        settings = {
            "i": ",".join(map(str, range(trials))),
            "seconds": str(seconds),
            "folder": begun.path,
        }
        command = [sys.executable, "-m", "regimes", "run", "toy/trouble", "--workers", "2"]
        for key, value in settings.items():
            command += ["--set", f"{key}={value}"]
        places = [str(Path(toys.__file__).parent), os.environ.get("PYTHONPATH", "")]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, places))}
        environment["REGIMES_STORE"] = str(store.root)
        driver = subprocess.Popen(
            [*command, *words],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        drivers.append(driver)
        return driver

    yield start
    for driver in drivers:
        if driver.poll() is None:
            driver.kill()
        driver.communicate()


def wait_for(condition, timeout=60):
    deadline = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.02)


def stored(store):
    return len(store.keys("toy/trouble"))


def workers():
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if b"regimes.lab._worker" in path.read_bytes():
                environment = (path.parent / "environ").read_bytes()
                found.append((int(path.parent.name), environment))
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue
    return found


def own_workers(store):
    """The workers, and what their trials have forked, which looks the same."""
    mark = f"REGIMES_STORE={store.root}".encode()
    return [pid for pid, environment in workers() if mark in environment]


def test_the_driver_is_killed_and_the_same_command_goes_on(toys, drive, store, begun):
    driver = drive()
    wait_for(lambda: stored(store) >= 8)
    driver.kill()
    driver.wait()
    wait_for(lambda: own_workers(store) == [], timeout=10)  # no orphans
    before = {key: store.body("toy/trouble", key)["started"] for key in store.keys("toy/trouble")}
    assert 8 <= len(before) < TRIALS

    again = drive("--json")
    answer = json.loads(again.communicate()[0])
    assert again.returncode == 0
    assert answer["already"] == len(before)
    assert (answer["finished"], answer["ran"]) == (TRIALS, TRIALS - len(before))
    # what was finished was not run again, and nothing was lost or doubled
    after = {key: store.body("toy/trouble", key)["started"] for key in store.keys("toy/trouble")}
    assert len(after) == TRIALS
    assert before.items() <= after.items()
    assert begun.count() <= TRIALS + 2 * 8  # at most the batches in flight were begun twice


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_drains_the_workers_and_says_how_to_go_on(drive, store, begun, number):
    driver = drive(seconds=0.2)
    wait_for(lambda: stored(store) >= 3)
    driver.send_signal(number)
    _, errors = driver.communicate()
    assert driver.returncode == 128 + number
    assert f"stopped by {number.name}" in errors
    assert "To go on: regimes run toy/trouble" in errors
    assert own_workers(store) == []
    assert begun.count() == stored(store) < TRIALS  # every trial that began was finished and kept


def test_a_signal_to_the_whole_group_is_like_one_to_the_driver(drive, store, begun):
    """What a terminal does at Ctrl-C, and a batch system at the end of the time."""
    driver = drive(seconds=0.2)
    wait_for(lambda: stored(store) >= 3)
    for pid in (*own_workers(store), driver.pid):
        os.kill(pid, signal.SIGINT)
    driver.communicate()
    assert driver.returncode == 130
    assert begun.count() == stored(store)


def test_two_drivers_share_one_store(toys, drive, store, begun):
    drivers = [drive("--json"), drive("--json")]
    answers = [json.loads(driver.communicate()[0]) for driver in drivers]
    assert [driver.returncode for driver in drivers] == [0, 0]
    for answer in answers:
        assert answer["finished"] == TRIALS
        assert answer["failed"] == []
    found = store.inspect("toy/trouble", store.keys("toy/trouble"))
    assert (len(found.finished), len(found.set_aside)) == (TRIALS, 0)
    assert sum(answer["ran"] + answer["already"] for answer in answers) >= TRIALS
    assert sum(answer["found"] for answer in answers) > 0
    assert TRIALS <= begun.count() < 1.7 * TRIALS  # they divide the work, without knowing it
    params = toys.TroubleParams(
        i=tuple(range(TRIALS)), seconds=0.05, folder=begun.path, kind=("fine",)
    )
    assert len(gather(toys.Trouble, params, store=store)) == TRIALS


def typed(store, *settings):
    """What `regimes run toy/trouble` answers in this process, with workers of its own."""
    command = ["run", "toy/trouble", "--workers", "2", "--store", str(store.root)]
    return CliRunner().invoke(app, [*command, *settings])


def test_a_nan_is_kept_and_named(toys, store):
    answer = typed(store, "--set", "kind=nan", "--set", "i=0,1,2")
    assert answer.exit_code == 0
    assert "1 trials returned a NaN" in answer.stdout
    flagged = [
        body["config"]["point"]["i"]
        for body in (store.body("toy/trouble", key) for key in store.keys("toy/trouble"))
        if body["nonfinite"]
    ]
    assert flagged == [1]


# -- one trial misbehaves, the others go on ------------------------------------------------------


def sweep(toys, store, kind, executor, i=(0, 1, 2)):
    params = toys.TroubleParams(kind=(kind,) if isinstance(kind, str) else kind, i=i)
    return execute(agenda(toys.Trouble, params, store=store), store=store, executor=executor)


REASONS = {
    "huge integer": "scalar 'x' is an integer of more than 64 bits",
    "long double": "at most 64 bits can be stored",
    "reserved name": "not '__metadata__'",
    "no name": "must be a text",
    "masked": "an array of int64 cannot hold",
    "interrupt": "KeyboardInterrupt",
    "exit": "SystemExit: 3",
    "mute": "MuteError: (its text cannot be shown: that raises KeyboardInterrupt)",
    "input": "EOFError",
}


def test_trials_that_misbehave_fail_alone_and_are_run_again(toys, store):
    for _ in range(2):
        report = sweep(toys, store, tuple(REASONS), LocalExecutor(1))
        assert {failure.point["i"] for failure in report.failures} == {1}
        errors = {failure.point["kind"]: failure.error for failure in report.failures}
        assert len(errors) == len(report.failures)
        assert [kind for kind in REASONS if REASONS[kind] not in errors[kind]] == []
    assert (report.already, report.ran) == (2 * len(REASONS), 0)  # of the second time


def test_a_trial_in_this_process_may_interrupt_but_so_may_the_user(toys, store):
    with Stop():  # as in a run: Ctrl-C is a request, so the interrupt is the trial's own
        report = sweep(toys, store, "interrupt", InlineExecutor())
    assert [failure.error for failure in report.failures] == ["KeyboardInterrupt: "]
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            sweep(toys, store, "interrupt", InlineExecutor())
    finally:
        signal.signal(signal.SIGINT, handler)


def test_a_result_that_turns_out_unstorable_fails_its_trial(toys, store):
    """Whatever nobody thought of: here a text that is to be watched as a number."""
    picky = replace(toys.Trouble, watch={"x": "min"})
    config = picky.configs(toys.TroubleParams(kind=("unwatchable",), i=(1,)))[0]
    (((item, outcome),),) = perform_all(picky, [config], device="cpu", is_done=lambda key: False)
    assert (item.status, outcome.status) == ("failed", "failed")
    assert "the result cannot be stored: could not convert string" in outcome.error


def test_a_record_that_is_whole_and_makes_no_sense_is_set_aside(toys, store):
    """As the array named __metadata__, which older versions stored."""
    params = toys.TroubleParams(i=(0,))
    (config,) = toys.Trouble.configs(params)
    item = encode(Record(config, "finished", TrialResult(arrays={"v": Array("k", [1.0])})))
    arrays = safetensors.numpy.save({"__metadata__": np.ones(1)})
    body = json.loads(item.trial_json)
    body |= {"arrays": {"bytes": len(arrays), "sha256": digest(arrays)}}
    body.pop("checksum")
    store.commit([replace(item, trial_json=seal(body), arrays=arrays)])
    assert gather(toys.Trouble, params, store=store).missing == (config.key,)
    assert sweep(toys, store, "fine", InlineExecutor(), i=(0,)).ran == 1


def test_a_trial_that_takes_too_long_is_ended_and_the_others_go_on(toys, store):
    limited = LocalExecutor(2, trial_timeout=1.0)
    report = sweep(toys, store, "hang", limited, i=tuple(range(30)))
    assert (report.ran, report.left) == (29, 0)
    (failure,) = report.failures
    assert failure.error == "TrialTimeout: the trial took longer than the 1 seconds it is allowed"
    assert store.body("toy/trouble", failure.key)["error"]["type"] == "TrialTimeout"
    with pytest.raises(ValueError, match="trial_timeout=0"):
        LocalExecutor(1, trial_timeout=0)


def test_the_time_limit_on_the_command_line(toys, store):
    answer = typed(store, "--set", "kind=hang", "--set", "i=0,1,2,3", "--trial-timeout", "1")
    assert answer.exit_code == 1
    assert "failed: kind=hang, i=1: TrialTimeout" in answer.stderr
    assert stored(store) == 4


def test_a_child_does_not_hide_the_death_of_its_worker(toys, store, monkeypatch):
    monkeypatch.setenv("REGIMES_STORE", str(store.root))
    report = sweep(toys, store, "die with a child", LocalExecutor(1))
    assert report.ran == 2
    assert "WorkerDied" in report.failures[0].error
    wait_for(lambda: own_workers(store) == [], timeout=10)


def test_a_child_does_not_outlive_the_run(toys, store, monkeypatch):
    monkeypatch.setenv("REGIMES_STORE", str(store.root))
    assert sweep(toys, store, "leave a child", LocalExecutor(1)).complete
    wait_for(lambda: own_workers(store) == [], timeout=10)


def test_a_child_does_not_outlive_a_driver_that_is_killed(drive, store):
    def child():
        for key in store.keys("toy/trouble"):
            if number := store.body("toy/trouble", key)["scalars"].get("child"):
                return number
        return None

    driver = drive("--set", "kind=leave a child", seconds=0.2)
    wait_for(lambda: child() is not None)
    assert child() in own_workers(store)
    driver.kill()
    driver.wait()
    wait_for(lambda: own_workers(store) == [], timeout=10)


def test_a_child_that_comes_back_from_the_trial_is_ended(toys, store):
    report = sweep(toys, store, "come back twice", LocalExecutor(1))
    assert (report.ran, report.left, report.failures) == (3, 0, ())


def test_only_the_end_of_a_long_log_is_read(toys, store):
    tracemalloc.start()
    report = sweep(toys, store, "die after a long speech", LocalExecutor(1))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    body = store.body("toy/trouble", report.failures[0].key)
    assert body["error"]["message"].endswith("last words")
    assert peak < 50 * 2**20


# -- summaries that are damaged ------------------------------------------------------------------


def flip(path):
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


def garbage(path):
    path.write_bytes(b"\x00 nothing that can be read")


def folder(path):
    path.unlink()
    path.mkdir()


def no_table(path):
    path.write_text("[1, 2]")


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("dataset.safetensors", flip),
        ("dataset.safetensors", garbage),
        ("dataset.safetensors", Path.unlink),
        ("dataset.json", flip),
        ("dataset.json", folder),
        ("summary.json", garbage),
        ("summary.json", folder),
        ("summary.json", no_table),
    ],
)
@pytest.mark.parametrize("source", ["store", "results"])
def test_a_damaged_summary_is_named_and_the_others_are_shown(
    toys, store, tmp_path, name, damage, source
):
    summary = run("toy/echo", store=store)
    run("toy/trouble", store=store)
    save_results(summary, tmp_path / "results")
    place = {"store": store.root / "summaries", "results": tmp_path / "results"}[source]
    damage(place / "toy" / "echo" / "smoke" / name)

    catalogue, results = discover(), tmp_path / "results"
    alone, *others = known_summaries(catalogue, store, results, source=source)
    assert (alone.study, alone.label, alone.claims, alone.dataset) == (
        "toy/echo",
        "smoke",
        (),
        None,
    )
    assert f"the summary in {place / 'toy' / 'echo' / 'smoke'} is damaged" in alone.problem
    assert [other.study for other in others] == ["toy/trouble"] * (source == "store")
    page = report_html([report_section(alone, catalogue.studies["toy/echo"])])
    assert "is damaged and not used" in page

    both = {each.study: each for each in known_summaries(catalogue, store, results)}
    assert both["toy/echo"].finished == 6  # the other place has a good one
    assert ("is damaged" in both["toy/echo"].problem) == (source == "store")
    run("toy/echo", store=store)  # what is in the store is made anew from the trials
    assert not known_summaries(catalogue, store, tmp_path / "none")[0].damaged


def test_a_record_from_before_the_checksums_is_read(toys, store, tmp_path):
    summary = run("toy/echo", store=store)
    place = save_results(summary, tmp_path)
    about = json.loads((place / "summary.json").read_text())
    assert set(about.pop("checksums")) == {"dataset.json", "dataset.safetensors"}
    (place / "summary.json").write_text(json.dumps(about))
    assert Summary.load(place).dataset.identical(summary.dataset)
