"""Verdicts on the exponents of classification."""

from __future__ import annotations

import numpy as np

from regimes.lab import Data, judge

claim = judge.Claims()

FULL_FROM = 8192  # training points from which the last decade is fitted, as in the paper
EXPECTED = {"laplace": (0.42, 0.08), "gaussian": (0.54, 0.1)}


@claim("KER-03", "MNIST: 0.42 +- 0.08 (Laplace), 0.54 +- 0.1 (Gauss), not below regression")
def _exponents(dataset: Data) -> judge.Parts:
    gaps = []
    for kernel, (middle, tolerance) in EXPECTED.items():
        here = judge.where_ran(dataset, "seed", "error", task="mnist", kernel=kernel)
        if not {128, 2048} <= set(here["size"].values.tolist()):
            raise judge.Missing("needs MNIST from n = 128 to 2048")
        error = here.error.dropna("size", how="all").transpose("seed", "size")
        last = int(error["size"].max())
        first = window(last)
        here = here.sel(size=error["size"])
        chosen = (here["size"] >= first).values
        found = judge.power_law(error, "size", (first, last), center="mean")
        yield judge.near(kernel, (-found.exponent, found.error), middle, tolerance)
        x = np.log(here["size"].values[chosen].astype(float))
        both = np.stack([error.values, here.mse.transpose("seed", "size").values], 1)

        def gap(drawn: np.ndarray, x: np.ndarray = x, chosen: np.ndarray = chosen) -> float:
            slopes = np.polyfit(x, np.log(drawn.mean(0)[:, chosen]).T, 1)[0]
            return float(slopes[1] - slopes[0])

        gaps.append(
            judge.above(f"{kernel}, above regression by", judge.resampled(both, gap), -0.05)
        )
    yield from gaps
    missed = float(np.nanmax(judge.need(dataset, "violation").violation.values))
    return (
        f"n = {first:g} to {last}, {error.sizes['seed']} draws; conditions of optimality missed by "
        f"at most {missed:.1e}; {_photographs(dataset)}"
    )


def window(last: int) -> float:
    """Smallest size that is fitted: 128, and of large scans the last decade."""
    return last / 10 if last >= FULL_FROM else 128


def _photographs(dataset: Data) -> str:
    """Exponents on CIFAR-10, where the ledger has no window at this size."""
    told = []
    for kernel in EXPECTED:
        here = judge.where_ran(dataset, "seed", "error", task="cifar10", kernel=kernel)
        error = here.error.dropna("size", how="all")
        found = judge.power_law(error, "size", (512, 1e9), center="mean")
        told.append(f"{kernel} {-found.exponent:.3f} +- {found.error:.3f}")
    return f"CIFAR-10 from n = 512: {', '.join(told)}"
