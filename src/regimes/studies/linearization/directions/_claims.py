"""Verdicts on anisotropy directions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from regimes.lab import Data, judge
from regimes.studies.linearization._judging import at_index, ran_indices

SMALL = (0, 10, 20, 50, 100, 140)  # indices on images of 12 x 12 pixels
FALL = 0.03  # what an accuracy may rise by along them

claim = judge.Claims()


def _networks(dataset: Data, *names: str) -> Iterator[tuple[str, Data]]:
    judge.need(dataset, *names)
    for network in dataset.network.values:
        own = dataset.sel(network=network)
        if all(bool(own[name].notnull().any()) for name in names):
            yield str(network), own.dropna("seed", how="all", subset=list(names))


def _small(own: Data) -> bool:
    return bool(own.sizes["direction"] == 144)


@claim(
    "LIN-12", "accuracy >= 0.97 along the first, <= 0.6 along the 100th, not rising by 0.03 between"
)
def difficulty(dataset: Data) -> judge.Parts:
    for where, own in _networks(dataset, "accuracy_network"):
        indices = list(SMALL) if _small(own) else ran_indices(own, 0, 10**6)
        values = at_index(own, "accuracy_network", indices)
        if _small(own):
            yield judge.above(
                f"{where}: accuracy along the first", judge.mean_of(values[:, 0]), 0.97
            )
            low = judge.mean_of(values[:, indices.index(100)])
            yield judge.below(f"{where}: along number 100", low, 0.6)
        rises = np.diff(values, axis=1)
        most = int(rises.mean(0).argmax())
        yield judge.below(f"{where}: largest rise along them", judge.mean_of(rises[:, most]), FALL)
    return "accuracies " + " ".join(f"{v:.3f}" for v in values.mean(0)) + f" at {indices}"


@claim("LIN-13", "the predicted alignment falls 100-fold from the first to number 100")
def decay(dataset: Data) -> judge.Parts:
    for where, own in _networks(dataset, "alignment"):
        ratio = own.alignment.isel(direction=0) / own.alignment.isel(direction=100)
        yield judge.above(
            f"{where}: alignment of the first / of number 100", judge.log_mean(ratio), 100
        )
    return None


@claim("LIN-14", "networks ahead by 0.1 at 2, 5, 10 and 20 in the mean, nowhere behind by 0.02")
def networks_win(dataset: Data) -> judge.Parts:
    for where, own in _networks(dataset, "accuracy_network", "accuracy_linear"):
        every = ran_indices(own, 0, 10**6)
        lead = at_index(own, "accuracy_network", every) - at_index(own, "accuracy_linear", every)
        first = [2, 5, 10, 20] if _small(own) else ran_indices(own, 2, 100)
        at_index(own, "accuracy_network", first)
        places = [every.index(j) for j in first]
        yield judge.above(
            f"{where}: mean lead at {first}", judge.mean_of(lead[:, places].mean(1)), 0.1
        )
        least = int(lead.mean(0).argmin())
        found = judge.mean_of(lead[:, least])
        yield judge.above(f"{where}: least lead, at {every[least]}", found, -0.02)
    return "leads " + " ".join(f"{v:.3f}" for v in lead.mean(0)) + f" at {every}"


@claim("LIN-15", "directions at zero and of an average over inputs share 0.6 of the first subspace")
def average(dataset: Data) -> judge.Parts:
    for where, own in _networks(dataset, "overlap"):
        size = 5 if _small(own) else 20
        found = judge.mean_of(own.overlap.sel(subspace=size))
        yield judge.above(f"{where}: mean squared cosine of the first {size}", found, 0.6)
    return ", ".join(
        f"{float(o):.3f} of the first {int(k)}"
        for k, o in zip(own.subspace, own.overlap.mean("seed"), strict=True)
    )


@claim("LIN-16", "frequency of the first five at most half that of the last twenty")
def smooth(dataset: Data) -> judge.Parts:
    for where, own in _networks(dataset, "frequency"):
        first, last = (
            own.frequency[..., :5].mean("direction"),
            own.frequency[..., -20:].mean("direction"),
        )
        yield judge.below(
            f"{where}: frequency of the first / of the last", judge.mean_of(first / last), 0.5
        )
    return f"{float(first.mean()):.3f} and {float(last.mean()):.3f} cycles a pixel"
