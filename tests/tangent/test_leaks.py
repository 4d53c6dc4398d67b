"""Networks that nobody holds any more are gone, with their weights."""

import gc
import os
import subprocess
import sys
import weakref
from functools import partial

import pytest
import torch
from torch import nn

from regimes import data, flow, nets
from regimes.tangent import TangentKernel, linearize
from tests.tangent.zoo import CASES, build, evaluate


@pytest.fixture(scope="module", autouse=True)
def only_new_things_are_searched():
    """What other tests have left is no matter of these, which search the heap 150 times."""
    gc.collect()
    gc.freeze()


@pytest.mark.parametrize("name", CASES)
def test_a_network_is_freed_after_its_kernel_was_asked(name):
    network, x = build(name)
    kernels = [TangentKernel(network), TangentKernel(network, copy=False)]
    for kernel in kernels:
        kernel(x)
    kernels[0].diagonal(x)
    modules = [network, kernels[0]._engine.snapshot.module]
    parameters = [weakref.ref(p) for module in modules for p in module.parameters()]
    del network, kernels, kernel, modules
    gc.collect()
    assert sum(p() is not None for p in parameters) == 0


@pytest.mark.parametrize("name", ["mlp one output", "resnet", "sequences", "tied convolution"])
def test_a_linearised_network_is_freed(name):
    network, x = build(name)
    model = linearize(network)
    evaluate(model, x).sum().backward()
    parameters = [weakref.ref(p) for p in (*network.parameters(), *model.parameters())]
    del network, model
    gc.collect()
    assert sum(p() is not None for p in parameters) == 0


@pytest.mark.parametrize("train", [flow.gradient_flow, partial(flow.descend, rate=0.1)])
@pytest.mark.parametrize(
    "make",
    [
        lambda: nets.FullyConnected(4, 5, 1),
        lambda: nets.FullyConnected(4, 5, 2),
        lambda: nn.Sequential(nn.Linear(4, 5), nn.ReLU(), nn.Linear(5, 1)),
        lambda: nn.Sequential(nn.Linear(4, 5), nn.Softmax(1), nn.Linear(5, 1)),
    ],
)
def test_a_flow_leaves_no_parameter_behind(make, train):
    points = data.random_labels(6, 2, 4)

    def alive():
        gc.collect()
        return sum(type(thing) is nn.Parameter for thing in gc.get_objects())

    before = alive()
    with torch.random.fork_rng():
        network = make()
    train(network, points, loss="hinge", max_steps=2)
    del network
    assert alive() == before


_SLOPES = """
import gc, torch
from torch import nn
from regimes import data, flow
from regimes.tangent import TangentKernel, linearize

def resident():
    gc.collect()
    with open("/proc/self/statm") as numbers:
        return int(numbers.read().split()[1]) * 4096

def network(width):  # with a wide one 4 MiB of weights
    return nn.Sequential(nn.Linear(8, width), nn.ReLU(), nn.Linear(width, width // 8), nn.ReLU(),
                         nn.Linear(width // 8, 1))

points = data.random_labels(6, 2, 8)
calls = [
    lambda width: TangentKernel(network(width))(points.x_train),
    lambda width: flow.gradient_flow(network(width), points, max_steps=2),
    lambda width: flow.descend(network(width), points, rate=1e-3, loss="hinge", max_steps=2),
    lambda width: linearize(network(width))(points.x_train).sum().backward(),
]
for call in calls:
    call(2900), call(2900)
    before = resident()
    for _ in range(5):
        call(2900)
    print((resident() - before) / 5)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="resident memory is read from /proc")
def test_resident_memory_does_not_grow_with_new_networks():
    # the C library keeps what is freed in pieces smaller than this for itself
    settings = os.environ | {"MALLOC_MMAP_THRESHOLD_": str(2**18)}
    done = subprocess.run(
        [sys.executable, "-c", _SLOPES], capture_output=True, text=True, check=True, env=settings
    )
    slopes = [float(line) for line in done.stdout.split()]
    assert len(slopes) == 4
    assert max(slopes) < 0.4 * 2**20  # bytes a network, of 4 MiB each
