"""Grams of 60,000 images on one GPU: MLP, LeNet5 and ResNet18 of [Ortiz-Jimenez 2021].

[Ortiz-Jimenez 2021, app. B] needed 3 minutes, 20 minutes and 32 hours on four V100.
Runs from a plain source tree with nothing to install: PYTHONPATH=src python3 benchmarks/gpu_gram.py
Real CIFAR-10 files are used where REGIMES_DATA has them (flipped and shifted copies make up the
number), Gaussian images otherwise. Needs CUDA; on a machine without it, it says so and stops.
"""

from __future__ import annotations

import os
import sys
import time
from typing import Any

import torch
from _machine import judged, options, save
from torch import Tensor, nn

import regimes as rg
from regimes.tangent import TangentKernel

SECONDS, ERROR = 40, 2e-4  # bars of the Gram of ResNet18 on an H200


def images(n: int) -> tuple[Tensor, str]:
    """N different images, standardised, and where they come from."""
    if "REGIMES_DATA" not in os.environ:
        draws = torch.Generator().manual_seed(0)
        return torch.randn(n, 3, 32, 32, generator=draws), "Gaussian noise"
    ds = rg.data.cifar10().pipe(rg.data.standardize())
    real = torch.cat([ds.x_train, ds.x_test])
    copies = [real.roll((s, t), (2, 3)) for s in (0, 2, -2) for t in (0, 2, -2)]
    varied = torch.cat([copy for c in copies for copy in (c, c.flip(3))])
    return varied[:n], f"{len(real)} CIFAR-10 images with shifted and flipped copies"


def networks() -> dict[str, tuple[nn.Module, str]]:
    """The paper's three networks with one logit, and the precision each is run in."""
    shape = (3, 32, 32)
    return {
        "MLP": (rg.nets.MLP(3072, 100, 3, 1, init="lecun"), "float32"),
        "LeNet5": (rg.nets.LeNet5(shape, 1), "float32"),
        "ResNet18": (rg.nets.ResNet18(shape, 1, init="lecun").eval(), "bfloat16"),
    }


def matrix_rate(dtype: torch.dtype) -> float:
    """Multiply-adds a second of a large product."""
    a = torch.randn(8192, 8192, device="cuda").to(dtype)
    for _ in range(3):
        a @ a
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(10):
        a @ a
    torch.cuda.synchronize()
    return 10 * 8192**3 / (time.perf_counter() - start)


def measure(name: str, network: nn.Module, precision: str, x: Tensor) -> dict[str, Any]:
    """Time one Gram, and compare a subsample with float64."""
    kernel = TangentKernel(network.cuda(), precision=precision)
    kernel(x[:256])  # warm up: kernels loaded, structure found
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    plan = kernel.plan(x)
    start = time.perf_counter()
    gram = kernel(x)
    torch.cuda.synchronize()
    seconds = time.perf_counter() - start
    peak = torch.cuda.max_memory_allocated()
    some = torch.linspace(0, len(x) - 1, 64).long()
    exact = TangentKernel(network, precision="float64")(x[some.cuda()])
    found = gram[some.cuda()][:, some.cuda()].double()
    error = float((found - exact).norm() / exact.norm())
    worst = float((found - exact).abs().max() / exact.abs().max())
    parameters = sum(p.numel() for p in network.parameters())
    print(plan, flush=True)
    print(
        f"{name}: {len(x):,} x {len(x):,}, {parameters:,} parameters, {precision}: "
        f"{seconds:.1f} s, relative error {error:.1e} (largest entry {worst:.1e}), "
        f"peak {peak / 2**30:.1f} GiB",
        flush=True,
    )
    del gram
    torch.cuda.empty_cache()
    return {
        "network": name,
        "parameters": parameters,
        "samples": len(x),
        "precision": precision,
        "seconds": round(seconds, 2),
        "relative_error": error,
        "largest_entry_error": worst,
        "peak_gib": round(peak / 2**30, 2),
        "planned_gib": round(plan.expected / 2**30, 2),
        "planned_seconds": round(plan.seconds, 1),
    }


def main() -> int:
    """Measure what was asked for and write it down."""
    parser = options(__doc__)
    parser.add_argument("--n", type=int, default=60_000)
    parser.add_argument("--networks", default="MLP,LeNet5,ResNet18")
    arguments = parser.parse_args()
    if not torch.cuda.is_available():
        print("no CUDA device here: this benchmark measures a GPU; nothing was run")
        return 0
    x, source = images(arguments.n)
    rows = []
    rates = {str(d): matrix_rate(d) for d in (torch.bfloat16, torch.float32)}
    print({name: f"{2e-12 * rate:.0f} TFLOP/s" for name, rate in rates.items()}, flush=True)
    for name, (network, precision) in networks().items():
        if name in arguments.networks.split(","):
            rows.append(measure(name, network, precision, x.cuda()))
    record = {
        "images": source,
        "matrix_tflops": {name: round(2e-12 * rate, 1) for name, rate in rates.items()},
        "rows": rows,
    }
    save("gpu_gram", record, arguments.record)
    missed = [
        f"ResNet18: {row['seconds']} s, error {row['relative_error']:.1e} for {SECONDS} s, {ERROR}"
        for row in rows
        if row["network"] == "ResNet18"
        and (row["seconds"] > SECONDS or row["relative_error"] > ERROR)
    ]
    return judged(missed, arguments.record)


if __name__ == "__main__":
    sys.exit(main())
