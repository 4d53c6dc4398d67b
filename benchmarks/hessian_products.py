"""Products with a Hessian and spectral densities against curvlinops, on a CPU or a GPU.

Medians of rounds in one process, in which all are timed one after the other: on a CPU the time of
all threads (user and system), since other programs may run beside, on a GPU the wall clock. A
product is timed twice: the first one of a new object, which runs the network, and a later one,
which finds the graph of that run kept (that of ResNet18 takes some 4 GB, so that the budget is said
to be larger than usual). Both libraries are given the same float32 network in evaluation mode and
the same points. The bar is held against first products with the Hessian; those with the
Gauss-Newton part are printed without one.

Densities take the same steps of Lanczos's recurrence from the same number of random vectors. How
far each is from the density by many vectors is printed beside its time: the integral of the
absolute difference, of curves smoothed by the same width at the same places.
"""

from __future__ import annotations

import math
import operator
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from _machine import judged, options, save
from torch import Tensor, nn

import regimes as rg
from regimes.curvature import Curvature, SpectralDensity
from regimes.curvature._parts import Part

BAR_PRODUCT, BAR_DENSITY = 1.1, 1.0  # times of ours over theirs
BAR_ERROR = 1.5  # errors of ours over theirs: as good, within what few rounds tell
KAPPA = 3.0  # curvlinops' name for how wide its bells are


def drawn(*shape: int, seed: int = 0, device: str = "cpu") -> Tensor:
    """Gaussian numbers."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(device)


def classes(like: Tensor) -> Tensor:
    """One of ten labels for each point."""
    labels = torch.randint(0, 10, (len(like),), generator=torch.Generator().manual_seed(1))
    return labels.to(like.device)


def now(device: torch.device | str) -> float:
    """CPU seconds of this process; on a GPU the wall clock, once all that was asked is done."""
    if torch.device(device).type == "cpu":
        return time.process_time()
    torch.cuda.synchronize()
    return time.perf_counter()


def timed(
    works: Mapping[str, Callable[[], Any]], rounds: int, device: torch.device
) -> dict[str, float]:
    """Median seconds of each, alternated, after a round that warms up."""
    found: dict[str, list[float]] = {name: [] for name in works}
    for number in range(rounds + 1):
        for name, work in works.items():
            start = now(device)
            work()
            if number:
                found[name].append(now(device) - start)
    return {name: statistics.median(times) for name, times in found.items()}


def anew(curve: Curvature, work: Callable[[], Any]) -> None:
    """The work of an object that has kept nothing."""
    curve._products._kept.clear()
    work()


def products(name: str, network: nn.Module, x: Tensor, rounds: int) -> list[dict[str, Any]]:
    """Products of the Hessian and of its Gauss-Newton part with one vector."""
    import curvlinops

    y, parameters = classes(x), [*network.parameters()]
    size = sum(p.numel() for p in parameters)
    v = drawn(size, device=str(x.device))
    rows = []
    peers: dict[Part, Any] = {
        "total": curvlinops.HessianLinearOperator,
        "gauss_newton": curvlinops.GGNLinearOperator,
    }
    for part, peer in peers.items():
        loss = nn.CrossEntropyLoss()
        theirs = peer(network, loss, parameters, [(x, y)], check_deterministic=False)
        ours = Curvature(network, x, y, memory="20GiB")
        apart = (ours.product(v, part) - theirs @ v).norm() / (theirs @ v).norm()
        ours = Curvature(network, x, y, memory="20GiB")

        later = partial(ours.product, v, part)
        works = {
            "curvlinops": partial(operator.matmul, theirs, v),
            "first": partial(anew, ours, later),
            "later": later,
        }
        seconds = timed(works, rounds, x.device)
        rows.append(
            {
                "case": name,
                "part": part,
                "parameters": size,
                "points": len(x),
                "seconds": {key: round(value, 5) for key, value in seconds.items()},
                "first_over_curvlinops": round(seconds["first"] / seconds["curvlinops"], 3),
                "later_over_curvlinops": round(seconds["later"] / seconds["curvlinops"], 3),
                "relative_difference": float(apart),
            }
        )
        print(rows[-1], flush=True)
    return rows


def trained(network: nn.Module, x: Tensor, y: Tensor, steps: int) -> nn.Module:
    """The network after some steps of Adam, so that its Hessian has what trained ones have."""
    optimiser = torch.optim.Adam(network.parameters(), 1e-3)
    for _ in range(steps):
        optimiser.zero_grad()
        F.cross_entropy(network(x), y).backward()
        optimiser.step()
    return network.eval()


def density(
    name: str, network: nn.Module, x: Tensor, rounds: int, steps: int, vectors: int, many: int
) -> dict[str, Any]:
    """The spectral density of the whole Hessian."""
    import curvlinops

    y = classes(x)
    network = trained(network, x, y, 30)
    parameters = [*network.parameters()]
    size = sum(p.numel() for p in parameters)
    ours = Curvature(network, x, y)
    theirs = curvlinops.HessianLinearOperator(
        network, nn.CrossEntropyLoss(), parameters, [(x, y)], check_deterministic=False
    )
    best = ours.spectral_density(steps=2 * steps, vectors=many, outliers=20, seed=1000)
    errors: dict[str, list[float]] = {"curvlinops": [], "ours": []}
    seeds = iter(range(1000))

    def compare(which: str, grid: Tensor, values: Tensor) -> None:
        true = on_grid(best, grid, steps)
        errors[which].append(float(torch.trapezoid((values - true).abs(), grid)))

    def their_curve() -> None:
        torch.manual_seed(next(seeds))
        grid, values = curvlinops.lanczos_approximate_spectrum(
            theirs, steps, num_repeats=vectors, kappa=KAPPA
        )
        curves["curvlinops"] = grid.double().cpu(), values.double().cpu()

    def our_curve() -> None:
        ours._products._kept.clear()
        found = ours.spectral_density(steps=steps, vectors=vectors, seed=next(seeds))
        # beside it, the same places and widths as theirs
        grid = curves["curvlinops"][0] if "curvlinops" in curves else found.points(1024)
        curves["ours"] = grid, on_grid(found, grid, steps)

    curves: dict[str, tuple[Tensor, Tensor]] = {}
    times: dict[str, list[float]] = {"curvlinops": [], "ours": []}
    for number in range(rounds + 1):
        for which, work in (("curvlinops", their_curve), ("ours", our_curve)):
            start = now(x.device)
            work()
            if number:
                times[which].append(now(x.device) - start)
                compare(which, *curves[which])
    seconds = {which: statistics.median(each) for which, each in times.items()}
    distance = {which: statistics.median(each) for which, each in errors.items()}
    row = {
        "case": name,
        "parameters": size,
        "points": len(x),
        "steps": steps,
        "vectors": vectors,
        "seconds": {which: round(value, 3) for which, value in seconds.items()},
        "ours_over_curvlinops": round(seconds["ours"] / seconds["curvlinops"], 3),
        "error_of_curve": {which: round(value, 5) for which, value in distance.items()},
    }
    print(row, flush=True)
    return row


def on_grid(found: SpectralDensity, grid: Tensor, steps: int) -> Tensor:
    """Our density at places of curvlinops, with its width of bells."""
    half = float(grid[-1] - grid[0]) / 2
    width = half * 2 / (steps - 1) / math.sqrt(8 * math.log(KAPPA))
    return found.density(grid, width=width)[1].cpu()


def perceptron() -> nn.Module:
    """1e5 parameters."""
    return rg.nets.MLP(100, 256, 3, 10)


def convolutions() -> nn.Module:
    """1e5 parameters."""
    return nn.Sequential(
        nn.Conv2d(3, 16, 3), nn.ReLU(), nn.Conv2d(16, 32, 3, stride=2), nn.ReLU(),
        nn.Conv2d(32, 64, 3, stride=2), nn.ReLU(), nn.Flatten(), nn.Linear(576, 128), nn.ReLU(),
        nn.Linear(128, 10),
    )  # fmt: skip


def main() -> int:
    """Measure, compare with the bars, and write it down where asked."""
    parser = options(__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--base", type=int, default=64, help="channels of the ResNet18")
    parser.add_argument("--steps", type=int, default=32)
    parser.add_argument("--vectors", type=int, default=8)
    parser.add_argument("--many", type=int, default=40, help="vectors of the reference density")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--only", choices=("products", "density"), default=None)
    asked = parser.parse_args()
    torch.manual_seed(0)
    place = asked.device
    rows: list[dict[str, Any]] = []
    densities: list[dict[str, Any]] = []
    if asked.only != "density":
        residual = rg.nets.ResNet18((3, 32, 32), 10, base=asked.base).eval()
        for name, network, x in (
            ("ResNet18", residual, drawn(128, 3, 32, 32, device=place)),
            ("MLP 100-256-256-10", perceptron(), drawn(1000, 100, device=place)),
        ):
            rows += products(name, network.to(place), x, asked.rounds)
    if asked.only != "products":
        for name, network, x in (
            ("MLP 100-256-256-10", perceptron(), drawn(1000, 100, device=place)),
            ("convolutions", convolutions(), drawn(256, 3, 20, 20, device=place)),
        ):
            sizes = asked.steps, asked.vectors, asked.many
            densities.append(density(name, network.to(place), x, asked.rounds, *sizes))
    held = [row for row in rows if row["part"] == "total"]
    slow = [row for row in held if row["first_over_curvlinops"] > BAR_PRODUCT]
    for row in densities:
        errors = row["error_of_curve"]
        equal = errors["ours"] <= BAR_ERROR * errors["curvlinops"]
        if row["ours_over_curvlinops"] > BAR_DENSITY or not equal:
            slow.append(row)
    record = {"device": place, "products": rows, "densities": densities, "missed": len(slow)}
    name = f"hessian_{asked.only or 'products'}_{torch.device(place).type}"
    save(name, record, asked.record)
    return judged([str(row) for row in slow], asked.record)


if __name__ == "__main__":
    sys.exit(main())
