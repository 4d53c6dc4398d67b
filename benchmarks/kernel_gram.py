"""Grams of Laplace and Gaussian kernels on 20,000 images of MNIST, float64, against a product.

Beside each Gram the plain product `X X^T` of the same images is timed, in alternation, which is
the machine's dgemm rate on these very numbers. The bar asks for 60 % of that rate: a Gram may take
1/0.6 of the product's time. A Gram is symmetric and computes half of its tiles, so the rate counts
the entries that are delivered; the share of the products that are done is printed beside it. Peak
memory is measured in a process of its own that makes one Gram under a stated budget.
"""

from __future__ import annotations

import functools
import resource
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from _machine import judged, options, save, times_of

import regimes as rg
from regimes.studies.kernels._pixels import pixels

BARS = {"rate": 0.6}
KERNELS = {"laplace": rg.kernels.Laplace(1000.0), "gaussian": rg.kernels.Gaussian(1000.0)}
BUDGET = 1.1, 64 * 2**20  # of the bytes of the result, and beside them
ROUNDS = 5


def images(n: int) -> torch.Tensor:
    """The first n images, float64."""
    x, _ = pixels("mnist")
    return x[:n].double()


def peak(n: int, budget: int) -> int:
    """Bytes that one Gram of n images takes beside what the process holds already (Linux)."""
    x = images(n)
    KERNELS["laplace"](x[:100])
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    KERNELS["laplace"](x, memory=budget)
    most = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most - pages * resource.getpagesize()


def timed(x: torch.Tensor) -> dict[str, Any]:
    """Wall and CPU seconds of the product and of each Gram, in alternation."""
    n, d = x.shape
    out = x.new_empty(n, n)
    works: dict[str, Callable[[], Any]] = {"product": lambda: torch.mm(x, x.T, out=out)}
    works |= {name: functools.partial(kernel, x) for name, kernel in KERNELS.items()}
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in works}
    for _ in range(ROUNDS):
        for name, work in works.items():
            times[name].append(times_of(work))
    found: dict[str, Any] = {}
    for name, rows in times.items():
        wall, cpu = (statistics.median(column) for column in zip(*rows, strict=True))
        found[name] = {"wall_seconds": round(wall, 3), "cpu_seconds": round(cpu, 3)}
        if name == "product":
            found[name]["gflops"] = round(2 * n * n * d / wall / 1e9, 1)
            continue
        # of each round, because the speed of a shared machine changes from minute to minute
        rates = [p[0] / own[0] for p, own in zip(times["product"], rows, strict=True)]
        cpu_rates = [p[1] / own[1] for p, own in zip(times["product"], rows, strict=True)]
        found[name] |= {
            "rate": round(statistics.median(rates), 3),
            "cpu_rate": round(statistics.median(cpu_rates), 3),
        }
    return found


def main() -> int:
    """Print and keep the rates; the exit status counts bars that were missed."""
    parser = options(__doc__)
    parser.add_argument("--n", type=int, default=20_000)
    parser.add_argument("--peak", type=int, help=argument_help())
    chosen = parser.parse_args()
    n = chosen.n
    if chosen.peak:
        print(peak(n, chosen.peak))
        return 0
    budget = int(BUDGET[0] * 8 * n * n + BUDGET[1])
    command = [sys.executable, __file__, "--n", str(n), "--peak", str(budget)]
    measured = int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    x = images(n)
    record: dict[str, Any] = {
        "bars": {**BARS, "peak_over_budget": 1.0},
        "n": n,
        "coordinates": x.shape[1],
        "result_gib": round(8 * n * n / 2**30, 3),
        "budget_gib": round(budget / 2**30, 3),
        "peak_gib": round(measured / 2**30, 3),
        "share_of_products": round((n / 512 + 1) / (2 * n / 512), 3),
        **timed(x),
    }
    for name in ("product", *KERNELS):
        print(f"{name:10s} {record[name]}")
    print(f"peak {record['peak_gib']} GiB of {record['budget_gib']} GiB", flush=True)
    missed = [f"rate, {name}" for name in KERNELS if record[name]["rate"] < BARS["rate"]]
    missed += ["memory"] if measured > budget else []
    record["missed"] = missed
    save("kernel_gram", record, chosen.record)
    return judged(missed, chosen.record)


def argument_help() -> str:
    """What `--peak` is for."""
    return "print the memory that one Gram takes under this budget in bytes, and nothing else"


if __name__ == "__main__":
    sys.exit(main())
