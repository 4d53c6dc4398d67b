"""Time and memory of exact Grams on a CPU, against the torch.func recipe and nngeometry.

Medians of five rounds in one process, in which all are timed side by side, float32, wall and CPU
time (user and system, all threads); fifteen where a run takes less than half a second, two for a
peer that takes more than four. What takes less than a quarter of a second is repeated for that
long in every round: the system counts the CPU time of a second thread in steps of milliseconds.
Ours is timed from the network to the Gram without a private copy of the network, as its peers are;
"copied" is the same with one, which is the default. What is read once from a network (its
structure) is in the run that warms up, and printed apart as "first". The bars are held against the
recipe that PyTorch documents, which computes a Jacobian for each argument. The ratio to one shared
Jacobian is printed beside it, without a bar; it is the fairer number for a user's own loop.
"""

from __future__ import annotations

import functools
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from _machine import judged, median_seconds, options, save, times_of
from torch import Tensor, nn
from torch.func import functional_call, jacrev, vmap

import regimes as rg
from regimes.tangent import TangentKernel

IMAGE = (3, 32, 32)
_SHORTEST = 0.25  # seconds per measurement

# name -> (network, inputs, ratio to beat against {recipe, nngeometry}; 1: not slower)
CASES: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...], tuple[float, float]]] = {
    "MLP 784-100-100-1": (lambda: rg.nets.MLP(784, 100, 3, 1), (512, 784), (1.0, 1.0)),
    "MLP 784-1024-1024-1": (lambda: rg.nets.MLP(784, 1024, 3, 1), (512, 784), (290.0, 2.3)),
    "MLP 784-100-100-10": (lambda: rg.nets.MLP(784, 100, 3, 10), (128, 784), (150.0, 6.0)),
    "MLP 784-1024-1024-10": (lambda: rg.nets.MLP(784, 1024, 3, 10), (128, 784), (1.0, 1.0)),
    "LeNet5, 1 output": (lambda: rg.nets.LeNet5(IMAGE, 1), (512, *IMAGE), (6.0, 3.5)),
    "LeNet5, 10 outputs": (lambda: rg.nets.LeNet5(IMAGE, 10), (128, *IMAGE), (16.0, 45.0)),
    "ResNet18, 16 channels": (
        lambda: rg.nets.ResNet18(IMAGE, 1, base=16, batch_norm=False),
        (128, *IMAGE),
        (2.1, 3.8),
    ),
    "ResNet18, full": (
        lambda: rg.nets.ResNet18(IMAGE, 1, batch_norm=False),
        (32, *IMAGE),
        (1.0, 1.0),
    ),
}


def jacobian(network: nn.Module, x: Tensor) -> list[Tensor]:
    """Gradients of every output of every sample by torch.func, (n, c, entries) per parameter."""
    parameters = {name: p.detach() for name, p in network.named_parameters()}

    def one(p: dict[str, Tensor], sample: Tensor) -> Tensor:
        return functional_call(network, p, (sample[None],))[0]

    return [j.flatten(2) for j in vmap(jacrev(one), (None, 0))(parameters, x).values()]


def contract(first: list[Tensor], second: list[Tensor]) -> Tensor:
    """Sum over parameters of the products of two Jacobians, (n, c, n2, c)."""
    grams = [torch.einsum("iap,jbp->iajb", a, b) for a, b in zip(first, second, strict=True)]
    return torch.stack(grams).sum(0)


def recipe(network: nn.Module, x: Tensor) -> Tensor:
    """The recipe that PyTorch documents: the Jacobians of both arguments, contracted."""
    return contract(jacobian(network, x), jacobian(network, x))


def one_jacobian(network: nn.Module, x: Tensor) -> Tensor:
    """The same for one set of samples, its Jacobian computed only once."""
    shared = jacobian(network, x)
    return contract(shared, shared)


def nngeometry(network: nn.Module, x: Tensor) -> Tensor:
    """The same from nngeometry, one batch."""
    from nngeometry import GramMatrix
    from torch.utils.data import DataLoader, TensorDataset

    loader = DataLoader(TensorDataset(x, torch.zeros(len(x))), batch_size=len(x))
    return GramMatrix(network, loader).data.permute(1, 0, 3, 2)


def ours(network: nn.Module, x: Tensor) -> Tensor:
    """(n, n) or (n, c, n, c)."""
    return TangentKernel(network, copy=False)(x)


def copied(network: nn.Module, x: Tensor) -> Tensor:
    """The same of a private copy, which later training of the network leaves alone."""
    return TangentKernel(network)(x)


ENGINES = {
    "ours": ours,
    "copied": copied,
    "recipe": recipe,
    "one_jacobian": one_jacobian,
    "nngeometry": nngeometry,
}


def inputs(shape: tuple[int, ...]) -> Tensor:
    """Gaussian inputs."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0))


def compare(name: str) -> dict[str, Any]:
    """Times of all engines on one case, and their errors against float64."""
    make, shape, bars = CASES[name]
    network, x = make().eval(), inputs(shape)
    ours(make().eval(), x)  # torch warms up on another network
    start = time.perf_counter()
    ours(network, x)
    first = time.perf_counter() - start
    true = TangentKernel(network, precision="float64")(x)
    row: dict[str, Any] = {"case": name, "samples": shape[0], "first_call_seconds": round(first, 4)}
    works: dict[str, Callable[[], Tensor]] = {}
    rounds: dict[str, int] = {}
    errors: dict[str, float] = {}
    for engine, work in ENGINES.items():
        start = time.perf_counter()
        try:
            found = work(network, x).detach().reshape(true.shape)
        except ImportError:
            row[engine] = None
            continue
        errors[engine] = float((found - true).norm() / true.norm())
        # relu's kink: units within rounding of it have one slope or the other, and no float32
        # engine is nearer to float64 than that on a deep network
        if errors[engine] > 1e-3:
            raise RuntimeError(f"{engine} differs on {name}: relative {errors[engine]:.1e}")
        seconds = time.perf_counter() - start
        # a peer that needs many seconds was warm long before the end of its first run
        rounds[engine] = 2 if seconds > 4 else 5 if seconds > 0.5 else 15
        works[engine] = functools.partial(work, network, x)
    # side by side, because the speed of a shared machine changes from second to second
    times: dict[str, list[tuple[float, float]]] = {engine: [] for engine in works}
    for i in range(max(rounds.values())):
        for engine, run in works.items():
            if i < rounds[engine]:
                times[engine].append(times_of(run, _SHORTEST))
    for engine, measured in times.items():
        wall, cpu = (statistics.median(column) for column in zip(*measured, strict=True))
        error = float(f"{errors[engine]:.1e}")
        row[engine] = {"seconds": round(wall, 5), "cpu_seconds": round(cpu, 5), "error": error}

    def ratio(engine: str, clock: int) -> float:
        pairs = zip(times[engine], times["ours"], strict=False)  # rounds that both took part in
        return round(statistics.median(peer[clock] / own[clock] for peer, own in pairs), 2)

    for engine, bar in zip(("recipe", "nngeometry"), bars, strict=True):
        if row[engine] is not None:
            row[f"{engine}_ratio"], row[f"{engine}_cpu_ratio"] = ratio(engine, 0), ratio(engine, 1)
            row[f"{engine}_bar"] = bar
    row["one_jacobian_cpu_ratio"] = ratio("one_jacobian", 1)
    return row


def peak_memory(engine: str, case: str) -> int:
    """Extra bytes at the peak of one Gram, measured in a process of its own."""
    command = [sys.executable, __file__, "--peak", engine, "--case", case]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return int(json.loads(done.stdout.strip().splitlines()[-1]))


def report_peak(engine: str, case: str) -> None:
    """Print how much the resident memory grows at the peak of one Gram."""
    make, shape, _ = CASES[case]
    network, x = make().eval(), inputs(shape)
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # forget earlier peaks
    before = _status("VmRSS")
    ENGINES[engine](network, x)
    print(_status("VmHWM") - before)


def _status(key: str) -> int:
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(key + ":"))


def linear_rate() -> tuple[float, float]:
    """GFLOP/s of sgemm, and of the Gram of one linear layer counted as its two full products."""
    a = torch.randn(2048, 2048)
    product = 2e-9 * 2048**3 / median_seconds(lambda: a @ a)
    layer, x = nn.Linear(2048, 1, bias=False), torch.randn(2048, 2048)
    kernel = TangentKernel(layer)
    kernel(x)
    gram = 2e-9 * 2048**3 / median_seconds(lambda: kernel(x))
    return product, gram


def main() -> int:
    """Print the table, write the record; the exit status counts bars that were missed."""
    parser = options(__doc__)
    parser.add_argument("--peak", choices=list(ENGINES))
    parser.add_argument("--case", action="append", choices=list(CASES))
    arguments = parser.parse_args()
    if arguments.peak:
        report_peak(arguments.peak, arguments.case[0])
        return 0
    names = arguments.case or list(CASES)
    rows, missed = [], []
    sgemm, gram = linear_rate()
    print(f"sgemm {sgemm:.0f} GFLOP/s; Gram of a linear layer {gram:.0f} GFLOP/s (bar: half)")
    if gram < 0.5 * sgemm:
        missed.append("linear-layer rate")
    print("milliseconds of wall time; ratios are peer / ours in CPU time (in wall time), [bar]")
    titles = ("first", "ours", "copied", "recipe", "one Jac.", "nngeom.")
    print(f"{'case':22}{'n':>5}" + "".join(f"{title:>9}" for title in titles))
    for name in names:
        row = compare(name)
        rows.append(row)
        times = [row["first_call_seconds"], *(row[e] and row[e]["seconds"] for e in ENGINES)]
        cells = "".join(f"{1e3 * t:9.1f}" if t is not None else "   absent" for t in times)
        ratios = []
        for engine in ("recipe", "nngeometry"):
            if f"{engine}_ratio" in row:
                cpu, wall, bar = (row[f"{engine}_{k}"] for k in ("cpu_ratio", "ratio", "bar"))
                ratios.append(f"{engine} {cpu:.1f} ({wall:.1f}) [{bar:g}]")
                if cpu < bar:
                    missed.append(f"{name} against {engine}")
        ratios.append(f"one Jac. {row['one_jacobian_cpu_ratio']:.1f}")
        worst = max(row[e]["error"] for e in ENGINES if row[e] is not None and e != "ours")
        ratios.append(f"error {row['ours']['error']:.0e} (peers {worst:.0e})")
        print(f"{name:22}{row['samples']:5}{cells}  {'; '.join(ratios)}", flush=True)
    memory = {}
    if arguments.case is None:
        memory = {e: peak_memory(e, "ResNet18, full") for e in ("ours", "recipe")}
        share = memory["ours"] / memory["recipe"]
        print(
            f"peak memory, full ResNet18: ours {memory['ours'] / 2**20:.0f} MiB, recipe "
            f"{memory['recipe'] / 2**20:.0f} MiB, share {share:.2f} (bar 0.25)"
        )
        if share > 0.25:
            missed.append("memory")
        record = {
            "unit": "medians of 5 (15 below .5 s, 2 for peers over 4 s); bars: ratios of CPU time",
            "sgemm_gflops": round(sgemm, 1),
            "linear_gram_gflops": round(gram, 1),
            "rows": rows,
            "peak_bytes_full_resnet18": memory,
            "missed": missed,
        }
        save("tangent_gram", record, arguments.record)
    return judged(missed, arguments.record)


if __name__ == "__main__":
    torch.set_num_threads(2)
    sys.exit(main())
