"""Simple models that jam: the perceptron, linear regression, a student of a teacher."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from regimes.lab import Axis, Point, TrialResult, study
from regimes.studies.landscape.references import _linear, _student
from regimes.studies.landscape.references._sizes import SIZES

SEEDS = Axis("seed", stacked=True)


@study(
    "landscape/references",
    version=1,
    sizes=SIZES,
    axes={
        "labels": (Axis("labelled", unit="points"), SEEDS),
        "directions": (Axis("inputs"), SEEDS),
        "regression": (Axis("inputs"), SEEDS),
        "student": (Axis("width", unit="neurons"), SEEDS),
    },
    units={"error": "fraction", "early_error": "1"},
)
class References:
    """Where simpler models stop to fit, and what happens to their error and norm there.

    A perceptron fits random labels of up to two points a weight; with more and more useless inputs
    its error grows again. The weights of least squares are largest when there are as many as
    points. A small network that learns a noisy teacher has its largest error there too, unless it
    stops early.

    The papers: [Spigler 2019, secs. 1.2 and 4], [Geiger 2020b, sec. 6].
    """

    @staticmethod
    def trial(params: Any, point: Point) -> TrialResult:
        """All seeds of one place of a block."""
        made: dict[str, Callable[[Any, Point], TrialResult]] = {
            "labels": _linear.labels,
            "directions": _linear.directions,
            "regression": _linear.regression,
            "student": _student.student,
        }
        return made[point.block](params, point)

    @staticmethod
    def cost(params: Any, point: Point) -> float:
        """Students take almost all of the time."""
        return 1e3 * (10 + point.width) if point.block == "student" else 1.0
