"""What holds exactly for kernels, their modes, bounds and rescalings, each by two computations."""

from __future__ import annotations

from typing import Any

from regimes.lab import Axis, Point, TrialResult, collect_blocks, study
from regimes.studies.alignment.identities import _bounds, _kernels
from regimes.studies.alignment.identities._sizes import SIZES

CHECKS = {
    "spectra": _kernels.spectra,
    "rounding": _kernels.rounding,
    "step": _kernels.step,
    "regression": _kernels.regression,
    "layers": _kernels.layers,
    "aligned": _kernels.aligned,
    "linear": _bounds.linear,
    "flow": _bounds.flow,
    "classes": _bounds.classes,
    "rescaling": _bounds.rescaling,
    "supernat": _bounds.supernat,
}


@study(
    "alignment/identities",
    version=2,
    sizes=SIZES,
    axes={check: [Axis("seed", stacked=True)] for check in CHECKS},
)
class Identities:
    """Kernel and metric, modes of a step, layers, alignment, Rademacher bounds, best rescalings.

    The ground that the theme stands on, for random networks, kernels and features; a seed is a
    random problem.

    The paper: [Baratin 2021, secs. 2, 3.3 and 4, apps. A and B].
    """

    @staticmethod
    def trial(params: Any, point: Point) -> TrialResult:
        """One check for all seeds."""
        return CHECKS[point.block](params, point)

    summarise = staticmethod(collect_blocks)
