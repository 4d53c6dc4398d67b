"""The ground the theory of compression stands on, check by check.

Checks without training are in `_formulas`, those of one neuron on infinitely many points in
`_neurons`, those that train networks in `_training`, each beside its parameters.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from regimes.lab import Axis, Point, TrialResult, collect_blocks, study
from regimes.studies.compression.foundations import _formulas as formulas
from regimes.studies.compression.foundations import _neurons as neurons
from regimes.studies.compression.foundations import _training as training
from regimes.studies.compression.foundations._former import formerly
from regimes.studies.compression.foundations._sizes import SIZES

CHECKS: dict[str, Callable[[Any, Point], TrialResult]] = {
    "balance": formulas.balance,
    "conservation": training.conservation,
    "gradient": training.gradient,
    "drift": neurons.drift,
    "attractors": neurons.attractors,
    "divergence": neurons.divergence,
    "kernel-split": formulas.kernel_split,
    "rotation": training.rotation,
    "information": formulas.information,
    "exponents": formulas.exponents,
}
EXACT = ("attractors", "exponents")  # nothing is drawn at random


@study(
    "compression/foundations",
    version=2,
    sizes=SIZES,
    axes={check: [] if check in EXACT else [Axis("seed", stacked=True)] for check in CHECKS},
    units={"perpendicular_rate": "1/tau", "information": "bits"},
    renamed={"check": "block"},
)
class Foundations:
    """Formulas that everything else rests on, each measured by a computation of its own.

    Balanced labels, the quantity that each neuron conserves, the drift of a neuron on infinitely
    many points and where it leads, the split of the tangent kernel, invariance under rotations,
    and the known faults of an estimator.

    The paper: [Paccolat 2021, secs. 2 and 3, apps. A, C, D and E].
    """

    @staticmethod
    def trial(params: Any, point: Point) -> TrialResult:
        """One check, with parameters of its own class."""
        return CHECKS[point.block](params, point)

    summarise = staticmethod(collect_blocks)
    formerly = staticmethod(formerly)
