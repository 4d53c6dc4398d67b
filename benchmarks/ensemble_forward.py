"""32 small networks: one after another against one call of a stacked ensemble.

Both sides are timed in turn, repeat by repeat, so that a busy machine slows both. Run it with

    python benchmarks/ensemble_forward.py

It prints the median and the best time of each side and the ratios of both. The bar is a ratio of
at least 5 for one hidden layer, on 2 cores that are otherwise idle: beside other work every
parallel operation waits for the slower of its two threads and the numbers mean little. The deep
softplus network is there to show where the gain ends: most of its time is arithmetic, which
stacking cannot save.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from regimes import nets

MEMBERS, D, WIDTH, N = 32, 10, 100, 100
BAR = 5.0
CASES: dict[str, dict[str, Any]] = {
    "ntk, relu": {"parametrization": "ntk"},
    "mean field, relu, biases": {"parametrization": "mean_field", "bias": True},
    "ntk, softplus_5, 3 hidden layers": {"depth": 3, "activation": "softplus_5"},
}


@dataclass(frozen=True)
class Timing:
    """Seconds per call, one entry per repeat."""

    one_by_one: tuple[float, ...]
    stacked: tuple[float, ...]

    def row(self, statistic: Callable[[tuple[float, ...]], float]) -> str:
        """Both times and how many times faster the stacked call is."""
        one_by_one, stacked = statistic(self.one_by_one), statistic(self.stacked)
        ratio = one_by_one / stacked
        return f"{one_by_one * 1e3:8.2f} ms{stacked * 1e3:8.2f} ms{ratio:7.1f}x"


def seconds(call: Callable[[], object], calls: int) -> float:
    """Mean time of a call."""
    start = time.perf_counter()
    for _ in range(calls):
        call()
    return (time.perf_counter() - start) / calls


def measure(
    dtype: torch.dtype, options: dict[str, Any], *, repeats: int = 15, calls: int = 10
) -> Timing:
    """Time the same outputs (32, n, 1) both ways, after checking that they are the same."""
    networks = [
        nets.FullyConnected(D, WIDTH, seed=seed, dtype=dtype, **options) for seed in range(MEMBERS)
    ]
    ensemble = nets.stack(networks)
    x = torch.randn(N, D, dtype=dtype, generator=torch.Generator().manual_seed(0))

    def one_by_one() -> Tensor:
        return torch.stack([network(x) for network in networks])

    def stacked() -> Tensor:
        return ensemble(x)

    with torch.no_grad():
        tolerance = 1e-12 if dtype == torch.float64 else 1e-5
        torch.testing.assert_close(one_by_one(), stacked(), rtol=tolerance, atol=tolerance)
        for call in (one_by_one, stacked):
            seconds(call, calls)  # warm up
        pairs = [(seconds(one_by_one, calls), seconds(stacked, calls)) for _ in range(repeats)]
    return Timing(*zip(*pairs, strict=True))


def main() -> None:
    """Print every case."""
    torch.set_num_threads(2)
    print(
        f"{MEMBERS} fully connected networks, d = {D}, h = {WIDTH}, n = {N}, "
        f"{torch.get_num_threads()} threads, torch {torch.__version__}; "
        f"bar: {BAR:g}x with one hidden layer"
    )
    head = f"{'one by one':>11s}{'one call':>11s}{'ratio':>8s}"
    print(f"{'':42s}{'median':^30s}  {'best':^30s}")
    print(f"{'':42s}{head}  {head}")
    for dtype in (torch.float32, torch.float64):
        for name, options in CASES.items():
            timing = measure(dtype, options)
            label = f"{str(dtype).removeprefix('torch.')}, {name}"
            print(f"{label:42s}{timing.row(statistics.median)}  {timing.row(min)}")


if __name__ == "__main__":
    main()
