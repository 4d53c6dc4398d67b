"""What must not break a sweep, tried on the real command line with real signals."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from regimes.lab import gather

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
        command = [sys.executable, "-m", "regimes.cli", "run", "toy/trouble", "--workers", "2"]
        for key, value in settings.items():
            command += ["--set", f"{key}={value}"]
        environment = {**os.environ, "PYTHONPATH": str(Path(toys.__file__).parent)}
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


def test_a_nan_is_kept_and_named(toys, drive, store):
    driver = drive("--set", "kind=nan", trials=3, seconds=0)
    text, _ = driver.communicate()
    assert driver.returncode == 0
    assert "1 trials returned a NaN" in text
    flagged = [
        body["config"]["point"]["i"]
        for body in (store.body("toy/trouble", key) for key in store.keys("toy/trouble"))
        if body["nonfinite"]
    ]
    assert flagged == [1]
