"""Lines and columns of a RAM: how rarely they play the worse arm, and when to leave the top.

The chains that are solved are in `_chains`, the best exits and lines of figure 2 in `_exits`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from regimes.lab import Axis, Point, TrialResult, collect_blocks, study
from regimes.studies.pomdp.columns import _chains as chains
from regimes.studies.pomdp.columns import _exits as exits

CHECKS: dict[str, Callable[[Any, Point], TrialResult]] = {
    "linear": chains.linear,
    "ratios": chains.ratios,
    "column": chains.column,
    "arms": chains.arms,
    "scheme": chains.scheme,
    "exits": exits.best_exits,
    "lines": exits.lines,
}
SMOKE: dict[str, Any] = {
    "linear": chains.Linear(states=(2, 3), gaps=(0.3,)),
    "ratios": chains.Ratios(seed=tuple(range(30))),
    "column": chains.Column(states=(2, 3), gaps=(0.2,)),
    "arms": chains.Pairs(),
    "scheme": chains.Scheme(),
    "exits": exits.Exits(),
    "lines": exits.Lines(),
}
CPU = {
    **SMOKE,
    "linear": chains.Linear(),
    "ratios": chains.Ratios(),
    "column": chains.Column(),
}


@study(
    "pomdp/columns",
    version=1,
    sizes={
        "smoke": SMOKE,
        "cpu": CPU,
        "paper": {**CPU, "ratios": replace(CPU["ratios"], seed=tuple(range(3000)))},
    },
    axes={check: [Axis("seed", stacked=True)] if check == "ratios" else [] for check in CHECKS},
)
class Columns:
    """A memory that can be written freely, used as a line or as two columns of confidence.

    With M states a player that chooses its arm by memory alone errs about alpha^(M-1) of the time
    at best; one that also sees its last arm makes two columns of the same states and doubles the
    line. The rarer the resets, the more rarely it should leave the top: as their root.

    The paper: [Geiger 2022, sec. 3, figs. 1 and 2, app. C and D.4].
    """

    @staticmethod
    def trial(params: Any, point: Point) -> TrialResult:
        """One check, with parameters of its own class."""
        return CHECKS[point.block](params, point)

    summarise = staticmethod(collect_blocks)
