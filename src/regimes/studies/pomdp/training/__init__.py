"""Flows of policies from starts with more and with less structure [Geiger 2022, figs. 2 and 4]."""

from __future__ import annotations

from typing import Any

from regimes.lab import Axis, Point, TrialResult, study
from regimes.studies.pomdp.training import _flows as flows
from regimes.studies.pomdp.training._curves import LINES, PANELS
from regimes.studies.pomdp.training._sizes import SIZES

FLOW = ["memory", "init", Axis("gap"), Axis("reset"), Axis("seed", stacked=True)]


@study(
    "pomdp/training",
    version=1,
    sizes=SIZES,
    axes={
        **dict.fromkeys((*PANELS, *LINES, "found"), FLOW),
        "strict": ["memory", "reset", "rotation"],
        "bound": [],
    },
    watch={"least_q": "min"},
)
class Training:
    """Policies that climb their reward, from starts with more and with less structure.

    A memory that may be rewritten freely has the better optimum and hardly finds it; one that only
    keeps the last plays is found its way from anywhere, and ends better than the free one of the
    same size. The best column of confidence is where a run that starts beside it stays.

    The paper: [Geiger 2022, sec. 5, figs. 2 and 4].
    """

    @staticmethod
    def trial(params: Any, point: Point) -> TrialResult:
        """One memory from one start, all seeds side by side."""
        if point.block == "bound":
            return flows.bound()
        return flows.strict(point) if point.block == "strict" else flows.flow(params, point)

    @staticmethod
    def cost(params: Any, point: Point) -> float:
        """Steps of all members, each a solve of its plays."""
        return flows.cost(params, point)
