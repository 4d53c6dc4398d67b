"""What a benchmark ran on, for the record beside its numbers."""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

ROOT = Path(__file__).parents[1]
RECORDS = ROOT / "results" / "benchmarks"
OWN = ROOT / "out" / "benchmarks"  # what a user's machine measured; not committed


def options(text: str | None) -> argparse.ArgumentParser:
    """A parser with the flag that all benchmarks share."""
    parser = argparse.ArgumentParser(description=text)
    parser.add_argument(
        "--record",
        action="store_true",
        help="write results/benchmarks instead of out/benchmarks, and fail where a bar is missed",
    )
    parser.add_argument("--label", help="what tells this record from those of other machines")
    return parser


def machine() -> dict[str, Any]:
    """Processor, cores, versions."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        lines = cpuinfo.read_text(encoding="utf-8").splitlines()
        model = next((t.split(":")[1].strip() for t in lines if t.startswith("model name")), model)
    return {
        "processor": model,
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "torch": torch.__version__,
        "python": platform.python_version(),
    }


def times_of(work: Callable[[], Any], at_least: float = 0.0) -> tuple[float, float]:
    """Wall and CPU time of one run, the mean of as many as last `at_least` seconds together."""
    wall, cpu, runs = time.perf_counter(), time.process_time(), 0
    while runs == 0 or time.perf_counter() - wall < at_least:
        work()
        runs += 1
    return (time.perf_counter() - wall) / runs, (time.process_time() - cpu) / runs


def median_seconds(work: Callable[[], Any], repeats: int = 5) -> float:
    """Median wall time of `repeats` runs after one that warms up."""
    work()
    return statistics.median(times_of(work)[0] for _ in range(repeats))


def in_turns(
    one: Callable[[], object], two: Callable[[], object], rounds: int
) -> tuple[float, float, float]:
    """Median CPU seconds of both, measured in turns, and the median ratio of neighbours."""
    one(), two()
    first: list[float] = []
    second: list[float] = []
    for _ in range(rounds):
        for work, found in ((one, first), (two, second)):
            start = time.process_time()
            work()
            found.append(time.process_time() - start)
    pairs = [a / b for a, b in zip(first, second, strict=True)]
    return statistics.median(first), statistics.median(second), statistics.median(pairs)


def save(name: str, record: dict[str, Any], recorded: bool) -> None:
    """Write what was measured: under `results/` if it is to be kept, else under `out/`."""
    about: dict[str, Any] = {
        "benchmark": Path(sys.argv[0]).stem,
        "command": " ".join(["python", f"benchmarks/{Path(sys.argv[0]).name}", *sys.argv[1:]]),
        "when": time.strftime("%Y-%m-%d", time.gmtime()),
        "machine": machine(),
    }
    if torch.cuda.is_available():
        about["machine"] |= {"gpu": torch.cuda.get_device_name()}
    folder = RECORDS if recorded else OWN
    folder.mkdir(parents=True, exist_ok=True)
    label = options(None).parse_known_args()[0].label
    path = folder / (f"{name}_{label}.json" if label else f"{name}.json")
    path.write_text(json.dumps(about | record, indent=2) + "\n", encoding="utf-8")
    print(f"written: {path.relative_to(ROOT)}")


def judged(missed: list[str], recorded: bool) -> int:
    """Say which bars were missed; the exit status counts them where a record is made.

    Bars belong to the machines of the records. On another one the ratios are what is of interest.
    """
    print("missed: " + ", ".join(missed) if missed else "every bar met")
    return len(missed) if recorded else 0
