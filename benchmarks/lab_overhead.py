"""What the lab itself costs: 10,000 trials that do nothing, on two local workers.

Run `python benchmarks/lab_overhead.py`. Targets: at most 2 ms per trial, resuming under 3 s,
collecting into a Dataset under 5 s. A busy machine shows in the wall clock, so the processor time
spent is printed beside it.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from regimes.lab import (
    Array,
    LocalExecutor,
    Point,
    Store,
    TrialResult,
    agenda,
    collect,
    execute,
    find,
    gather,
    study,
)

T = TypeVar("T")


@dataclass(frozen=True)
class Params:
    """One axis of as many points as trials."""

    i: tuple[int, ...] = (0, 1, 2)


@study("bench/nothing", version=1, sizes={"smoke": Params()}, axes=["i"])
class Nothing:
    """Returns its own number and a small array."""

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """Do nothing."""
        return TrialResult({"x": float(point.i)}, arrays={"v": Array("k", [0.0, 1.0, point.i])})


def timed(work: Callable[[], T]) -> tuple[T, float, float]:
    """The result, the wall clock and the processor time of a call, child processes included."""

    def processor() -> float:
        used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        return sum(item.ru_utime + item.ru_stime for item in used)

    clock, used = time.perf_counter(), processor()
    result = work()
    return result, time.perf_counter() - clock, processor() - used


def main(trials: int = 10_000) -> bool:
    """Measure and print; True when every target is met."""
    nothing = find("bench/nothing")
    params = Params(i=tuple(range(trials)))
    with tempfile.TemporaryDirectory() as folder:
        store = Store(folder)
        first = agenda(nothing, params, store=store)
        report, run_wall, run_cpu = timed(
            lambda: execute(first, store=store, executor=LocalExecutor(2))
        )
        resumed, resume_wall, resume_cpu = timed(lambda: agenda(nothing, params, store=store))
        dataset, collect_wall, collect_cpu = timed(
            lambda: collect(gather(nothing, params, store=store))
        )
    if (report.ran, len(resumed.pending), dataset.sizes["i"]) != (trials, 0, trials):
        raise RuntimeError(f"the run is not complete: {report}")
    rows = [
        ("run, a trial", 1e3 * run_wall / trials, 1e3 * run_cpu / trials, 2.0, "ms"),
        ("resume, all", resume_wall, resume_cpu, 3.0 * trials / 10_000, "s"),
        ("collect, all", collect_wall, collect_cpu, 5.0 * trials / 10_000, "s"),
    ]
    print(f"lab overhead, {trials} trials, 2 workers")
    for name, wall, cpu, target, unit in rows:
        verdict = "ok" if wall <= target else "over"
        print(
            f"  {name:13} {wall:6.2f} {unit} wall, {cpu:6.2f} {unit} cpu, "
            f"target {target:g} {unit}: {verdict}"
        )
    return all(wall <= target for _, wall, _, target, _ in rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=10_000)
    sys.exit(0 if main(parser.parse_args().trials) else 1)
