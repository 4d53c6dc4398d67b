"""Verdicts on how the stripe is fitted: COMP-32 and COMP-33."""

import numpy as np

from regimes.lab import Data, judge
from regimes.studies.compression._attractors import EDGES

STAGES = ("t*", "half fitted", "end")
BIN, MASS, BINS = 0.2, 0.9, 8  # COMP-33: so much of the amplitude in so many bins of this width

claim = judge.Claims()


@claim("COMP-32", "fitted points farther from the interfaces: ratio > 1")
def _order(dataset: Data) -> judge.Parts:
    ran = judge.need(dataset, "fitted_distance", "unfitted_distance")
    fitted, rest = ran.fitted_distance.values, ran.unfitted_distance.values
    yield judge.above("distance of fitted / other points", judge.mean_of(fitted / rest), 1.0)
    pairs = ", ".join(f"{a:.2f}/{b:.2f}" for a, b in zip(fitted, rest, strict=True))
    return (
        "mean |x_1 - nearest interface| of the points fitted at t* over that of the rest, "
        f"p={int(ran.n_train)}; by seed: {pairs}"
    )


@claim("COMP-33", "few places of neurons; the function changes sign at the interfaces")
def _places(dataset: Data) -> judge.Parts:
    ran = judge.need(dataset, "bins", "profile")
    tolerance = 0.05 if int(ran.n_train) < 10_000 else 0.02
    at_end, bins = ran.profile.isel(stage=-1).transpose("seed", "x1"), ran.bins.values
    crossings = [sign_changes(ran.x1.values, values) for values in at_end.values]
    farthest = max(
        np.abs(found - EDGES).max() if len(found) == 2 else np.inf for found in crossings
    )
    yield judge.below(f"bins with {MASS:.0%} of the amplitude, most of all runs", bins.max(), BINS)
    yield judge.below(
        "two sign changes, farthest of all runs from its interface", farthest, tolerance
    )
    shown = "; ".join(", ".join(f"{x:.3f}" for x in found) for found in crossings)
    return (
        f"bins of width {BIN} by seed: {', '.join(map(str, bins))}; F(x_1, 0) changes sign at "
        f"{shown} (interfaces {EDGES[0]:.3f}, {EDGES[1]:.3f}); p={int(ran.n_train)}, "
        f"h={int(ran.width)}, mean loss at the end {float(ran.end_loss.max()):.3g}"
    )


def sign_changes(x: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Where a function on a grid crosses zero, by straight lines between grid points.

    >>> sign_changes(np.array([0.0, 1.0, 2.0]), np.array([1.0, -1.0, -3.0])).tolist()
    [0.5]
    """
    at = np.flatnonzero(np.sign(values[1:]) * np.sign(values[:-1]) < 0)
    share = values[at] / (values[at] - values[at + 1])
    return x[at] + share * (x[at + 1] - x[at])
