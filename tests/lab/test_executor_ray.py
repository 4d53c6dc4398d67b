"""The Ray executor on a real cluster of several nodes on this machine, one of which is lost."""

import importlib.util
import logging
import os
import socket
import sys
import threading
import time
from dataclasses import replace

import pytest

from regimes.lab import ExecutorError, RayExecutor, Silent, Stop, agenda, execute, gather

HAS_RAY = importlib.util.find_spec("ray") is not None
needs_ray = pytest.mark.skipif(not HAS_RAY, reason="ray is not installed: pip install regimes[ray]")


def test_without_ray_the_error_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ExecutorError, match=r"pip install 'regimes\[ray\]'"):
        RayExecutor()


@needs_ray
@pytest.mark.ray
def test_an_address_that_is_none_or_where_nothing_or_no_ray_answers_is_one_sentence(
    toys, store, monkeypatch
):
    for text in ("HOST:PORT", "ray://head", "10.0.0.5", "head:99999"):
        with pytest.raises(ValueError, match="a Ray address is HOST:PORT"):
            RayExecutor(address=text)
    with socket.create_server(("127.0.0.1", 0)) as server:  # listens, and says nothing
        monkeypatch.setattr("regimes.lab._ray_address._WAIT", 0.3)
        address = f"127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(ExecutorError, match=f"what answers at {address} is not Ray"):
            sweep(toys.Trouble, toys.TroubleParams(), store, executor={"address": address})
    with pytest.raises(ExecutorError, match="nothing answers at the Ray address"):
        sweep(toys.Trouble, toys.TroubleParams(), store, executor={"address": address})


@pytest.fixture(scope="module")
def cluster():
    """A head with one CPU; the tests add and remove nodes."""
    import ray
    from ray.cluster_utils import Cluster

    os.environ["RAY_AUTH_MODE"] = "disabled"
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    ray.init(address=made.address, log_to_driver=False, logging_level=logging.ERROR)
    yield made
    ray.shutdown()
    made.shutdown()
    os.environ.pop("RAY_AUTH_MODE")


def sweep(study, params, store, **options):
    executor = RayExecutor(**options.pop("executor", {}))
    return execute(agenda(study, params, store=store), store=store, executor=executor, **options)


@needs_ray
@pytest.mark.ray
@pytest.mark.filterwarnings("ignore::FutureWarning")  # Ray's own, about variables it will rename
class TestOnACluster:
    def test_a_node_lost_in_mid_sweep_does_not_stop_it(self, cluster, toys, store, begun):
        node = cluster.add_node(num_cpus=2)
        cluster.wait_for_nodes()
        lost = threading.Event()

        class RemoveNode(Silent):
            def show(self, tally, *, last=False):
                if tally.done >= 6 and not lost.is_set():
                    lost.set()
                    cluster.remove_node(node, allow_graceful=False)

        params = toys.TroubleParams(i=tuple(range(18)), seconds=0.2, folder=begun.path)
        report = sweep(toys.Trouble, params, store, progress=RemoveNode())
        assert lost.is_set()
        assert report.complete
        assert report.ran == 18
        assert len(gather(toys.Trouble, params, store=store)) == 18
        assert 18 <= begun.count() <= 28  # only what was in flight on the node ran twice

    @pytest.mark.parametrize("write", ["driver", "worker"])
    def test_trials_fail_die_and_finish_as_usual(self, cluster, toys, store, begun, write):
        kinds = ("fine", "raise", "die-once")
        params = toys.TroubleParams(kind=kinds, i=(1, 2), folder=begun.path)
        report = sweep(toys.Trouble, params, store, executor={"write": write})
        assert [dict(failure.point) for failure in report.failures] == [{"kind": "raise", "i": 1}]
        assert report.ran == 5
        assert begun.count() >= 6 + 2  # two of them died and began again
        found = store.inspect("toy/trouble", store.keys("toy/trouble"))
        assert (len(found.finished), len(found.failed)) == (5, 1)

    def test_a_deadly_trial_is_given_up(self, cluster, toys, store):
        params = toys.TroubleParams(kind=("die", "fine"), i=(0,))
        report = sweep(toys.Trouble, params, store)
        assert report.ran == 1
        assert "WorkerDied" in report.failures[0].error

    def test_a_stop_drops_what_takes_too_long(self, cluster, toys, store):
        stop = Stop(grace=0.5)
        threading.Timer(1.5, stop.request).start()
        start = time.monotonic()
        params = toys.TroubleParams(i=(0, 1, 2), seconds=60.0)
        report = sweep(toys.Trouble, params, store, stop=stop)
        assert (report.ran, report.left) == (0, 3)
        assert time.monotonic() - start < 20

    def test_a_study_that_workers_do_not_find_is_explained(self, cluster, toys, store):
        planned = agenda(toys.Trouble, toys.TroubleParams(), store=store)
        absent = replace(planned, study=replace(toys.Trouble, module="no_such_module"))
        with pytest.raises(ExecutorError, match="No module named 'no_such_module'"):
            execute(absent, store=store, executor=RayExecutor())
