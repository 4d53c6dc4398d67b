"""Verdicts on the modes of random networks on a line."""

from __future__ import annotations

import numpy as np

from regimes.lab import Data, judge

HALF = 25  # ranks that are aligned best

claim = judge.Claims()


def _ordered(at: Data, name: str, count: int | None) -> np.ndarray:
    """Rank correlation of rank and peak frequency, by seed."""
    from scipy.stats import spearmanr

    peaks = at[name].transpose("seed", "rank").values[:, :count]
    ranks = np.arange(peaks.shape[1])
    return np.array([spearmanr(ranks, row).statistic for row in peaks])


@claim("ALI-05", "rank correlation of rank and frequency >= 0.85 each seed, median >= 0.93")
def _frequencies(dataset: Data) -> judge.Parts:
    at = judge.need(dataset, "peak_centred", "peak_plain", init="torch_default")
    first = _ordered(at, "peak_centred", HALF)
    yield judge.above(f"median over ranks 1 to {HALF}", judge.median_of(first), 0.93)
    yield judge.above(f"least over ranks 1 to {HALF}", float(first.min()), 0.85)
    every = judge.median_of(_ordered(at, "peak_plain", None))
    yield judge.above("median over all ranks, not centred", every, 0.85)
    return f"{first.min():.3f} to {first.max():.3f}; {len(first)} seeds"


@claim("ALI-06", "tenth eigenvalue 2 to 9 per mille of the first")
def _decay(dataset: Data) -> judge.Parts:
    at = judge.need(dataset, "values_centred", init="kaiming_biases")
    if at.sizes["rank"] < 10:
        raise judge.Missing("fewer than ten eigenvalues")
    ratio = 1e3 * (at.values_centred.isel(rank=9) / at.values_centred.isel(rank=0)).values
    yield judge.within("per mille, median", judge.median_of(ratio), 2.0, 9.0)
    others = []
    for init in dataset.init.values:
        for name in ("centred", "plain"):
            values = dataset.sel(init=init)[f"values_{name}"]
            share = 1e3 * np.median(values.isel(rank=9) / values.isel(rank=0))
            others.append(f"{init}, {name} {share:.2g}")
    return f"{len(ratio)} seeds; {'; '.join(others)}"
