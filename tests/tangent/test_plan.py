"""The memory bound holds: what a Gram allocates is measured in a process of its own."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

MEASURE = """
import json, sys
from pathlib import Path
import torch
import regimes as rg
from regimes.tangent import TangentKernel

torch.set_num_threads(1)

def status(key):
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(t.split()[1]) for t in lines if t.startswith(key + ":"))

net = rg.nets.LeNet5((3, 32, 32), 10)
x = torch.randn(int(sys.argv[2]), 3, 32, 32, generator=torch.Generator().manual_seed(0))
kernel = TangentKernel(net, memory=sys.argv[1])
TangentKernel(net, memory="4GiB")(x[:2])  # libraries load, thread pools start
plan = kernel.plan(x)
Path("/proc/self/clear_refs").write_text("5")
before = status("VmRSS")
gram = kernel(x)
print(json.dumps([status("VmHWM") - before, plan.budget, plan.expected, plan.block, gram.numel()]))
"""


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="reads Linux's /proc")
@pytest.mark.parametrize(("memory", "n"), [("120MiB", 200), ("300MiB", 200), ("1GiB", 300)])
def test_peak_stays_within_the_budget(memory, n):
    command = [sys.executable, "-c", MEASURE, memory, str(n)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    peak, budget, expected, block, entries = json.loads(done.stdout)
    assert entries == (10 * n) ** 2
    assert expected <= budget
    assert peak <= budget, f"peak {peak / 2**20:.0f} MiB of {memory}, blocks of {block}"
