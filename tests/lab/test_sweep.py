import os
import signal
from dataclasses import replace

import pytest

from regimes.lab import LocalExecutor, Silent, Stop, agenda, execute, gather, run


def test_a_finished_trial_is_never_run_again(toys, store, begun):
    params = toys.TroubleParams(folder=begun.path)
    first = execute(agenda(toys.Trouble, params, store=store), store=store)
    assert (first.already, first.ran, first.left, first.failures) == (0, 4, 0, ())
    assert first.complete
    more = replace(params, i=(2, 3, 4, 5))
    second = execute(agenda(toys.Trouble, more, store=store), store=store)
    assert (second.already, second.ran) == (2, 2)
    assert begun.count() == 6


def test_failures_do_not_stop_the_others_and_run_again_next_time(toys, store, begun):
    params = toys.TroubleParams(kind=("raise",), folder=begun.path)
    for repetition in (1, 2):
        planned = agenda(toys.Trouble, params, store=store)
        report = execute(planned, store=store)
        assert sorted(failure.point["i"] for failure in report.failures) == [1, 3]
        assert "does not like it" in report.failures[0].error
        assert not report.complete
        assert begun.count() == 2 + 2 * repetition
    assert planned.failed_before == 2


def test_a_damaged_trial_is_planned_again(toys, store):
    params = toys.EchoParams()
    execute(agenda(toys.Echo, params, store=store), store=store)
    key = sorted(store.keys("toy/echo"))[0]
    (store.folder("toy/echo") / key / "arrays.safetensors").write_bytes(b"")
    planned = agenda(toys.Echo, params, store=store)
    assert set(planned.set_aside) == {key}
    assert [task.key for task in planned.pending] == [key]
    assert execute(planned, store=store).complete
    assert agenda(toys.Echo, params, store=store).pending == ()


def test_cost_is_estimated_from_finished_trials(toys, store):
    params = toys.TroubleParams(seconds=0.02)
    assert agenda(toys.Trouble, params, store=store).worker_seconds is None
    execute(agenda(toys.Trouble, params, store=store), store=store)
    other = agenda(toys.Trouble, replace(params, i=tuple(range(10, 20))), store=store)
    assert other.worker_seconds == pytest.approx(0.2, rel=0.3)
    on_another_device = agenda(toys.Trouble, params, store=store, device="cuda")
    assert on_another_device.worker_seconds is None
    report = execute(other, store=store)
    assert report.busy_seconds == pytest.approx(report.estimated_seconds, rel=0.3)


def test_a_stop_between_trials_leaves_the_rest_for_later(toys, store):
    class AfterTwo(Silent):
        def show(self, tally, *, last=False):
            if tally.done == 2:
                stop.request(2)

    stop = Stop()
    planned = agenda(toys.Trouble, toys.TroubleParams(), store=store)
    report = execute(planned, store=store, progress=AfterTwo(), stop=stop)
    assert report.interrupted == 2
    assert 2 <= report.ran < 4
    assert report.ran + report.left == 4
    assert len(store.keys("toy/trouble")) == report.ran


def test_executors_agree_bit_for_bit(toys, tmp_path):
    from regimes.lab import Store

    found = []
    for name, executor in (("inline", None), ("local", LocalExecutor(2))):
        store = Store(tmp_path / name)
        execute(agenda(toys.Echo, toys.EchoParams(), store=store), store=store, executor=executor)
        results = gather(toys.Echo, toys.EchoParams(), store=store)
        found.append({r.key: r.result.arrays["value"].values.tobytes() for r in results})
    assert found[0] == found[1]
    assert len(found[0]) == 6


def test_the_whole_way_in_one_call(toys, store):
    summary = run("toy/echo", store=store, scale=2.0)
    assert summary.complete
    assert summary.params["scale"] == 2.0
    assert summary.label.startswith("smoke-")
    assert float(summary.dataset["value"].sel(width=1, alpha=1.0, seed=1)) == 3.0


def test_an_unknown_device_is_refused(toys, store):
    with pytest.raises(ValueError, match="device 'tpu'"):
        execute(agenda(toys.Echo, toys.EchoParams(), store=store), store=store, device="tpu")


def test_ctrl_c_in_a_script_saves_and_raises(toys, store):
    class Interrupt(Silent):
        def show(self, tally, *, last=False):
            if tally.done == 2 and not last:
                os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt, match="trials are left"):
        run(toys.Trouble, store=store, progress=Interrupt())
    assert 2 <= len(store.keys("toy/trouble")) < 4
    assert (store.root / "summaries" / "toy" / "trouble" / "smoke" / "summary.json").exists()


def test_a_call_names_the_parameter_it_does_not_know_and_keeps_its_changes(toys, store):
    with pytest.raises(ValueError, match=r"unknown parameter 'scael'; nearest of 4:\n  scale"):
        run("toy/echo", store=store, scael=2.0)
    summary = run("toy/echo", store=store, scale=2.0, width=(1,))
    assert summary.command == "regimes.lab.run('toy/echo', 'smoke', scale=2.0, width=(1,))"
