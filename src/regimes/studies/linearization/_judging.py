"""What the judges of the theme share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from regimes.lab import Data, judge


def settings(dataset: Data, *names: str, optimiser: str = "momentum") -> Iterator[tuple[str, Data]]:
    """Every kind of images and network that ran with these variables, named and selected.

    Raises:
        Missing: none did.
    """
    if "optimiser" in dataset.coords:
        dataset = judge.need(dataset, optimiser=optimiser)
    judge.need(dataset, *names)
    for images in dataset.images.values:
        for network in dataset.network.values:
            own = dataset.sel(images=images, network=network)
            if all(bool(own[name].notnull().any()) for name in names):
                own = own.dropna("seed", how="all", subset=list(names))
                yield f"{images} {network}", own


def at_index(own: Data, name: str, indices: Sequence[int]) -> np.ndarray:
    """Values (seeds, indices) at these indices.

    Raises:
        Missing: one of them has not run.
    """
    there = own.index.values.tolist()
    lacking = [j for j in indices if j not in there]
    if lacking:
        raise judge.Missing(f"index {lacking} was not run, only {there}")
    return np.asarray(own[name].sel(index=list(indices)).transpose("seed", "index").values)


def trend(own: Data, name: str, indices: Sequence[int]) -> judge.Measured:
    """Spearman's rank correlation of the index with the mean over seeds, seeds drawn again."""
    values = at_index(own, name, indices)
    return judge.resampled(values, lambda drawn: spearman(indices, drawn.mean(0)))


def spearman(x: Any, y: Any) -> float:
    """Rank correlation; 0 where one of them does not vary.

    >>> spearman([1, 2, 3], [4.0, 9.0, 11.0])
    1.0
    """
    from scipy.stats import rankdata

    a, b = rankdata(x), rankdata(y)
    a, b = a - a.mean(), b - b.mean()
    scale = float(np.sqrt((a * a).sum() * (b * b).sum()))
    return float((a * b).sum() / scale) if scale else 0.0


def leads(dataset: Data, digits: Sequence[int]) -> Iterator[judge.Part]:
    """How far the linearisation is ahead, on digits at these indices, else at all from 20 on."""
    names = ("accuracy_linear", "accuracy_network")
    for where, own in settings(dataset, *names):
        indices = digits if where.startswith("digits") else ran_indices(own, 20, 10**6)
        for j in indices:
            linear, network = (at_index(own, name, [j]) for name in names)
            told = f"{where}: lead of the linearisation at j = {j}"
            yield judge.within(told, judge.mean_of(linear - network))


def ran_indices(own: Data, low: int, high: int) -> list[int]:
    """The indices between two that have run."""
    return [int(j) for j in own.index.values if low <= j <= high]
