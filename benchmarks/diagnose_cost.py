"""What a diagnosis of a ResNet18 on images of CIFAR-10's size costs: 500 probes, 10 outputs.

The network has 16 channels in its first stage; both moments are random draws, since the cost does
not depend on what was learned. Bars: 2 minutes on 2 cores, 10 s on an H200, whose first run, with
all that is compiled and warmed up on the way, is told apart.

    python benchmarks/diagnose_cost.py --record
    python benchmarks/diagnose_cost.py --device cuda --record
"""

from __future__ import annotations

import copy
import resource
import sys
import time
from typing import Any

import torch
from _machine import judged, options, save

import regimes as rg

POINTS, BARS = 500, {"cpu": 120.0, "cuda": 10.0}


def main() -> int:
    """Measure, print, keep."""
    parser = options(__doc__)
    parser.add_argument("--device", default="cpu", choices=tuple(BARS))
    parser.add_argument("--base", type=int, default=16, help="channels of the first stage")
    arguments = parser.parse_args()
    device, base = arguments.device, arguments.base
    draws = torch.Generator().manual_seed(0)
    x = torch.randn(2 * POINTS, 3, 32, 32, generator=draws)
    y = torch.randint(10, (2 * POINTS,), generator=draws)
    before = rg.nets.ResNet18((3, 32, 32), 10, base=base, seed=0)
    with torch.no_grad():
        for part in x.split(100):  # batch norm takes its statistics
            before(part)
    before = before.eval().to(device)
    after = copy.deepcopy(before)
    with torch.no_grad():
        for p in after.parameters():
            p.add_(0.05 * p.abs().mean() * torch.randn(p.shape, generator=draws).to(p))
    runs: list[dict[str, Any]] = []
    for name in ("first", "second") if device == "cuda" else ("first",):
        begin, cpu = time.perf_counter(), time.process_time()
        found = rg.diagnose(
            after, (x[:POINTS], y[:POINTS]), (x[POINTS:], y[POINTS:]), before=before, probes=POINTS
        )
        if device == "cuda":
            torch.cuda.synchronize()
        runs.append(
            {
                "run": name,
                "seconds": round(time.perf_counter() - begin, 2),
                "cpu_seconds": round(time.process_time() - cpu, 2),
                "parts": {part: round(value, 2) for part, value in found.seconds.items()},
                "numbers": sorted(found.numbers),
                "warnings": found.warnings,
            }
        )
        print(runs[-1], flush=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    record: dict[str, Any] = {
        "network": f"ResNet18/{base}",
        "parameters": before.n_params,
        "probes": POINTS,
        "outputs": 10,
        "device": device,
        "runs": runs,
        "bar_seconds": BARS[device],
        "peak_gib": round(peak, 2),
    }
    if device == "cuda":
        record["peak_gpu_gib"] = round(torch.cuda.max_memory_allocated() / 2**30, 2)
    save(f"diagnose_cost_{device}", record, arguments.record)
    slow = runs[-1]["seconds"] > BARS[device]
    return judged([f"{runs[-1]['seconds']} s"] if slow else [], arguments.record)


if __name__ == "__main__":
    sys.exit(main())
