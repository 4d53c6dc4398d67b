"""Verdicts on the advantage of networks against the number of images."""

from __future__ import annotations

from functools import partial

import numpy as np

from regimes.lab import Data, judge
from regimes.studies.linearization._judging import settings, spearman

SIZES = (128, 256, 512, 1024, 1500)  # on digits
RATIO = 1.3  # of the errors at the largest

claim = judge.Claims()


def _values(own: Data, where: str, *names: str) -> tuple[list[int], list[np.ndarray]]:
    """Sizes, and each variable (seeds, sizes)."""
    sizes = [int(n) for n in own.n_train.values]
    if where.startswith("digits") and sizes != list(SIZES):
        raise judge.Missing(f"sizes {SIZES} are judged, {sizes} ran")
    if len(sizes) < 3:
        raise judge.Missing(f"a trend needs three sizes, {sizes} ran")
    return sizes, [own[name].transpose("seed", "n_train").values for name in names]


def _ratios(errors: np.ndarray) -> np.ndarray:
    """Error of linearisations over that of networks, of means over draws (draws, models, sizes)."""
    mean = errors.mean(0)
    return np.asarray(mean[0] / np.maximum(mean[1], 1e-9))


def _rank(sizes: list[int], errors: np.ndarray) -> float:
    return spearman(sizes, _ratios(errors))


@claim(
    "LIN-17", "error of linearisation / of network grows, rank correlation >= 0.8, to 1.3 or more"
)
def advantage_grows(dataset: Data) -> judge.Parts:
    told = []
    for where, own in settings(dataset, "accuracy_linear", "accuracy_network"):
        sizes, values = _values(own, where, "accuracy_linear", "accuracy_network")
        errors = 1 - np.stack(values, 1)  # (seeds, models, sizes)

        rank = judge.resampled(errors, partial(_rank, sizes))
        yield judge.above(f"{where}: rank correlation of size and ratio of errors", rank, 0.8)
        if where.startswith("digits"):
            last = judge.resampled(errors, lambda drawn: float(_ratios(drawn)[-1]))
            yield judge.above(f"{where}: ratio at {sizes[-1]} images", last, RATIO)
        each = " ".join(f"{r:.3g}" for r in _ratios(errors))
        told.append(f"{where} ratios {each} at {sizes} images, {len(errors)} seeds")
    return "; ".join(told)


@claim("LIN-18", "both models move farther with more images, at every step")
def distance_grows(dataset: Data) -> judge.Parts:
    for where, own in settings(dataset, "distance_linear", "distance_network"):
        names = ("distance_network", "distance_linear")
        values = _values(own, where, *names)[1]
        for name, distance in zip(names, values, strict=True):
            steps = np.diff(distance, axis=1)
            least = int(steps.mean(0).argmin())
            found = judge.mean_of(steps[:, least])
            model = name.removeprefix("distance_")
            yield judge.above(f"{where}: least step of the distance of the {model}", found, 0.0)
        told = ", ".join(
            f"{n.removeprefix('distance_')} " + " ".join(f"{v:.3g}" for v in d.mean(0))
            for n, d in zip(names, values, strict=True)
        )
    return told
