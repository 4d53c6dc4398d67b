"""One network alone: `gradient_flow` against a plain autograd loop with the same acceptance rule.

Run `python benchmarks/flow_single.py`. Both take the same number of steps of the same flow and read
the same of each (loss, fitted points, least margin, norms), which the events and the history need.
The CPU times are of rounds side by side in one process; above 1 the loop is slower. `--profile`
says where ours spends its time.
"""

from __future__ import annotations

import cProfile
import pstats
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import torch
from _machine import options, save
from torch import Tensor, nn

import regimes as rg
from regimes import flow

OUTPUT, WEIGHT, GRADIENT = 0.1, 0.05, 1e-4

# name -> (network, loss, its value and alpha); the hinge is held by weights, the smooth by gradient
CASES: dict[str, tuple[Callable[[], nn.Module], str, float]] = {
    "h=100, L=1, hinge": (
        lambda: rg.nets.FullyConnected(10, 100, parametrization="mean_field", bias=True, seed=0),
        "hinge",
        1e-2,
    ),
    "h=30, L=3, soft hinge": (
        lambda: rg.nets.FullyConnected(10, 30, 3, activation="softplus_5", seed=0),
        "softhinge_20",
        1.0,
    ),
    "h=30, L=3, module of torch": (
        lambda: _plain(rg.nets.FullyConnected(10, 30, 3, activation="softplus_5", seed=0)),
        "softhinge_20",
        1.0,
    ),
}


def _plain(network: rg.nets.FullyConnected) -> nn.Module:
    """The same sizes as a module that nothing is known of."""
    sizes = [(10, 30), (30, 30), (30, 30), (30, 1)]
    layers: list[nn.Module] = []
    for (a, b), source in zip(sizes, network.layers, strict=True):
        linear = nn.Linear(a, b)
        with torch.no_grad():
            linear.weight.copy_(source.weight / a**0.5)
            linear.bias.zero_()
        layers += [linear, nn.Tanh()]
    return nn.Sequential(*layers[:-1])


def loop(network: nn.Module, ds: rg.data.Dataset, loss: str, alpha: float, steps: int) -> Tensor:
    """What a user would write; returns the predictions at the end."""
    smooth = loss != "hinge"
    parameters = list(network.parameters())
    with torch.no_grad():
        start = network(ds.x_train)[:, 0]

    def look() -> tuple[Tensor, Tensor, list[Tensor]]:
        prediction = alpha * (network(ds.x_train)[:, 0] - start)
        rest = 1 - ds.y_train * prediction
        each = nn.functional.softplus(rest, beta=20) if smooth else torch.relu(rest)
        value = each.mean()
        gradient = torch.autograd.grad(value / alpha**2, parameters)
        return prediction.detach(), value.detach(), list(gradient)

    def norm(tensors: Sequence[Tensor]) -> Tensor:
        return torch.sqrt(sum((t * t).sum() for t in tensors))  # type: ignore[arg-type]

    prediction, value, gradient = look()
    history = []
    with torch.no_grad():
        size, speed = float(norm(parameters)), float(norm(gradient))
    dt = 0.01 * size / speed
    for _ in range(steps):
        with torch.no_grad():
            if not smooth:
                dt = min(dt, WEIGHT * size / speed)
            saved = [p.clone() for p in parameters]
            for p, g in zip(parameters, gradient, strict=True):
                p.sub_(dt * g)
        new, value, new_gradient = look()
        with torch.no_grad():
            new_speed = float(norm(new_gradient))
            worst = float((new - prediction).abs().max()) / OUTPUT
            if not smooth:
                worst = max(worst, dt * speed / size / WEIGHT / (1 + 1e-6))
            else:
                apart = float(norm([a - b for a, b in zip(gradient, new_gradient, strict=True)]))
                worst = max(worst, apart**2 / (speed * new_speed) / GRADIENT)
            if worst < 1:
                prediction, gradient, speed = new, new_gradient, new_speed
                size = float(norm(parameters))
                margins = ds.y_train * new
                least, fitted = float(margins.min()), float((margins >= 1).float().mean())
                history.append((float(value), least, fitted, dt))
                if worst < 0.5:
                    dt *= 1.1
            else:
                for p, old in zip(parameters, saved, strict=True):
                    p.copy_(old)
                dt /= 10 if smooth else 2
    return prediction


def ours(network: nn.Module, ds: rg.data.Dataset, loss: str, alpha: float, steps: int) -> Tensor:
    """The same from the library."""
    run = flow.gradient_flow(
        network,
        ds,
        loss=loss,
        alpha=alpha,
        until=None,
        t_end=1e300,
        max_steps=steps,
        tolerances=flow.Tolerances(
            output=OUTPUT,
            gradient=None if loss == "hinge" else GRADIENT,
            weight=WEIGHT if loss == "hinge" else None,
        ),
        rule=flow.StepRule(first="weights", shrink=2.0 if loss == "hinge" else 10.0),
    )
    return run.outputs_train[0, :, 0]


def main() -> None:
    """Measure and print; `--record` writes the table."""
    parser = options(__doc__)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--profile", action="store_true")
    chosen = parser.parse_args()
    ds = rg.data.stripe(n_train=500, n_test=1, d=10, seed=0)
    rows: list[dict[str, Any]] = []
    for name, (make, loss, alpha) in CASES.items():
        works = {"loop": loop, "ours": ours}
        if chosen.profile:
            profile = cProfile.Profile(time.process_time)
            profile.runcall(ours, make(), ds, loss, alpha, chosen.steps)
            pstats.Stats(profile).sort_stats("tottime").print_stats(34)
            continue
        ends = [work(make(), ds, loss, alpha, 40) for work in works.values()]  # warm up
        gap = float((ends[0] - ends[1]).abs().max())
        if gap > 1e-3:
            raise RuntimeError(f"{name}: the loop and the library differ by {gap:.1e}")
        times: dict[str, list[float]] = {key: [] for key in works}
        for _ in range(chosen.rounds):
            for key, work in works.items():
                network, begin = make(), time.process_time()
                work(network, ds, loss, alpha, chosen.steps)
                times[key].append((time.process_time() - begin) / chosen.steps)
        pairs = zip(times["loop"], times["ours"], strict=True)
        ratio = statistics.median(a / b for a, b in pairs)
        middle = {key: round(1e6 * statistics.median(each), 1) for key, each in times.items()}
        rows.append(
            {"case": name, "microseconds_per_step": middle, "loop_over_ours": round(ratio, 2)}
        )
        print(
            f"{name:28} loop {middle['loop']:7.0f} us, ours {middle['ours']:7.0f} us a step: "
            f"{ratio:.2f}x",
            flush=True,
        )
    save("flow_single", {"steps": chosen.steps, "rows": rows}, chosen.record)


if __name__ == "__main__":
    main()
