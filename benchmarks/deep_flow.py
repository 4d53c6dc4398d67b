"""Steps of the phase diagram: members x steps per second, and what bounds them.

Fully connected networks of two hidden layers on points of ten components (protocol PR25), float64,
soft hinge, adaptive flow. For every width, side by side in each round:

- ours: `gradient_flow` of all members, the backward pass written out;
- field: its gradient alone, without proposing, judging and keeping steps;
- autograd: the same gradient by automatic differentiation;
- products: only the batched matrix products of a step, the bound for any formulation.

The share of the products in a step says what bounds it: near 1 arithmetic, else activations
(memory) and, for narrow networks, calls.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from _machine import judged, machine, median_seconds, options, save

import regimes as rg
from regimes import flow
from regimes.flow._deep_field import deep_field
from regimes.flow._gradient_flow import objective_of
from regimes.flow._members import gather
from regimes.flow._network_field import NetworkField

D, L, LOSS = 10, 2, "softhinge_20"
STEPS = {("cuda", 20): 112_000}  # members x steps a second on an H200, where calls bound a step


def networks(width: int, members: int, activation: str, device: str) -> rg.nets.Ensemble:
    """Networks of [Geiger 2020, eqs. 11 to 14]."""
    return rg.nets.stack(
        lambda seed: rg.nets.FullyConnected(
            D, width, L, activation=activation, seed=seed, dtype=torch.float64, device=device
        ),
        range(members),
    )


def products(width: int, members: int, points: int, steps: int, device: str) -> Callable[[], None]:
    """The products of a step: two forward and four backward, the readout left out."""
    draws = torch.Generator().manual_seed(0)

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, dtype=torch.float64, generator=draws).to(device)

    x, first, second = normal(points, D), normal(members, width, D), normal(members, width, width)
    one, two = normal(members, width, points), normal(members, width, points)

    def run() -> None:
        for _ in range(steps):
            torch.mm(first.flatten(0, 1), x.mT, out=one.flatten(0, 1))
            torch.bmm(second, one, out=two)
            torch.bmm(two, one.mT)
            torch.bmm(second.mT, two, out=one)
            torch.mm(one.flatten(0, 1), x)

    return run


def main() -> int:
    """Measure and print; `--record` keeps it."""
    parser = options(__doc__)
    parser.add_argument("--widths", type=int, nargs="+", default=[6, 24, 96])
    parser.add_argument("--members", type=int, default=40)
    parser.add_argument("--points", type=int, default=300)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--activation", default="softplus_5")
    parser.add_argument("--device", default="cpu")
    chosen = parser.parse_args()
    device, steps, members = chosen.device, chosen.steps, chosen.members
    name = torch.cuda.get_device_name() if device == "cuda" else device
    print(f"{machine()}\n{members} networks, {chosen.points} points, {chosen.activation}, {name}")
    ds = rg.data.random_labels(chosen.points, 2, D, dtype=torch.float64).to(device=device)
    rows: dict[str, Any] = {
        "device": name,
        "members": members,
        "points": chosen.points,
        "activation": chosen.activation,
        "widths": {},
    }

    def seconds(work: Callable[[], Any]) -> float:
        def timed() -> None:
            work()
            if device == "cuda":
                torch.cuda.synchronize()

        return median_seconds(timed, 1) / (steps * members)

    for width in chosen.widths:
        ensemble = networks(width, members, chosen.activation, device)
        gathered = gather(ensemble, ds, alpha=10.0, ensemble=None, n_train=None)
        objective = objective_of(gathered, LOSS, subtract_init=True, divide_by="alpha^2")
        fast, _ = deep_field(ensemble, ds.x_train, objective, own=False, memory=None)
        slow = NetworkField(ensemble, ds.x_train, False, objective, members)
        bare = products(width, members, chosen.points, steps, device)

        def look(field: Any, ensemble: rg.nets.Ensemble = ensemble) -> None:
            with torch.no_grad():
                for _ in range(steps):
                    field.evaluate(ensemble.parameters)

        def ours(ensemble: rg.nets.Ensemble = ensemble) -> None:
            tolerances = flow.Tolerances(output=0.1, gradient=1e-4)
            flow.gradient_flow(
                ensemble, ds, loss=LOSS, alpha=10.0, tolerances=tolerances, max_steps=steps
            )

        works: dict[str, Callable[[], None]] = {
            "ours": ours,
            "field": partial(look, fast),
            "autograd": partial(look, slow),
            "products": bare,
        }
        for work in works.values():
            work()
        rounds = [
            {key: seconds(work) for key, work in works.items()} for _ in range(chosen.repeats)
        ]
        middle = {key: statistics.median(r[key] for r in rounds) for key in works}
        flops = 2 * chosen.points * width * (2 * D + 3 * width)
        row = {
            "member_steps_per_second": {key: round(1 / each) for key, each in middle.items()},
            "autograd_over_field": round(middle["autograd"] / middle["field"], 2),
            "step_over_field": round(middle["ours"] / middle["field"], 2),
            "products_share_of_step": round(middle["products"] / middle["ours"], 2),
            "tflops_of_step": round(flops / middle["ours"] / 1e12, 3),
        }
        rows["widths"][str(width)] = row
        print(
            f"h={width:5}  {1 / middle['ours']:12,.0f} members x steps / s   gradient by autograd "
            f"{row['autograd_over_field']:.2f}x slower   products are "
            f"{row['products_share_of_step']:.0%} of a step, {row['tflops_of_step']:.2f} Tflop/s"
        )
    save(f"deep_flow_{device}", rows, chosen.record)
    missed = []
    for width, row in rows["widths"].items():
        reached, bar = row["member_steps_per_second"]["ours"], STEPS.get((device, int(width)), 0)
        if row["autograd_over_field"] < 1:
            missed.append(f"h = {width}: autograd takes {row['autograd_over_field']} of our time")
        if reached < bar:
            missed.append(f"h = {width}: {reached:,} members x steps / s for {bar:,}")
    return judged(missed, chosen.record)


if __name__ == "__main__":
    sys.exit(main())
