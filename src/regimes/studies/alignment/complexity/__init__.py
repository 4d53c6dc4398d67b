"""Complexity of the learning path beside measures of capacity [Baratin 2021, fig. 6]."""

from __future__ import annotations

from typing import Any

from regimes.lab import Point, TrialResult, study
from regimes.studies.alignment.complexity import _sizes, _trials


@study(
    "alignment/complexity",
    version=1,
    dtype="float32",
    sizes=_sizes.SIZES,
    axes={
        "width": ["width", "seed"],
        "corruption": ["corruption", "seed"],
        "channels": ["base", "seed"],
    },
)
class Complexity:
    """What follows the generalisation gap: the path's complexity, and norms of the weights.

    Networks with one hidden layer of several widths, one width with more and more random labels,
    and a convolutional network of several widths are trained to a cross-entropy of 0.01. Along the
    way every step of the parameters is weighted by the size of the tangent features.

    The paper: [Baratin 2021, sec. 4.2, fig. 6].
    """

    @staticmethod
    def trial(params: Any, point: Point) -> TrialResult:
        """One training run to its end, and what it comes to."""
        return _trials.trial(params, point)

    @staticmethod
    def cost(params: Any, point: Point) -> float:
        """Steps, which random labels need more of."""
        return _trials.cost(params, point)
