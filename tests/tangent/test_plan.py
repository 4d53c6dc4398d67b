"""The memory bound holds: what a Gram allocates is measured in a process of its own."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

MEASURE = """
import json, os, sys
from pathlib import Path
import torch
import regimes as rg
from regimes.tangent import TangentKernel

torch.set_num_threads(1)

def status(key):
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(t.split()[1]) for t in lines if t.startswith(key + ":"))

net = rg.nets.LeNet5((3, 32, 32), 10)
TangentKernel(net, memory="4GiB")(torch.zeros(2, 3, 32, 32))  # libraries load, pools start

for case in sys.argv[1:]:
    child = os.fork()  # each case meets the memory as it is now, not what another left
    if child:
        if os.waitpid(child, 0)[1]:
            sys.exit(case + " failed")
        continue
    memory, n = case.split(":")
    x = torch.randn(int(n), 3, 32, 32, generator=torch.Generator().manual_seed(0))
    kernel = TangentKernel(net, memory=memory)
    plan = kernel.plan(x)
    Path("/proc/self/clear_refs").write_text("5")
    before = status("VmRSS")
    entries = kernel(x).numel()
    peak = status("VmHWM") - before
    print(json.dumps([peak, plan.budget, plan.expected, plan.block, entries]), flush=True)
    break
"""
CASES = [("120MiB", 200), ("300MiB", 200), ("1GiB", 300)]


@pytest.fixture(scope="module")
def measured():
    """What each case took, measured one after the other."""
    command = [sys.executable, "-c", MEASURE, *(f"{memory}:{n}" for memory, n in CASES)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = map(json.loads, done.stdout.splitlines())
    return dict(zip(CASES, lines, strict=True))


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="reads Linux's /proc")
@pytest.mark.parametrize(("memory", "n"), CASES)
def test_peak_stays_within_the_budget(memory, n, measured):
    peak, budget, expected, block, entries = measured[memory, n]
    assert entries == (10 * n) ** 2
    assert expected <= budget
    assert peak <= budget, f"peak {peak / 2**20:.0f} MiB of {memory}, blocks of {block}"
