"""What a benchmark ran on, for the record beside its numbers."""

from __future__ import annotations

import json
import os
import platform
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

RESULTS = Path(__file__).parents[1] / "results" / "benchmarks"


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


def save(name: str, record: dict[str, Any]) -> None:
    """Write a benchmark's record where the repository keeps them."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    path = RESULTS / f"{name}.json"
    path.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    print(f"written: results/benchmarks/{path.name}")
