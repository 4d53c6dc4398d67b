"""Throughput of ensemble training, against a loop over networks and against its matrix products.

The case of the issue: one-hidden-layer relu networks (d = 10, h = 1000, p = 512), hinge, adaptive
flow. Three ways to take the same steps, measured in one run:

- loop: what a user would write, network after network with autograd and the same acceptance rule;
- ours: `gradient_flow` of the whole ensemble;
- products: only the three batched matrix products of the step with the mask between them, in the
  fastest tiling found, the bound for any formulation by products.

Ratios are medians over rounds in which the three are timed side by side. On a GPU the throughput is
compared with one network trained on the CPU of the same machine.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import torch
from _machine import judged, machine, median_seconds, options, save
from torch import Tensor

import regimes as rg
from regimes import flow

D, H, P, ALPHA = 10, 1000, 512, 1e-3
OUTPUT, WEIGHT = 0.1, 0.05
PRODUCTS = 1.6  # bar on a CPU: so many times the time of the products alone
STEPS = {64: 81_000, 1000: 131_000}  # members x steps a second on an H200


def network(seed: int, device: str) -> rg.nets.FullyConnected:
    """The network of [Paccolat 2021, eq. 1]."""
    return rg.nets.FullyConnected(
        D, H, parametrization="mean_field", bias=True, seed=seed, device=device
    )


def dataset(device: str) -> rg.data.Dataset:
    """Stripe data."""
    return rg.data.stripe(n_train=P, n_test=1, d=D, seed=0).to(device=device)


def loop(members: int, steps: int, device: str) -> float:
    """One network after the other, as a user would write it; seconds without making them."""
    ds, spent = dataset(device), 0.0
    for seed in range(members):
        net = network(seed, device)
        parameters = list(net.parameters())
        with torch.no_grad():
            start = net(ds.x_train)[:, 0]

        def look(
            net: torch.nn.Module = net,
            start: Tensor = start,
            parameters: list[torch.nn.Parameter] = parameters,
        ) -> tuple[Tensor, list[Tensor]]:
            prediction = ALPHA * (net(ds.x_train)[:, 0] - start)
            loss = torch.relu(1 - ds.y_train * prediction).mean() / ALPHA
            return prediction.detach(), list(torch.autograd.grad(loss, parameters))

        begin = time.perf_counter()
        prediction, gradient = look()
        dt = 1.0
        for _ in range(steps):
            with torch.no_grad():
                speed = torch.sqrt(sum((g * g).sum() for g in gradient))  # type: ignore[arg-type]
                size = torch.sqrt(sum((p * p).sum() for p in parameters))  # type: ignore[arg-type]
                dt = min(dt, WEIGHT * float(size / speed))
                saved = [p.clone() for p in parameters]
                for p, g in zip(parameters, gradient, strict=True):
                    p.sub_(dt * g)
            new, new_gradient = look()
            change = float((new - prediction).abs().max())
            if change < OUTPUT:
                prediction, gradient = new, new_gradient
                if change < OUTPUT / 2:
                    dt *= 1.1
            else:
                with torch.no_grad():
                    for p, old in zip(parameters, saved, strict=True):
                        p.copy_(old)
                dt /= 2
        spent += time.perf_counter() - begin
    return spent


def ours(members: int, steps: int, device: str) -> float:
    """The whole ensemble at once; seconds without making the networks."""
    run = flow.gradient_flow(
        lambda seed: network(seed, device),
        dataset(device),
        loss="hinge",
        alpha=ALPHA,
        ensemble=members,
        divide_by="alpha",
        tolerances=flow.Tolerances(output=OUTPUT, gradient=None, weight=WEIGHT),
        max_steps=steps,
    )
    if int((run.steps + run.refused).min()) != steps:
        raise RuntimeError(f"a member ended before its {steps} steps: {run}")
    return run.seconds


def products(members: int, steps: int, device: str, tile: int) -> Callable[[], None]:
    """Three products per step and the mask, `tile` members at a time, buffers reused."""
    draws = torch.Generator().manual_seed(0)
    x = torch.randn(P, D + 1, generator=draws).to(device)
    w = torch.randn(members, H, D + 1, generator=draws).to(device)
    mask = torch.empty(tile * H, P, device=device)
    transposed, columns = x.T.contiguous(), x.expand(tile, P, D + 1).contiguous()

    def run() -> None:
        for _ in range(steps):
            for i in range(0, members, tile):
                part = w[i : i + tile]
                torch.mm(part.flatten(0, 1), transposed, out=mask)
                active = mask.gt_(0).view(tile, H, P)
                torch.bmm(part.mT, active)
                torch.bmm(active, columns)

    return run


def seconds(work: Callable[[], Any], device: str, repeats: int) -> float:
    """Median wall time."""

    def timed() -> None:
        work()
        if device == "cuda":
            torch.cuda.synchronize()

    return median_seconds(timed, repeats)


def matrix_rate(device: str) -> float:
    """Multiply-adds a second of a large float32 product."""
    n = 2048 if device == "cpu" else 8192
    a = torch.randn(n, n, generator=torch.Generator().manual_seed(0)).to(device)
    return n**3 / seconds(lambda: torch.mm(a, a), device, 5)


def name_of(device: str) -> str:
    """The accelerator's name, or cpu."""
    return torch.cuda.get_device_name() if device == "cuda" else device


def main() -> int:
    """Measure and print; `--record` keeps it."""
    parser = options(__doc__)
    parser.add_argument("--members", type=int, default=64)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--device", default="cpu")
    chosen = parser.parse_args()
    members, steps, device = chosen.members, chosen.steps, chosen.device
    flops = 3 * H * P * (D + 1)  # multiply-adds of a member's step
    rate = matrix_rate(device)
    row: dict[str, Any] = {
        "device": name_of(device),
        "members": members,
        "steps": steps,
        "d": D,
        "h": H,
        "p": P,
    }

    def note(name: str, seconds_each: float) -> None:
        throughput = 1 / seconds_each
        row[name] = {
            "member_steps_per_second": round(throughput, 1),
            "share_of_matrix_rate": round(throughput * flops / rate, 4),
        }
        print(
            f"{name:28} {throughput:12,.0f} members x steps / s   "
            f"{throughput * flops / rate:6.1%} of the matrix rate"
        )

    print(f"{machine()}\n{members} networks, {steps} steps, device {device}")
    print(f"matrix rate {rate / 1e9:.1f} G multiply-adds / s (float32)")
    ours(members, 2, device)
    tiles = [t for t in (1, 2, 4, 8, 16, 64, members) if t <= members and members % t == 0]
    bare = {tile: products(members, steps, device, tile) for tile in tiles}
    best = min(tiles, key=lambda tile: seconds(bare[tile], device, 2))
    # the loop's time is proportional to its members; on a GPU it stays on the CPU, with one network
    few, few_steps = (min(members, 4), steps) if device == "cpu" else (1, 40)
    loop(1, 3, "cpu")
    rounds = [
        (
            ours(members, steps, device) / (members * steps),
            seconds(bare[best], device, 1) / (members * steps),
            loop(few, few_steps, "cpu") / (few * few_steps),
        )
        for _ in range(chosen.repeats)
    ]  # side by side, because the speed of a shared machine changes from second to second
    for name, column in zip(
        ("ours", "products alone", "loop on the CPU"), zip(*rounds, strict=True), strict=True
    ):
        note(name, statistics.median(column))
    to_products = statistics.median(own / bound for own, bound, _ in rounds)
    to_loop = statistics.median(slow / own for own, _, slow in rounds)
    row["ratio_to_loop"], row["ratio_to_products"] = round(to_loop, 2), round(to_products, 2)
    row["rounds_seconds_per_member_step"] = rounds
    print(f"faster than the loop over single networks on the CPU: {to_loop:.1f}x")
    print(f"slower than the products alone: {to_products:.2f}x")
    save(f"flow_ensemble_{device}", row, chosen.record)
    reached, bar = row["ours"]["member_steps_per_second"], STEPS.get(members, 0)
    missed = []
    if device == "cpu" and to_products > PRODUCTS:
        missed.append(f"{to_products:.2f} of the products' time for {PRODUCTS}")
    if device == "cuda" and reached < bar:
        missed.append(f"{reached:,.0f} members x steps / s for {bar:,}")
    return judged(missed, chosen.record)


if __name__ == "__main__":
    sys.exit(main())
