"""What the paper takes for granted, each identity and each cost measured by itself.

Files go by what the blocks are about: identities of linear models and alignments (`_identities`),
how near the linearisation stays to its network (`_nearness`), what Grams cost (`_cost`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from regimes.lab import Axis, Point, TrialResult, collect_blocks, study
from regimes.studies.linearization.foundations import _cost, _identities, _nearness

TRIALS: dict[str, Callable[[Any, Point], TrialResult]] = {
    "identities": _identities.identities,
    "mixed": _identities.mixed,
    "width": _nearness.width,
    "later": _nearness.later,
    "cost": _cost.cost,
}
SMOKE = {
    "identities": _identities.Identities(),
    "mixed": _identities.Mixed(),
    "width": _nearness.Width(),
    "later": _nearness.Later(),
    "cost": _cost.Cost(),
}
CPU = {
    "identities": _identities.Identities(points=1797, modes=100, seed=(0, 1, 2)),
    "mixed": _identities.Mixed(points=200_000, seed=(0, 1, 2, 3, 4)),
    "width": _nearness.Width(widths=(32, 128, 512), points=200, steps=100, seed=tuple(range(12))),
    "later": _nearness.Later(
        n_train=1500, n_test=297, before=(0, 11, 55, 220), steps=300, seed=tuple(range(20))
    ),
    "cost": _cost.Cost(
        points=(500, 1000, 2000),
        larger=(2000, 4000, 8000),
        side=32,
        channels=3,
        repeats=5,
        epochs=100,
    ),
}


@study(
    "linearization/foundations",
    version=1,
    sizes={"smoke": SMOKE, "cpu": CPU},
    axes={block: [Axis("seed", stacked=True)] for block in TRIALS},
    units={"cost_seconds": "s", "cost_training": "s"},
)
class Foundations:
    """Linear models, alignments and mixed derivatives as the theory has them, and their price.

    The linear model is the first order of the network, more so for wide networks and later in
    training; alignments need no Gram, and bound norms; mixed derivatives give the alignment of
    linear predictors; the cost of a Gram is quadratic in points and outputs.

    The paper: [Ortiz-Jimenez 2021, secs. 2 to 4, apps. A, B and D].
    """

    @staticmethod
    def trial(params: Any, point: Point) -> TrialResult:
        """One block."""
        return TRIALS[point.block](params, point)

    summarise = staticmethod(collect_blocks)
