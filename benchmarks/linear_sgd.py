"""Steps of a linearised network by every way, beside those of the network; many targets beside one.

A ResNet18 of 16 channels and more, one output, as in [Ortiz-Jimenez 2021]: mini-batch SGD with
momentum of the network itself (torch, batch norm in evaluation mode, as the linearisation has it),
of its linearisation as a module (a forward-mode product and a backward pass each step), and of its
linearisation on features that are stored. Bars: stored features make at least five times the steps
of products; a step by products takes at most 2.2 times the network's own.

Then one Gram and 1 or 100 targets: ridge regression and exact gradient flow in closed form, and 100
epochs of SGD of the linear model. The bar is on the closed forms, given the Gram: 100 targets cost
at most 1.3 times one. SGD multiplies a hundred times as much in each step; its ratio is told, with
the Gram and without, and `gpu_linearise.py` measures it on a GPU, where a step is bound by calls.

PYTHONPATH=src OMP_NUM_THREADS=1 python benchmarks/linear_sgd.py. CPU time of one thread, in
alternation; every ratio is the median of those of the rounds.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from _machine import judged, options, save, times_of
from torch import Tensor, nn

import regimes as rg

RATE, MOMENTUM = 1e-4, 0.9
AT_LEAST, AT_MOST, MANY = 5.0, 2.2, 1.3  # the bars
TARGETS = 100
CLOSED = ("ridge", "exact flow")
WAYS = ("network", "linearize", "descend_linear by products", "descend_linear by features")
FEW = 4  # steps of the shorter of two runs


def steps_of(module: nn.Module, x: Tensor, y: Tensor) -> Callable[[], None]:
    """One step of torch's own optimiser on a module."""
    update = torch.optim.SGD(
        [p for p in module.parameters() if p.requires_grad], RATE, momentum=MOMENTUM
    )

    def step() -> None:
        update.zero_grad()
        F.softplus(-y * module(x)[:, 0]).mean().backward()
        update.step()

    return step


def of_steps(base: int, side: int, batch: int, stored: int, rounds: int) -> dict[str, Any]:
    """CPU seconds of a step of the network and of its linearisation by either way."""
    draws = torch.Generator().manual_seed(0)
    x = torch.randn(stored, 3, side, side, generator=draws)
    y = torch.randn(stored, generator=draws).sign()
    net = rg.nets.ResNet18((3, side, side), 1, base=base, init="lecun").eval()
    linear = rg.tangent.linearize(net)
    kernel = rg.tangent.TangentKernel(net)
    began = time.process_time()
    kernel.features(x)
    storing = time.process_time() - began

    def a_step_by(way: str, more: int) -> float:
        """Seconds of one step: of two runs that differ by so many steps and nothing else."""
        laps = []
        for steps in (FEW, FEW + more):
            began = time.process_time()
            rg.flow.descend_linear(
                net, x, y, rate=RATE, batch_size=batch, max_steps=steps, check_every=FEW + more,
                way=way, memory="8GiB",
            )  # fmt: skip
            laps.append(time.process_time() - began)
        return (laps[1] - laps[0]) / more

    own, module = steps_of(net, x[:batch], y[:batch]), steps_of(linear, x[:batch], y[:batch])
    own(), module()
    rows = []
    for _ in range(rounds):
        row = [times_of(own, 2.0)[1], times_of(module, 3.0)[1]]
        row += [a_step_by("products", 8), a_step_by("features", 80)]
        rows.append(row)
        told = zip(WAYS, row, strict=True)
        print(", ".join(f"{name} {s:.4f} s" for name, s in told), flush=True)
    medians = [statistics.median(each) for each in zip(*rows, strict=True)]
    return {
        "network": f"ResNet18, base {base}, {net.n_params:,} parameters, {side} x {side} images",
        "batch": batch,
        "stored_images": stored,
        "seconds_to_store": round(storing, 2),
        "seconds_per_step": dict(zip(WAYS, (round(s, 4) for s in medians), strict=True)),
        "rounds": [[round(s, 4) for s in row] for row in rows],
        "stored_over_products": round(statistics.median(r[1] / r[3] for r in rows), 2),
        "products_over_network": round(statistics.median(r[1] / r[0] for r in rows), 2),
        "descend_linear_over_network": round(statistics.median(r[2] / r[0] for r in rows), 2),
    }


def of_targets(points: int, steps: int, rounds: int) -> dict[str, Any]:
    """CPU seconds of 1 and of 100 targets on one Gram of LeNet, with the Gram and without it."""
    draws = torch.Generator().manual_seed(1)
    x = torch.randn(points + points // 4, 3, 32, 32, generator=draws)
    y = torch.randn(TARGETS, points, generator=draws).sign()
    n, net = points, rg.nets.LeNet5((3, 32, 32), 1, init="lecun")
    kernel = rg.tangent.TangentKernel(net)
    ways: dict[str, Callable[[Tensor, Tensor], object]] = {
        "ridge": lambda gram, y: rg.kernels.kernel_ridge(
            lambda a, b: gram[:n] if len(a) == n else gram[n:], x[:n], y.T, 1.0, x[n:]
        ),
        "exact flow": lambda gram, y: rg.kernels.exact_flow(
            gram[:n], y.T, torch.tensor([1.0, 10.0, 100.0]), gram[n:]
        ),
        "sgd": lambda gram, y: rg.flow.kernel_descent(
            gram[:n],
            y,
            gram[n:],
            rate=1e-4,
            batch_size=128,
            max_steps=steps,
            check_every=steps,
        ),
    }
    laps: dict[str, list[tuple[float, float, float]]] = {name: [] for name in ways}
    for _ in range(rounds):
        began = time.process_time()
        gram = kernel(x, x[:n])
        making = time.process_time() - began
        for name, way in ways.items():
            one, many = (times_of(partial(way, gram, some))[1] for some in (y[:1], y))
            laps[name].append((making, one, many))
            print(f"{name}: Gram {making:.2f} s, one target {one:.3f} s, 100 {many:.3f} s")
    return {
        "network": f"LeNet5, {net.n_params:,} parameters",
        "points": n,
        "test_points": len(x) - n,
        "sgd_steps": steps,
        "ways": {
            name: {
                "seconds_gram": round(statistics.median(r[0] for r in rows), 3),
                "seconds_one": round(statistics.median(r[1] for r in rows), 4),
                "seconds_hundred": round(statistics.median(r[2] for r in rows), 4),
                "ratio": round(statistics.median(r[2] / r[1] for r in rows), 2),
                "ratio_with_gram": round(
                    statistics.median((r[0] + r[2]) / (r[0] + r[1]) for r in rows), 2
                ),
            }
            for name, rows in laps.items()
        },
    }


def main() -> int:
    """Print and keep the times; the exit status counts bars that were missed."""
    parser = options(__doc__)
    parser.add_argument("--base", type=int, default=16)
    parser.add_argument("--side", type=int, default=32)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--stored", type=int, default=256)
    parser.add_argument("--points", type=int, default=2000)
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--rounds", type=int, default=5)
    chosen = parser.parse_args()
    steps = of_steps(chosen.base, chosen.side, chosen.batch, chosen.stored, chosen.rounds)
    targets = of_targets(chosen.points, chosen.steps, min(3, chosen.rounds))
    missed = []
    if steps["stored_over_products"] < AT_LEAST:
        missed.append(f"stored features {steps['stored_over_products']} < {AT_LEAST} of products")
    if steps["products_over_network"] > AT_MOST:
        missed.append(f"products {steps['products_over_network']} > {AT_MOST} of the network")
    if steps["descend_linear_over_network"] > AT_MOST:
        missed.append(f"descend_linear {steps['descend_linear_over_network']} > {AT_MOST}")
    for name in CLOSED:
        ratio = targets["ways"][name]["ratio"]
        if ratio > MANY:
            missed.append(f"100 targets by {name}: {ratio} > {MANY}")
    bars = {"stored": AT_LEAST, "products": AT_MOST, "hundred_targets": MANY}
    save(
        "linear_sgd",
        {"bars": bars, "steps": steps, "targets": targets, "missed": missed},
        chosen.record,
    )
    return judged(missed, chosen.record)


if __name__ == "__main__":
    sys.exit(main())
