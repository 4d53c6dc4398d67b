"""What each way of contracting a layer costs, and which is cheapest.

Counts are multiply-adds and bytes. They are turned into time with
round figures for the kind of machine, good enough to order the choices; `measured_rates` replaces
them where a time is shown to the user.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cache

import torch

from regimes.tangent.contraction import Strategy
from regimes.tangent.structure import KnownSite


@dataclass(frozen=True)
class Rates:
    """Multiply-adds per second of matrix products, and bytes per second of everything else."""

    products: float
    bytes: float


def typical_rates(device: torch.device, dtype: torch.dtype) -> Rates:
    """Round figures: a two-core CPU, or a current data-centre GPU."""
    if device.type == "cpu":
        return Rates(2.5e10 if dtype == torch.float64 else 5e10, 8e9)
    products = {torch.float64: 2.5e13, torch.bfloat16: 3.5e14}.get(dtype, 2.2e13)
    return Rates(products, 3e12)


@cache
def measured_rates(device: torch.device, dtype: torch.dtype) -> Rates:
    """Rates of this machine, from one matrix product and one copy of a few megabytes."""
    size = 1024 if device.type == "cpu" else 4096
    a = torch.ones(size, size, device=device, dtype=dtype)
    product = min(_seconds(lambda: a @ a, device) for _ in range(3))
    copy = min(_seconds(lambda: a + a, device) for _ in range(3))
    return Rates(size**3 / product, 3 * a.numel() * a.element_size() / copy)


def _seconds(work: object, device: torch.device) -> float:
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    start = time.perf_counter()
    work()  # type: ignore[operator]
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return time.perf_counter() - start


@dataclass(frozen=True)
class Work:
    """Multiply-adds and bytes moved."""

    products: float
    bytes: float

    def seconds(self, rates: Rates) -> float:
        """Time if neither overlaps the other."""
        return self.products / rates.products + self.bytes / rates.bytes


@dataclass(frozen=True)
class GramSize:
    """Size of a Gram: rows, columns, outputs differentiated, and whether half of it is enough."""

    rows: int
    columns: int
    outputs: int
    output_pairs: int  # pairs of outputs contracted for every pair of samples
    same: bool

    @property
    def pairs(self) -> float:
        """Sample pairs to compute."""
        return self.rows * self.columns * (0.5 if self.same else 1.0)

    @property
    def samples(self) -> int:
        """Samples to differentiate."""
        return self.rows if self.same else self.rows + self.columns


def pairs_work(site: KnownSite, gram: GramSize, itemsize: int) -> Work:
    """Cost of contracting position by position."""
    p, _ = _sides(site)
    right, more = site.pairing
    t2 = site.positions**2
    outputs = gram.output_pairs
    # several positions are multiplied and summed in memory: about five passes over the pairs,
    # which are kept in float32 at least
    passes = (1 + outputs) * (2 if t2 == 1 else 5) + more
    moved = gram.pairs * t2 * max(4, itemsize) * passes
    return Work(gram.pairs * t2 * (right + outputs * p), moved)


def expand_work(site: KnownSite, gram: GramSize, itemsize: int) -> Work:
    """Cost of writing the gradients out and multiplying them."""
    p, q = _sides(site)
    write = gram.samples * gram.outputs * p * q
    unfold = gram.samples * site.positions * q
    return Work(
        write * site.positions + gram.pairs * gram.output_pairs * p * q,
        (2 * write + 2 * unfold + gram.pairs * gram.output_pairs) * itemsize,
    )


def pixels_work(site: KnownSite, gram: GramSize, itemsize: int) -> Work:
    """Cost of pairing single pixels and contracting them in one pass."""
    if site.pixels is None:
        raise ValueError(f"site {site.signature} has no pixels that can be paired")
    p, _ = _sides(site)
    entries, channels = site.pixels
    positions = gram.output_pairs * site.positions**2
    # written by the products and read once; what a pass shifts is read again from the caches
    moved = gram.pairs * (entries + positions) * itemsize * 3
    return Work(gram.pairs * (entries * channels + positions * p), moved)


def choose_strategy(
    site: KnownSite, gram: GramSize, rates: Rates, itemsize: int, fused: bool
) -> Strategy:
    """The cheapest of PAIRS, EXPAND and, where it is done in one pass, PIXELS for one site."""
    ways = {Strategy.PAIRS: pairs_work, Strategy.EXPAND: expand_work}
    if fused and site.pixels is not None:
        ways[Strategy.PIXELS] = pixels_work
    return min(ways, key=lambda way: ways[way](site, gram, itemsize).seconds(rates))


def stored_elements(site: KnownSite, outputs: int) -> tuple[int, int]:
    """Numbers kept per sample as factors, and as written-out gradients."""
    p, q = _sides(site)
    return site.input_elements + outputs * site.gradient_elements, outputs * p * q


def _sides(site: KnownSite) -> tuple[int, int]:
    if site.sides is None:
        raise ValueError(f"site {site.signature} is not a product of factors")
    return site.sides
