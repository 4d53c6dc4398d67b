"""Words that turn: how rarely a player with nothing but its last plays picks the worse arm."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from regimes.lab import Axis, Point, TrialResult, collect_blocks, study
from regimes.studies.pomdp.necklaces import _policies as policies
from regimes.studies.pomdp.necklaces import _words as words

CHECKS: dict[str, Callable[[Any, Point], TrialResult]] = {
    "count": words.count,
    "chains": words.chains,
    "table": words.table,
    "plays": words.plays,
    "limit": policies.limit,
    "exits": policies.exits,
    "arms": policies.arms,
}
SMOKE: dict[str, Any] = {
    "count": words.Count(longest=6),
    "chains": words.Chains(depths=(2, 3, 4, 5)),
    "table": words.Table(),
    "plays": words.Plays(players=2000, seed=(0, 1)),
    "limit": policies.Limit(depths=(3, 4)),
    "exits": policies.Exits(pairs=2),
    "arms": policies.Pair(),
}
CPU = {
    **SMOKE,
    "count": words.Count(),
    "chains": words.Chains(),
    "plays": words.Plays(),
    "exits": policies.Exits(),
}
PAPER = {
    **CPU,
    "count": words.Count(longest=20),
    "limit": policies.Limit(depths=(3, 4, 5), eps1=1e-4, eps0=1e-10),
}


@study(
    "pomdp/necklaces",
    version=1,
    sizes={"smoke": SMOKE, "cpu": CPU, "paper": PAPER},
    axes={check: [Axis("seed", stacked=True)] if check == "plays" else [] for check in CHECKS},
)
class Necklaces:
    """A player that remembers its last m arms and outcomes writes its memory with its plays.

    Playing the oldest arm again turns the word of arms and keeps its necklace; rare, well-informed
    exceptions lead along a chain of necklaces, a scale of confidence whose length grows as 2^m/m.
    The worse arm is then played with a probability that is exponentially small in 2^m.

    The paper: [Geiger 2022, sec. 4, fig. 3, table 1, app. D].
    """

    @staticmethod
    def trial(params: Any, point: Point) -> TrialResult:
        """One check, with parameters of its own class."""
        return CHECKS[point.block](params, point)

    summarise = staticmethod(collect_blocks)
