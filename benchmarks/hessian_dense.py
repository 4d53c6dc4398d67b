"""Time and memory of a dense Hessian in its two parts, against torch.func.

Both parts of ours against the whole matrix of the peers: `torch.func.hessian` in one call, and the
same with its columns in chunks of 64 (`vmap` of `jvp(grad(loss))`), which is the better recipe.
Medians of rounds in one process, in which all are timed side by side; one round of a peer that
takes more than four seconds. Ratios are of CPU time (in wall time), peer / ours; the bar is held
against `torch.func.hessian`. "bound" is the CPU time that n N^2 multiply-adds take, what the upper
triangle of J^T l'' J needs at the rate of a product of large matrices. Peaks are of resident memory
above the start, in a process of its own, in units of an N x N matrix.
"""

from __future__ import annotations

import functools
import json
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from _machine import judged, machine, median_seconds, options, save, times_of
from torch import Tensor, nn
from torch.func import functional_call, grad, jvp, vmap

import regimes as rg

BAR = 5.0
_SHORTEST = 0.25  # seconds per measurement
POINTS = 1000


class Convolutions(nn.Sequential):
    """Two convolutions and a layer, on images of 14 x 14 pixels."""

    def __init__(self) -> None:
        super().__init__(
            nn.Conv2d(1, 8, 3), nn.Tanh(), nn.AvgPool2d(2), nn.Conv2d(8, 12, 3), nn.Tanh(),
            nn.Flatten(), nn.Linear(192, 5),
        )  # fmt: skip


def stack_of(activation: str, width: int, depth: int, outputs: int = 1) -> nn.Module:
    """A fully connected network on 10 inputs."""
    return rg.nets.FullyConnected(
        10, width, depth, outputs, parametrization="standard", bias=True, activation=activation
    )


# name -> (network, shape of an input, outputs, points)
CASES: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...], int, int]] = {
    "relu 10-40-40-1": (lambda: stack_of("relu", 40, 2), (10,), 1, POINTS),
    "tanh 10-40-40-1": (lambda: stack_of("tanh", 40, 2), (10,), 1, POINTS),
    "relu 10-25-25-25-25-1": (lambda: stack_of("relu", 25, 4), (10,), 1, POINTS),
    "softplus 10-25-25-25-25-1": (lambda: stack_of("softplus", 25, 4), (10,), 1, POINTS),
    "tanh 10-38-38-10": (lambda: stack_of("tanh", 38, 2, 10), (10,), 10, POINTS),
    "two convolutions": (Convolutions, (1, 14, 14), 5, 60),
}


def problem(case: str, dtype: torch.dtype) -> tuple[nn.Module, Tensor, Tensor]:
    """Network, inputs and labels of a case."""
    make, shape, outputs, n = CASES[case]
    draws = torch.Generator().manual_seed(0)
    x = torch.randn(n, *shape, generator=draws, dtype=dtype)
    if outputs == 1:
        y = torch.randn(n, generator=draws, dtype=dtype).sign()
    else:
        y = torch.randint(0, outputs, (n,), generator=draws)
    return make().to(dtype), x, y


def loss_of(network: nn.Module, x: Tensor, y: Tensor) -> tuple[Callable[[Tensor], Tensor], Tensor]:
    """The loss as a function of all parameters as one vector, and that vector."""
    named = dict(network.named_parameters())
    sizes = [p.numel() for p in named.values()]

    def loss(w: Tensor) -> Tensor:
        parts = zip(named.items(), w.split(sizes), strict=True)
        outputs = functional_call(network, {n: v.view(p.shape) for (n, p), v in parts}, (x,))
        if y.is_floating_point():
            return nn.functional.softplus(-y * outputs[:, 0]).mean()
        return nn.functional.cross_entropy(outputs, y)

    return loss, torch.cat([p.detach().flatten() for p in named.values()])


def ours(network: nn.Module, x: Tensor, y: Tensor) -> Tensor:
    """Both parts."""
    return rg.curvature.hessian(network, x, y).total


def whole(network: nn.Module, x: Tensor, y: Tensor) -> Tensor:
    """All columns at once."""
    loss, w = loss_of(network, x, y)
    return torch.func.hessian(loss)(w)


def chunked(network: nn.Module, x: Tensor, y: Tensor) -> Tensor:
    """Columns in chunks."""
    loss, w = loss_of(network, x, y)
    columns = vmap(lambda u: jvp(grad(loss), (w,), (u,))[1], chunk_size=64)
    return columns(torch.eye(len(w), dtype=w.dtype))


ENGINES = {"ours": ours, "torch.func.hessian": whole, "in chunks": chunked}


def compare(case: str, dtype: torch.dtype) -> dict[str, Any]:
    """Times of all on one case."""
    network, x, y = problem(case, dtype)
    true = ours(network.double(), x.double(), y.double() if y.is_floating_point() else y)
    network = network.to(dtype)
    N = len(true)
    row: dict[str, Any] = {"case": case, "points": len(x), "parameters": N}
    times: dict[str, list[tuple[float, float]]] = {}
    works: dict[str, Callable[[], Tensor]] = {}
    for engine, work in ENGINES.items():
        run = functools.partial(work, network, x, y)
        error = float((run() - true).norm() / true.norm())
        if error > (1e-10 if dtype == torch.float64 else 1e-3):
            raise RuntimeError(f"{engine} differs on {case}: relative {error:.1e}")
        row[engine] = {"error": float(f"{error:.1e}")}
        works[engine], times[engine] = run, []
    for i in range(5):
        for engine, timed in works.items():
            if i == 0 or times[engine][0][0] < 4.0:
                times[engine].append(times_of(timed, _SHORTEST))
    a = torch.randn(N, N, dtype=dtype)
    rate = N**3 / times_of(lambda: a @ a, _SHORTEST)[1]  # multiply-adds
    row["bound_seconds"] = round(0.5 * len(x) * N**2 / rate, 4)
    for engine, measured in times.items():
        wall, cpu = (statistics.median(column) for column in zip(*measured, strict=True))
        row[engine] |= {"seconds": round(wall, 4), "cpu_seconds": round(cpu, 4)}
        if engine != "ours":
            ratios = [
                [peer[clock] / own[clock] for clock in (0, 1)]
                for peer, own in zip(measured, times["ours"], strict=False)
            ]
            wall_ratio, cpu_ratio = (statistics.median(r) for r in zip(*ratios, strict=True))
            row[engine] |= {"ratio": round(wall_ratio, 1), "cpu_ratio": round(cpu_ratio, 1)}
    return row


def peak_memory(engine: str, case: str, dtype: str) -> int:
    """Extra bytes at the peak of one Hessian, measured in a process of its own."""
    command = [sys.executable, __file__, "--peak", engine, "--case", case, "--dtype", dtype]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return int(json.loads(done.stdout.strip().splitlines()[-1]))


def report_peak(engine: str, case: str, dtype: torch.dtype) -> None:
    """Print how much the resident memory grows at the peak of one Hessian."""
    network, x, y = problem(case, dtype)
    small = stack_of("relu", 2, 1).to(dtype)
    ENGINES[engine](small, x.flatten(1)[:4, :10], torch.ones(4, dtype=dtype))
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # forget earlier peaks
    before = _status("VmRSS")
    kept = ENGINES[engine](network, x, y)
    print(_status("VmHWM") - before, file=sys.stdout if len(kept) else sys.stderr)


def _status(key: str) -> int:
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(key + ":"))


def members(count: int, dtype: torch.dtype) -> dict[str, Any]:
    """Many small networks at once, against one after the other by ours."""
    draws = torch.Generator().manual_seed(0)
    x = torch.randn(100, 10, generator=draws, dtype=dtype)
    y = torch.randn(100, generator=draws, dtype=dtype).sign()
    nets = [stack_of("relu", 12, 2).to(dtype) for _ in range(count)]
    ensemble = rg.nets.stack(nets)
    together = functools.partial(rg.curvature.hessian, ensemble, x, y, "qhinge")

    def in_turn() -> None:
        for network in nets:
            rg.curvature.hessian(network, x, y, "qhinge")

    def func() -> None:
        for network in nets[:2]:
            whole(network, x, y)

    found = {}
    for name, work, share in (("together", together, count), ("in turn", in_turn, count),
                              ("torch.func.hessian", func, 2)):  # fmt: skip
        found[name] = round(1e3 * median_seconds(work, 3) / share, 3)
    return {"networks": count, "parameters": rg.nets.stack(nets[:1]).member(0).n_params,
            "milliseconds_each": found}  # fmt: skip


def main() -> int:
    """Print the table; the exit status counts bars that were missed."""
    parser = options(__doc__)
    parser.add_argument("--peak", choices=list(ENGINES))
    parser.add_argument("--case", action="append", choices=list(CASES))
    parser.add_argument("--dtype", default="float64", choices=["float32", "float64"])
    parser.add_argument("--threads", type=int, default=2)
    chosen = parser.parse_args()
    dtype = getattr(torch, chosen.dtype)
    torch.set_num_threads(chosen.threads)
    if chosen.peak:
        report_peak(chosen.peak, chosen.case[0], dtype)
        return 0
    rows, missed = [], []
    print(f"{machine()}\n{chosen.dtype}; seconds of CPU time, ratios of CPU time (wall time)")
    for case in chosen.case or CASES:
        row = compare(case, dtype)
        matrix = row["parameters"] ** 2 * dtype.itemsize
        row["peak_matrices"] = {
            engine: round(peak_memory(engine, case, chosen.dtype) / matrix, 1) for engine in ENGINES
        }
        rows.append(row)
        cells = [f"{case:26} N={row['parameters']}  ours {row['ours']['cpu_seconds']:.3f}"]
        cells.append(f"bound {row['bound_seconds']:.3f}")
        for engine in [*ENGINES][1:]:
            peer = row[engine]
            cells.append(f"{engine} {peer['cpu_ratio']:.1f} ({peer['ratio']:.1f})")
        cells.append("peaks " + ", ".join(f"{v:g}" for v in row["peak_matrices"].values()))
        if row["torch.func.hessian"]["cpu_ratio"] < BAR:
            missed.append(case)
        print("; ".join(cells), flush=True)
    small = members(100, dtype)
    print(f"{small}")
    record = {
        "dtype": chosen.dtype,
        "bar": BAR,
        "rows": rows,
        "ensemble": small,
        "missed": missed,
    }
    save("hessian_dense", record, chosen.record)
    return judged(missed, chosen.record)


if __name__ == "__main__":
    sys.exit(main())
