"""Worker processes: they may die, print, sleep; every trial is accounted for."""

import os
import signal
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from regimes.lab import (
    ExecutorError,
    LocalExecutor,
    Silent,
    Stop,
    Store,
    StoreError,
    _worker,
    agenda,
    execute,
    gather,
)


def workers_of(pid):
    """Process ids of the living worker processes of a driver, from /proc."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if b"regimes.lab._worker" not in (path / "cmdline").read_bytes():
                continue
            status = (path / "stat").read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(status[1]) == pid and status[0] != "Z":
            found.append(int(path.name))
    return found


def sweep(study, params, store, workers=2, **options):
    planned = agenda(study, params, store=store)
    return execute(planned, store=store, executor=LocalExecutor(workers), **options)


def test_many_short_trials_each_once(toys, store, begun):
    params = toys.TroubleParams(i=tuple(range(300)), folder=begun.path)
    report = sweep(toys.Trouble, params, store)
    assert (report.ran, report.left, report.failures) == (300, 0, ())
    assert begun.count() == 300
    assert len(gather(toys.Trouble, params, store=store)) == 300
    assert workers_of(os.getpid()) == []


def test_a_killed_worker_costs_nothing_but_time(toys, store, begun):
    params = toys.TroubleParams(kind=("die-once",), i=(0, 1, 2), folder=begun.path)
    report = sweep(toys.Trouble, params, store)
    assert report.complete
    assert begun.count() >= 6  # each died once and was run again


def test_a_worker_killed_from_outside(toys, store):
    class Killer(Silent):
        victims = 0

        def show(self, tally, *, last=False):
            if tally.done == 3 and not self.victims:
                for pid in workers_of(os.getpid()):
                    os.kill(pid, signal.SIGKILL)
                    self.victims += 1

    killer = Killer()
    params = toys.TroubleParams(i=tuple(range(12)), seconds=0.05)
    assert sweep(toys.Trouble, params, store, progress=killer).complete
    assert killer.victims == 2


def test_a_trial_that_always_kills_its_worker_is_given_up(toys, store, begun):
    params = toys.TroubleParams(kind=("die", "fine"), i=(0,), folder=begun.path)
    report = sweep(toys.Trouble, params, store, workers=1)
    assert (report.ran, len(report.failures)) == (1, 1)
    assert "WorkerDied" in report.failures[0].error
    body = store.body("toy/trouble", report.failures[0].key)
    assert body["status"] == "failed"
    assert "killed by SIGKILL" in body["error"]["message"]
    assert "last words" in body["error"]["message"]


def test_a_trial_without_memory_is_run_again_by_itself(toys, store, begun):
    params = toys.TroubleParams(("starve-once", "timed"), i=(0, 1), seconds=0.1, folder=begun.path)
    report = sweep(toys.Trouble, params, store)
    assert report.complete
    assert report.ran == 4
    assert begun.count() == 6
    spans = sorted(
        (
            record.result.scalars["began"],
            record.result.scalars["ended"],
            record.config.point["kind"],
        )
        for record in gather(toys.Trouble, params, store=store)
    )
    assert [kind for *_, kind in spans] == ["timed", "timed", "starve-once", "starve-once"]
    ends = [end for _, end, _ in spans]
    assert spans[2][0] > max(ends[:2])
    assert spans[3][0] > ends[2]


@pytest.mark.parametrize(("workers", "times"), [(1, 2), (2, 3)])
def test_what_finds_no_memory_by_itself_has_failed(toys, store, begun, workers, times):
    params = toys.TroubleParams(kind=("starve", "fine"), i=(0,), folder=begun.path)
    report = sweep(toys.Trouble, params, store, workers=workers)
    assert [failure.error for failure in report.failures] == ["MemoryError: others have it all"]
    assert begun.count() == times


def test_failures_come_home_from_workers(toys, store):
    report = sweep(toys.Trouble, toys.TroubleParams(kind=("raise",)), store)
    assert sorted(failure.point["i"] for failure in report.failures) == [1, 3]


def test_threads_are_shared_out_and_gpus_handed_round(toys, store, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "4,7")
    params = toys.TroubleParams(kind=("environment",), i=tuple(range(8)), seconds=0.05)
    executor = LocalExecutor(2, threads=3, device="cuda")
    execute(
        agenda(toys.Trouble, params, store=store), store=store, executor=executor, device="cuda"
    )
    scalars = [record.result.scalars for record in gather(toys.Trouble, params, store=store)]
    assert {item["CUDA_VISIBLE_DEVICES"] for item in scalars} == {"4", "7"}
    assert {item["OMP_NUM_THREADS"] for item in scalars} == {"3"}


def test_defaults_follow_the_machine(monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    cores = len(os.sched_getaffinity(0))
    assert (LocalExecutor().workers, LocalExecutor().threads) == (cores, 1)
    assert LocalExecutor(1).threads == cores
    with pytest.raises(ValueError, match="no GPU"):
        LocalExecutor(device="cuda")
    with pytest.raises(ValueError, match="workers"):
        LocalExecutor(-1)


def test_a_stop_lets_trials_in_flight_finish(toys, store):
    class AfterOne(Silent):
        def show(self, tally, *, last=False):
            if tally.done == 1:
                stop.request(signal.SIGTERM)

    stop = Stop(grace=30)
    params = toys.TroubleParams(i=tuple(range(20)), seconds=0.3)
    report = sweep(toys.Trouble, params, store, progress=AfterOne(), stop=stop)
    assert 1 <= report.ran <= 4
    assert report.ran + report.left == 20
    assert report.ran == len(store.keys("toy/trouble"))
    assert workers_of(os.getpid()) == []


def test_an_overdue_stop_drops_them(toys, store):
    class AtOnce(Silent):
        def show(self, tally, *, last=False):
            stop.request()

    stop = Stop(grace=0.2)
    params = toys.TroubleParams(i=(0, 1, 2), seconds=0.0)
    slow = toys.TroubleParams(i=(3, 4), seconds=60.0)
    sweep(toys.Trouble, params, store)
    stop.request()
    start = time.monotonic()
    report = sweep(toys.Trouble, slow, store, progress=AtOnce(), stop=stop)
    assert (report.ran, report.left) == (0, 2)
    assert time.monotonic() - start < 10
    assert workers_of(os.getpid()) == []


def test_a_store_that_cannot_be_written_ends_the_run_with_its_name(toys, tmp_path):
    (tmp_path / "file").write_text("")
    store = Store(tmp_path / "file" / "store")
    with pytest.raises(StoreError, match="cannot write to the store"):
        sweep(toys.Trouble, toys.TroubleParams(), store)
    assert workers_of(os.getpid()) == []


def test_a_study_workers_cannot_import_is_explained(toys, store):
    planned = agenda(toys.Trouble, toys.TroubleParams(), store=store)
    absent = replace(planned, study=replace(toys.Trouble, module="no_such_module"))
    with pytest.raises(ExecutorError, match="No module named 'no_such_module'"):
        execute(absent, store=store, executor=LocalExecutor(1))


def test_a_stop_tells_of_trials_that_waited_for_memory(toys, store):
    class AfterOne(Silent):
        def show(self, tally, *, last=False):
            if tally.done == 1 and not stop.requested:
                stop.request()

    stop = Stop(grace=30)
    params = toys.TroubleParams(kind=("starve", "timed"), i=tuple(range(6)), seconds=0.1)
    report = sweep(toys.Trouble, params, store, progress=AfterOne(), stop=stop)
    keys = store.keys("toy/trouble")
    stored = [store.body("toy/trouble", key)["status"] for key in keys].count("failed")
    assert len(report.failures) == stored
    assert report.ran + len(report.failures) == len(keys)
    assert report.left == 12 - len(keys)


def test_workers_give_a_gpu_back_when_they_have_nothing_to_do(monkeypatch):
    calls = []
    fake = SimpleNamespace(cuda=SimpleNamespace(empty_cache=lambda: calls.append(1)))
    monkeypatch.setitem(sys.modules, "torch", fake)
    _worker._give_back_memory("cpu")
    assert calls == []
    _worker._give_back_memory("cuda")
    assert calls == [1]
