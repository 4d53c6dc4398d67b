"""Torch's threads on a quiet and on a busy machine: what waiting in a loop costs, or sleeping.

The README's examples (a Gram of 2 ms, a flow of five networks), two hundred products of small
matrices, one large product and a convolution with its backward pass, each in its own process:

- spinning: as torch's OpenMP does by itself (GOMP_SPINCOUNT=300000, a millisecond);
- ours: what `import regimes` sets before torch is loaded (a few microseconds);
- sleeping: OMP_WAIT_POLICY=PASSIVE;
- one: OMP_NUM_THREADS=1.

Busy: one other process that never sleeps, and as many as there are cores.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

WAYS = {
    "spinning": {"GOMP_SPINCOUNT": "300000"},
    "ours": {},
    "sleeping": {"OMP_WAIT_POLICY": "PASSIVE"},
    "one": {"OMP_NUM_THREADS": "1"},
}
SETTINGS = ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY", "OMP_NUM_THREADS")


def measure() -> dict[str, float]:
    """Seconds of each piece of work in this process."""
    import regimes as rg  # isort: skip  # before torch

    import torch

    double = torch.float64
    convolution = torch.nn.Conv2d(1, 8, 3)
    net = torch.nn.Sequential(
        convolution, torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(288, 1)
    )
    x = rg.data.digits(n_train=200, n_test=100).x_train
    ds = rg.data.stripe(n_train=500, n_test=1000, d=5, seed=0, dtype=double)
    stripe = rg.nets.FullyConnected(
        5, 100, parametrization="mean_field", bias=True, seed=0, dtype=double
    )
    alpha = [1e-6, 1e-3, 0.1, 10, 1e3]
    large, small = torch.randn(1500, 1500), torch.randn(200, 200)
    images = torch.randn(128, 3, 32, 32)
    deep = torch.nn.Sequential(
        torch.nn.Conv2d(3, 32, 3), torch.nn.ReLU(), torch.nn.Conv2d(32, 64, 3)
    )
    work: dict[str, Callable[[], object]] = {
        "gram": lambda: rg.tangent.TangentKernel(net)(x),
        "flow": lambda: rg.flow.gradient_flow(
            stripe, ds, loss="hinge", alpha=alpha, until="t_star"
        ),
        "small products": lambda: [torch.tanh(small @ small) for _ in range(200)],
        "large product": lambda: large @ large,
        "convolution": lambda: deep(images).sum().backward(),
    }
    taken = {}
    for name, do in work.items():
        do()
        started = time.perf_counter()
        for _ in range(3):
            do()
        taken[name] = (time.perf_counter() - started) / 3
    return taken


def alone(settings: dict[str, str]) -> dict[str, float]:
    """The same in a fresh process with these settings."""
    clean = {name: value for name, value in os.environ.items() if name not in SETTINGS}
    command = [sys.executable, __file__, "--measure"]
    answer = subprocess.run(
        command, env=clean | settings, check=True, capture_output=True, text=True
    )
    return dict(json.loads(answer.stdout.splitlines()[-1]))


@contextmanager
def others(count: int) -> Iterator[None]:
    """So many processes that never sleep."""
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


def main() -> int:
    """Measure and print; `--record` keeps it."""
    from _machine import judged, options, save

    parser = options(__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    chosen = parser.parse_args()
    record: dict[str, dict[str, dict[str, float]]] = {}
    for label, count in {"quiet": 0, "one other": 1, "all cores": os.cpu_count() or 1}.items():
        rounds: dict[str, list[dict[str, float]]] = {way: [] for way in WAYS}
        with others(count):
            for _ in range(chosen.rounds):
                for way, settings in WAYS.items():
                    rounds[way].append(alone(settings))
        record[label] = {
            way: {work: statistics.median(r[work] for r in runs) for work in runs[0]}
            for way, runs in rounds.items()
        }
        print(f"\n{label:16s}" + "".join(f"{way:>12s}" for way in WAYS) + "  spinning / ours")
        for work in record[label]["ours"]:
            seconds = [record[label][way][work] for way in WAYS]
            print(
                f"{work:16s}" + "".join(f"{1e3 * s:9.1f} ms" for s in seconds),
                f"{seconds[0] / seconds[1]:11.2f}",
            )
    save("threads", {"seconds": record, "rounds": chosen.rounds}, chosen.record)
    quiet, busy = record["quiet"], record["one other"]
    missed = [
        f"quiet: {work} takes {seconds / quiet['spinning'][work]:.2f} of torch's own time"
        for work, seconds in quiet["ours"].items()
        if seconds > 1.15 * quiet["spinning"][work]
    ] + [
        f"busy: {work} is no faster than torch by itself"
        for work in ("gram", "flow", "small products")
        if busy["ours"][work] > busy["spinning"][work]
    ]
    return judged(missed, chosen.record)


if __name__ == "__main__":
    if "--measure" in sys.argv:
        print(json.dumps(measure()))
        sys.exit(0)
    sys.exit(main())
