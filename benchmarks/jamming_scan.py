"""Throughput of a scan for N*: 200 small networks under Adam, each with its own number of points.

Two hidden layers of relu, d = h = 14 (N = 406), square hinge, float64, random labels, P from 2 N to
3.4 N. Networks that fit leave, those that jam stay to the end. Two states are timed: after few
steps, and after so many that most points have their margin, where only the others are
differentiated. In every round the products of one step alone (all points, forward and backward) and
a large product, the matrix rate, are timed beside it; numbers are medians over rounds. CPU time of
one thread is counted: two workers take half the time.

    python benchmarks/jamming_scan.py [--members 200] [--warm 3000] [--dtype float32] [--record]

`--whole` runs the scan itself to its end, 1e5 steps, and says how long it took, and how long 200
members take on two cores; the bar is five minutes. A step of a member costs the same in any scan.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from _machine import judged, machine, options, save

import regimes as rg
from regimes import flow

D, H, LAYERS, MARGIN, RATE = 14, 14, 2, 0.5, 1e-3
N = rg.nets.n_weights(D, H, LAYERS)
SHARES = (2.0, 3.4)  # P/N, from those that fit to those that do not
STEPS = 100_000
BAR_MINUTES, BAR_MEMBERS, BAR_CORES = 5.0, 200, 2


def start(members: int, dtype: torch.dtype) -> tuple[rg.nets.Ensemble, rg.data.Dataset, list[int]]:
    """Networks, points for all of them, and how many are whose."""

    def network(seed: int) -> rg.nets.FullyConnected:
        return rg.nets.FullyConnected(
            D,
            H,
            LAYERS,
            parametrization="standard",
            bias=True,
            init="orthogonal",
            seed=seed,
            dtype=dtype,
        )

    low, high = (round(share * N) for share in SHARES)
    counts = torch.linspace(low, high, members).round().int().tolist()
    points = rg.data.random_labels(high, 0, D, dtype=torch.float64).pipe(rg.data.sphere())
    return rg.nets.stack(network, range(members)), points.to(dtype), counts


def scan(
    networks: rg.nets.Ensemble, data: rg.data.Dataset, counts: list[int], steps: int
) -> flow.Run:
    """So many steps, or fewer for those that fit."""
    return flow.descend(
        networks,
        data,
        rate=RATE,
        optimiser="adam",
        schedule=flow.hold_then_lower(STEPS),
        loss=flow.quadratic_hinge(MARGIN),
        subtract_init=False,
        divide_by="1",
        until="fitted",
        events=("fitted",),
        n_train=counts,
        max_steps=steps,
        check_every=min(100, steps),
    )


def products(members: int, points: int, dtype: torch.dtype, tile: int = 8) -> Callable[[], None]:
    """The products of one step of all members: two forward, three backward."""
    draws = torch.Generator().manual_seed(0)
    x = torch.randn(D, points, generator=draws, dtype=dtype)
    w = torch.randn(tile, H, H, generator=draws, dtype=dtype)
    z = torch.randn(tile, H, points, generator=draws, dtype=dtype)

    def run() -> None:
        for _ in range(members // tile):
            torch.mm(w.flatten(0, 1), x)
            torch.bmm(w, z)
            torch.bmm(z, z.mT)
            torch.bmm(w.mT, z)
            torch.mm(z.flatten(0, 1), x.mT)

    return run


def cpu_seconds(work: Callable[[], Any], repeats: int = 1) -> float:
    """CPU time of a run."""
    begin = time.process_time()
    for _ in range(repeats):
        work()
    return (time.process_time() - begin) / repeats


def main() -> int:
    """Measure and print; the exit status counts bars that were missed."""
    parser = options(__doc__)
    parser.add_argument("--members", type=int, default=200)
    parser.add_argument("--warm", type=int, default=3000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--dtype", choices=("float64", "float32"), default="float64")
    parser.add_argument("--whole", action="store_true")
    chosen = parser.parse_args()
    dtype = getattr(torch, chosen.dtype)
    networks, data, counts = start(chosen.members, dtype)
    mean_points = sum(counts) / len(counts)
    flops = (2 * D * H + 3 * H * H) * mean_points  # multiply-adds of a member's step
    square = torch.randn(1500, 1500, generator=torch.Generator().manual_seed(0)).to(dtype)
    bare = products(chosen.members, round(mean_points), dtype)
    missed: list[str] = []
    row: dict[str, Any] = {"members": chosen.members, "dtype": chosen.dtype}
    print(f"{machine()}\n{chosen.members} networks, N = {N}, {chosen.dtype}")
    states = {"early": 20, f"after {chosen.warm} steps": chosen.warm}
    for name, warm in states.items():
        run = scan(networks, data, counts, warm)
        going = [i for i, taken in enumerate(run.steps.tolist()) if taken == warm]
        state = run.ensemble.select(going)
        own = [counts[i] for i in going]
        unmet = float(1 - run.history["satisfied"][going, -1].mean())
        scan(state, data, own, 2)
        rounds = []
        for _ in range(chosen.rounds):  # side by side, because the speed of a machine changes
            many, few = (cpu_seconds(partial(scan, state, data, own, k)) for k in (24, 4))
            rate = 1500**3 / cpu_seconds(lambda: torch.mm(square, square))
            each = (many - few) / (20 * len(going))
            alone = cpu_seconds(bare, 3) / chosen.members
            rounds.append((1 / each, flops / each / rate, each / alone))
        speed, share, ratio = (statistics.median(column) for column in zip(*rounds, strict=True))
        row[name] = {
            "going": len(going),
            "unmet_share": round(unmet, 3),
            "member_steps_per_second": round(speed),
            "share_of_matrix_rate": round(share, 3),
            "over_products": round(ratio, 2),
        }
        print(
            f"{name:18} {len(going):4} going, {unmet:4.0%} of their points short   "
            f"{speed:8,.0f} members x steps / s of a core   {share:5.1%} of the matrix rate   "
            f"{ratio:.2f}x the products of all points"
        )
    if chosen.whole:
        begin, spent = time.perf_counter(), time.process_time()
        run = scan(networks, data, counts, STEPS)
        wall, spent = time.perf_counter() - begin, time.process_time() - spent
        taken = float(run.steps.double().mean())
        minutes = spent * BAR_MEMBERS / chosen.members / BAR_CORES / 60
        row["whole"] = {
            "seconds": round(wall, 1),
            "cpu_seconds": round(spent, 1),
            "mean_steps": taken,
            f"minutes_of_{BAR_MEMBERS}_on_{BAR_CORES}_cores": round(minutes, 2),
            "bar_minutes": BAR_MINUTES,
        }
        if minutes > BAR_MINUTES:
            missed.append(f"{minutes:.1f} minutes, {BAR_MINUTES:g} are allowed")
        print(f"whole scan: {wall:.0f} s, {spent:.0f} s of CPU, {taken:,.0f} steps a member")
    save(f"jamming_scan_{chosen.dtype}", row, chosen.record)
    return judged(missed, chosen.record)


if __name__ == "__main__":
    sys.exit(main())
