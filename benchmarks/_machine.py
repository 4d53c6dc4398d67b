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


def median_times(
    work: Callable[[], Any], repeats: int = 5, *, warm_up: bool = True
) -> tuple[float, float]:
    """Medians of wall and CPU time over `repeats` runs after one that warms up."""
    if warm_up:
        work()
    walls, cpus = [], []
    for _ in range(repeats):
        wall, cpu = time.perf_counter(), time.process_time()
        work()
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
    return statistics.median(walls), statistics.median(cpus)


def median_seconds(work: Callable[[], Any], repeats: int = 5) -> float:
    """Median wall time of `repeats` runs after one that warms up."""
    return median_times(work, repeats)[0]


def save(name: str, record: dict[str, Any]) -> None:
    """Write a benchmark's record where the repository keeps them."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    path = RESULTS / f"{name}.json"
    path.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    print(f"written: results/benchmarks/{path.name}")
