"""What an observation of a VGG19 costs: kernels of all layers, their spectra and alignments.

VGG19 on 32 x 32 images with ten outputs and a probe of 100 points, whose kernel has 1000 rows. On
a GPU with 64 channels (bar of VGG19: 0.25 s an observation, whole and by layer, float32), on a CPU
with 8,
side by side with nngeometry's Gram of the same network (bar: five times faster, CPU time). Also
the same by one pass a layer, which is what one pass for all layers saves.

    PYTHONPATH=src python3 benchmarks/observe.py [--device cuda] [--base 64] [--record]
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable
from typing import Any

import torch
from _machine import judged, options, save, times_of
from torch import Tensor, nn

import regimes as rg
from regimes.observe import KernelObserver, Wanted, kernel_numbers
from regimes.tangent import TangentKernel

IMAGE, CLASSES, PROBE = (3, 32, 32), 10, 100
SECONDS, RATIO = 0.25, 5.0  # the bars


def network(kind: str, base: int, device: str) -> nn.Module:
    """One of the two networks that are observed."""
    if kind == "vgg19":
        return rg.nets.VGG(IMAGE, CLASSES, variant=19, base=base, device=device)
    return rg.nets.ResNet18(IMAGE, CLASSES, base=base, device=device)


def timed(work: Callable[[], Any], device: str, repeats: int) -> list[tuple[float, float]]:
    """Wall and CPU seconds of some runs after one that warms up."""

    def run() -> None:
        work()
        if device == "cuda":
            torch.cuda.synchronize()

    run()
    return [times_of(run) for _ in range(repeats)]


def middle(times: list[tuple[float, float]]) -> dict[str, float]:
    """Medians."""
    wall, cpu = (statistics.median(column) for column in zip(*times, strict=True))
    return {"seconds": round(wall, 5), "cpu_seconds": round(cpu, 5)}


def observation(net: nn.Module, x: Tensor, y: Tensor, wanted: Wanted) -> Callable[[], None]:
    """One look of an observer, its copy of the weights included."""
    watch = KernelObserver(net, (x, y), wanted=wanted, path=False)

    def look() -> None:
        watch._take_weights()
        watch._look()

    return look


def parts(net: nn.Module, x: Tensor, y: Tensor) -> dict[str, Callable[[], Any]]:
    """An observation and what it is made of."""
    net = net.eval()
    grams = TangentKernel(net, copy=False).by_layer(x)
    whole = torch.stack(list(grams.values())).sum(0)
    matrix = whole.reshape(len(x) * CLASSES, -1)
    return {
        "observation": observation(net, x, y, Wanted()),
        "with the spectra of layers": observation(net, x, y, Wanted(layer_spectra=True)),
        "kernels by layer": lambda: TangentKernel(net, copy=False).by_layer(x),
        "numbers": lambda: kernel_numbers(grams, y, Wanted()),
        "numbers with the spectra of layers": lambda: kernel_numbers(
            grams, y, Wanted(layer_spectra=True)
        ),
        "eigenvalues of one kernel, float64": lambda: torch.linalg.eigvalsh(matrix.double()),
        "eigenvalues of one kernel, float32": lambda: torch.linalg.eigvalsh(matrix),
    }


def one_pass_a_layer(net: nn.Module, x: Tensor) -> Callable[[], Any]:
    """The same kernels, the network passed once for each."""
    names = list(TangentKernel(net, copy=False).by_layer(x))

    def run() -> None:
        for name in names:
            TangentKernel(net, copy=False).by_layer(x, groups={name: [name]})

    return run


def nngeometry(net: nn.Module, x: Tensor) -> Tensor:
    """The Gram from nngeometry, one batch."""
    from nngeometry import GramMatrix
    from torch.utils.data import DataLoader, TensorDataset

    loader = DataLoader(TensorDataset(x, torch.zeros(len(x))), batch_size=len(x))
    return GramMatrix(net, loader).data.permute(1, 0, 3, 2)


def main() -> int:
    """Print and write down; the exit status counts the bars that were missed."""
    parser = options(__doc__)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--base", type=int)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--kinds", default="vgg19")
    arguments = parser.parse_args()
    device, cuda = arguments.device, arguments.device == "cuda"
    base = arguments.base or (64 if cuda else 8)
    draws = torch.Generator().manual_seed(0)
    x = torch.randn(PROBE, *IMAGE, generator=draws).to(device)
    y = (torch.arange(PROBE) % CLASSES).to(device)
    rows, missed = [], []
    for kind in arguments.kinds.split(","):
        net = network(kind, base, device).eval()
        row: dict[str, Any] = {"network": kind, "base": base}
        for name, work in parts(net, x, y).items():
            row[name] = middle(timed(work, device, arguments.repeats))
            print(f"{kind} {name}: {row[name]}", flush=True)
        row["one pass a layer"] = middle(timed(one_pass_a_layer(net, x), device, 2))
        print(f"{kind} one pass a layer: {row['one pass a layer']}", flush=True)
        if cuda:
            if kind == "vgg19" and row["observation"]["seconds"] > SECONDS:
                missed.append(f"{kind}: {row['observation']['seconds']} s > {SECONDS} s")
        else:
            missed += against_peer(net, x, y, row)
        rows.append(row)
    record = {
        "device": device,
        "probe": PROBE,
        "rows": rows,
        "missed": missed,
    }
    save(f"observe_{device}", record, arguments.record)
    return judged(missed, arguments.record)


def against_peer(net: nn.Module, x: Tensor, y: Tensor, row: dict[str, Any]) -> list[str]:
    """Ratios of CPU time of nngeometry's Gram and an observation, taken in turn."""
    try:
        found = nngeometry(net, x)
    except ImportError:
        print("nngeometry is absent: make bench installs it")
        return []
    true = TangentKernel(net, copy=False)(x)
    row["difference"] = float((found - true).norm() / true.norm())
    look = observation(net, x, y, Wanted())
    look()
    pairs = [(times_of(lambda: nngeometry(net, x)), times_of(look)) for _ in range(3)]
    row["nngeometry"] = middle([peer for peer, _ in pairs])
    for name, clock in (("nngeometry_ratio", 0), ("nngeometry_cpu_ratio", 1)):
        row[name] = round(statistics.median(peer[clock] / own[clock] for peer, own in pairs), 2)
    print(
        f"nngeometry's Gram / an observation: {row['nngeometry_cpu_ratio']} in CPU time, "
        f"{row['nngeometry_ratio']} in wall time; difference {row['difference']:.1e}"
    )
    return [] if row["nngeometry_cpu_ratio"] >= RATIO else [f"ratio {row['nngeometry_cpu_ratio']}"]


if __name__ == "__main__":
    torch.set_num_threads(2)
    sys.exit(main())
