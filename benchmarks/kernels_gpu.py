"""Regression on 50,000 images of MNIST, and kernel PCA of 20,000, on one GPU in float64.

Both are timed from the images on the card to the numbers, after a small one that warms up. The
regression is a Gram, its Cholesky factor, the weights and 5,000 test points, with the residual and
the condition number; the kernel PCA is every eigenpair with its residual. Needs REGIMES_DATA or the
downloaded files; `--n` and `--pca` make both smaller for a try on a CPU.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import torch
from _machine import judged, options, save
from torch import Tensor

import regimes as rg
from regimes.studies.kernels._pixels import pixels

BARS = {"regression": 30.0, "pca": 120.0}  # seconds
N_TEST = 5000


def synchronised(device: str) -> float:
    """The time, when all that was asked of the card is done."""
    if device == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter()


def regress(x: Tensor, y: Tensor, n: int, device: str) -> dict[str, Any]:
    """Interpolate n images, and test on others."""
    start = synchronised(device)
    kernel = rg.kernels.Laplace(1000.0)
    K = kernel(x[:n])
    made = synchronised(device)
    found = rg.kernels.regression(K, y[:n])
    solved = synchronised(device)
    error = found.predict(kernel(x[n : n + N_TEST], x[:n])) - y[n : n + N_TEST]
    mse = float(error.square().mean())
    end = synchronised(device)
    return {
        "n": n,
        "gram_seconds": round(made - start, 3),
        "solve_seconds": round(solved - made, 3),
        "seconds": round(end - start, 3),
        "mse": mse,
        "residual": found.residual,
        "condition": found.condition,
        "method": found.method,
    }


def components(x: Tensor, n: int, device: str) -> dict[str, Any]:
    """All eigenpairs of a Gram of n images."""
    start = synchronised(device)
    pca = rg.measure.kernel_pca(rg.kernels.Laplace(1000.0)(x[:n]))
    end = synchronised(device)
    return {"n": n, "seconds": round(end - start, 3), "largest": float(pca.values[0])}


def main() -> int:
    """Print and keep the times; the exit status counts bars that were missed."""
    parser = options(__doc__)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--n", type=int, default=50_000)
    parser.add_argument("--pca", type=int, default=20_000)
    chosen = parser.parse_args()
    x, y = pixels("mnist")
    order = torch.randperm(len(x), generator=torch.Generator().manual_seed(0))
    x, y = x[order].to(chosen.device), y[order].double().to(chosen.device)
    regress(x, y, 2000, chosen.device)
    components(x, 1000, chosen.device)
    record: dict[str, Any] = {"bars": BARS}
    record["regression"] = regress(x, y, chosen.n, chosen.device)
    print(record["regression"], flush=True)
    if chosen.device == "cuda":
        record["regression"]["peak_gib"] = round(torch.cuda.max_memory_allocated() / 2**30, 1)
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
    record["pca"] = components(x, chosen.pca, chosen.device)
    if chosen.device == "cuda":
        record["pca"]["peak_gib"] = round(torch.cuda.max_memory_allocated() / 2**30, 1)
    print(record["pca"], flush=True)
    record["missed"] = [name for name, bar in BARS.items() if record[name]["seconds"] > bar]
    save("kernels_gpu", record, chosen.record)
    return judged(record["missed"], chosen.record)


if __name__ == "__main__":
    sys.exit(main())
