"""Test error against the number of parameters [Spigler 2019, sec. 4], [Geiger 2020b]."""

from __future__ import annotations

from regimes.lab import Axis, Point, TrialResult, study
from regimes.studies.landscape.double_descent import _trial
from regimes.studies.landscape.double_descent._sizes import BLOCKS, SIZES, Scan


@study(
    "landscape/double-descent",
    version=1,
    sizes=SIZES,
    axes=dict.fromkeys(BLOCKS, (Axis("width", unit="neurons"), Axis("seed", stacked=True))),
    units={"error": "fraction", "early_error": "fraction", "group_error": "fraction"},
    watch={"ensemble_error": "min"},
)
class DoubleDescent:
    """Narrow to wide networks on the parity of digits: the error peaks where they begin to fit.

    At the jamming transition N* the data can only just be fitted, and the output is large and
    differs from one initialisation to the next. Beyond it the networks of different seeds come
    closer as N^(-1/4), and their error falls with that. The mean of a few of them, or a run that
    stops early, has no peak.

    The papers: [Spigler 2019, sec. 4], [Geiger 2020b].
    """

    @staticmethod
    def trial(params: Scan, point: Point) -> TrialResult:
        """All seeds of one width, side by side."""
        return _trial.trial(params, point)

    @staticmethod
    def cost(params: Scan, point: Point) -> float:
        """Arithmetic of the steps; wide networks fit early."""
        return _trial.cost(params, point)
