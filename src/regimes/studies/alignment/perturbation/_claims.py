"""Verdicts on directions in parameter space."""

from __future__ import annotations

import numpy as np

from regimes.lab import Data, judge

SMALL = "rate_0.001"

claim = judge.Claims()


@claim("ALI-25", "the first direction moves f 20 times more than random ones do, as is predicted")
def _directions(dataset: Data) -> judge.Parts:
    at = judge.where_ran(dataset, "seed", SMALL)
    rates, linear = (at[name].transpose("seed", "direction").values for name in (SMALL, "linear"))
    top = int(at.directions.values[0])
    ratio = rates[:, 0] / np.median(rates[:, top:], axis=1)
    yield judge.above("response, first / median of random", judge.log_mean(ratio), 20.0)
    off = np.abs(rates[:, :top] / linear[:, :top] - 1).max(1)
    yield judge.below("linear prediction of the top ones, largest error", judge.mean_of(off), 0.02)
    square = (linear[:, top:] ** 2).mean(1) / at.mean_square.values
    yield judge.within(
        "mean square over random / Tr K per parameter", judge.mean_of(square), 0.75, 1.25
    )
    return f"{top} top and {rates.shape[1] - top} random directions; {len(rates)} seeds"
