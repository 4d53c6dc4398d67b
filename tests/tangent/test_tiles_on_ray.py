"""Tiles over a Ray cluster: the same Gram, also when a worker dies."""

import importlib.util
import os
import signal

import pytest
import torch

from regimes.tangent import TangentKernel, _tiles
from tests.tangent import zoo

HAS_RAY = importlib.util.find_spec("ray") is not None
pytestmark = [
    pytest.mark.ray,
    pytest.mark.skipif(not HAS_RAY, reason="needs the extra 'ray'"),
    # Ray leaves sockets and subprocesses to its own shutdown
    pytest.mark.filterwarnings("ignore"),
]


@pytest.fixture(scope="module", autouse=True)
def cluster():
    import ray  # here, so that only the worker that runs these tests loads it

    ray.init(
        "local", num_cpus=2, include_dashboard=False, log_to_driver=False, ignore_reinit_error=True
    )
    yield
    ray.shutdown()


def small(monkeypatch):
    monkeypatch.setattr(_tiles, "_tile_size", lambda *args, **kwargs: 2)


def test_same_gram(monkeypatch, tmp_path):
    small(monkeypatch)
    network, x = zoo.build("mlp one output")
    spread = TangentKernel(network, on="ray")
    whole = TangentKernel(network)(x)
    assert torch.allclose(spread(x), whole, atol=1e-12)
    mapped = spread(x, out=tmp_path / "gram.npy")
    assert torch.allclose(torch.tensor(mapped), whole, atol=1e-12)


def test_survives_a_lost_worker(monkeypatch, tmp_path):
    small(monkeypatch)
    network, x = zoo.build("mlp one output")
    marker = tmp_path / "killed"

    class Fragile(torch.nn.Module):
        """Kills the process that evaluates it, once, unless it is the test's own."""

        def __init__(self, inner, home):
            super().__init__()
            self.inner, self.home = inner, home

        def forward(self, x):
            if os.getpid() != self.home and not marker.exists():
                marker.touch()
                os.kill(os.getpid(), signal.SIGKILL)
            return self.inner(x)

    fragile = Fragile(network, os.getpid())
    found = TangentKernel(fragile, on="ray")(x)
    assert marker.exists()
    assert torch.allclose(found, TangentKernel(network)(x), atol=1e-12)
