"""What an observer with budget=0.05 takes of a training, measured against the same one without it.

Two cheap trainings, for which a look at the kernel is dear: a fully connected network and a small
convolutional one on the built-in digits. Each is run in turn without an observer, with one, and so
on; the share of its time that observing took is `1 - alone / observed` in CPU time (bar: 0.05),
beside the share that the observer itself tells. The weights at the end must be equal bit for bit.

    PYTHONPATH=src python3 benchmarks/observe_budget.py [--seconds 15] [--record]
"""

from __future__ import annotations

import statistics
import sys
import time
from typing import Any

import torch
from _machine import judged, options, save
from torch import nn

import regimes as rg
from regimes.observe import KernelObserver

SHARE = 0.05  # budget and bar
PROBE, BATCH, POINTS = 100, 100, 1000


def network(kind: str) -> nn.Module:
    """One of the two that are trained."""
    if kind == "mlp":
        return rg.nets.FullyConnected(
            64, 80, depth=5, out_dim=10, parametrization="standard", bias=True
        )
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Unflatten(1, (1, 8, 8)),
        nn.Conv2d(1, 16, 3, padding=1),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        nn.Conv2d(16, 16, 3, padding=1),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(1024, 10),
    )


def trained(kind: str, ds: rg.data.Dataset, steps: int, budget: float | None) -> dict[str, Any]:
    """One training: CPU seconds, the network, and what the observer told."""
    net = network(kind).train()
    optimiser = torch.optim.SGD(net.parameters(), 0.01, momentum=0.9)
    started, watch, told, looks = time.process_time(), None, "", 0
    if budget is not None:
        watch = KernelObserver(net, (ds.x_test[:PROBE], ds.y_test[:PROBE]), budget=budget)
    for step in range(steps):
        part = slice(step * BATCH % POINTS, step * BATCH % POINTS + BATCH)
        optimiser.zero_grad()
        nn.functional.cross_entropy(net(ds.x_train[part]), ds.y_train[part]).backward()
        optimiser.step()
        if watch is not None:
            watch.step()
    if watch is not None:
        record = watch.finish()
        told, looks = record.told, len(record.steps)
    seconds = time.process_time() - started
    return {"seconds": seconds, "net": net, "told": told, "looks": looks}


def row(kind: str, ds: rg.data.Dataset, seconds: float, pairs: int) -> dict[str, Any]:
    """Trainings in turn, of about so many seconds."""
    trained(kind, ds, 50, None)
    trained(kind, ds, 5, SHARE)  # what is loaded once
    once = trained(kind, ds, 200, None)["seconds"] / 200
    steps = round(seconds / once)
    runs = [(trained(kind, ds, steps, None), trained(kind, ds, steps, SHARE)) for _ in range(pairs)]
    for alone, observed in runs:
        states = zip(
            alone["net"].state_dict().values(), observed["net"].state_dict().values(), strict=True
        )
        if not all(torch.equal(mine, theirs) for mine, theirs in states):
            raise RuntimeError(f"{kind}: the observer changed the training")
    shares = [1 - alone["seconds"] / observed["seconds"] for alone, observed in runs]
    return {
        "network": kind,
        "steps": steps,
        "seconds_alone": [round(alone["seconds"], 3) for alone, _ in runs],
        "share": round(statistics.median(shares), 4),
        "shares": [round(share, 4) for share in shares],
        "looks": [observed["looks"] for _, observed in runs],
        "told": [observed["told"] for _, observed in runs],
    }


def main() -> int:
    """Print and write down; the exit status counts the bars that were missed."""
    parser = options(__doc__)
    parser.add_argument("--seconds", type=float, default=15.0)
    parser.add_argument("--pairs", type=int, default=3)
    arguments = parser.parse_args()
    ds = rg.data.digits(n_train=POINTS).pipe(rg.data.flatten())
    rows, missed = [], []
    for kind in ("mlp", "convolutional"):
        rows.append(row(kind, ds, arguments.seconds, arguments.pairs))
        print(f"{kind}: share {rows[-1]['share']}, looks {rows[-1]['looks']}", flush=True)
        print(f"  {rows[-1]['told'][-1]}", flush=True)
        if rows[-1]["share"] > SHARE:
            missed.append(f"{kind}: a share of {rows[-1]['share']} > {SHARE}")
    save("observe_budget", {"budget": SHARE, "rows": rows, "missed": missed}, arguments.record)
    return judged(missed, arguments.record)


if __name__ == "__main__":
    torch.set_num_threads(1)
    sys.exit(main())
