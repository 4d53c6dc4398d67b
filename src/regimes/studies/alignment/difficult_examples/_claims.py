"""Verdicts on easy and difficult examples."""

from __future__ import annotations

from typing import Any

import numpy as np

from regimes.lab import Data, judge

DEPTH = 6  # at which kinds of difficult examples are judged
LATE = 1000  # step at which structured examples have become aligned

claim = judge.Claims()


class Runs:
    """Alignment of one kind at one depth, (seeds, points)."""

    def __init__(self, dataset: Data, kind: str, depth: int) -> None:
        at = judge.need(dataset, kind=kind, depth=depth)
        at = judge.where_ran(at, "seed", "alignment_easy").dropna(
            "point", how="all", subset=["steps"]
        )
        self.steps = np.asarray(at.steps.transpose("seed", "point").values[0], dtype=float)
        self.easy, self.difficult = (
            at[f"alignment_{part}"].transpose("seed", "point").values.astype(float)
            for part in ("easy", "difficult")
        )
        self.seeds = at.seed.values

    @property
    def ratio(self) -> Any:
        """Easy over difficult."""
        return self.easy / self.difficult

    @property
    def half_way(self) -> Any:
        """Where the easy ones first reach half their maximum, by seed."""
        return (self.easy >= self.easy.max(1, keepdims=True) / 2).argmax(1)

    def at_step(self, values: Any, step: float) -> Any:
        """Values at the observed step nearest to this one, by seed."""
        return values[:, np.abs(self.steps - step).argmin()]


@claim("ALI-21", "easy at least 2 times higher than difficult, 3 times at its own peak, and sooner")
def _easy_first(dataset: Data) -> judge.Parts:
    runs = Runs(dataset, "random", DEPTH)
    highest = runs.easy.max(1) / runs.difficult.max(1)
    yield judge.above("highest easy / highest difficult", judge.log_mean(highest), 2.0)
    rows, peak = np.arange(len(runs.easy)), runs.easy.argmax(1)
    yield judge.above("ratio at the peak of easy", judge.log_mean(runs.ratio[rows, peak]), 3.0)
    late = (runs.difficult >= runs.easy.max(1, keepdims=True) / 2).argmax(1)
    reached = (runs.difficult >= runs.easy.max(1, keepdims=True) / 2).any(1)
    half = (runs.difficult >= runs.difficult.max(1, keepdims=True) / 2).argmax(1)
    sooner = np.maximum(runs.steps[half], 1) / np.maximum(runs.steps[runs.half_way], 1)
    yield judge.above("step of half the maximum, difficult / easy", judge.log_mean(sooner), 1.0)
    told = (
        f"difficult never reach half the maximum of easy in {int((~reached).sum())} seeds"
        if not reached.all()
        else f"difficult reach half the maximum of easy at step {np.median(runs.steps[late]):.0f}"
    )
    return f"easy {runs.easy.max(1).mean():.3f}; {told}; {len(runs.easy)} seeds"


@claim("ALI-22", "structured difficult examples gain 1.5 times between easy half-way and step 1000")
def _late(dataset: Data) -> judge.Parts:
    kind = "kmnist" if "kmnist" in dataset.get("kind", []) else "shuffled"
    runs = Runs(dataset, kind, DEPTH)
    rows = np.arange(len(runs.easy))
    gain = runs.at_step(runs.difficult, LATE) / runs.difficult[rows, runs.half_way]
    yield judge.above("difficult at step 1000 / as easy is half-way", judge.log_mean(gain), 1.5)
    highest = runs.easy.max(1) / runs.difficult.max(1)
    yield judge.above("highest easy / highest difficult", judge.log_mean(highest), 1.0)
    return f"{kind}; {len(runs.easy)} seeds"


@claim("ALI-23", "peak, gain and ratio grow from depth 3 to 9")
def _deeper(dataset: Data) -> judge.Parts:
    depths = [int(depth) for depth in judge.need(dataset, "alignment_easy").depth.values]
    if not {3, 6, 9} <= set(depths):
        raise judge.Missing(f"depths 3, 6 and 9 are compared, {depths} were run")
    runs = {depth: Runs(dataset, "random", depth) for depth in depths}
    count = min(len(each.easy) for each in runs.values())
    peak = {d: each.easy[:count].max(1) for d, each in runs.items()}
    gain = {d: peak[d] / each.easy[:count, 0] for d, each in runs.items()}
    ratio = {d: each.ratio[:count].max(1) for d, each in runs.items()}
    yield judge.above("peak, depth 9 / 3", judge.log_mean(peak[9] / peak[3]), 1.3)
    yield judge.above("gain, depth 6 / 3", judge.log_mean(gain[6] / gain[3]), 1.0)
    yield judge.above("gain, depth 9 / 6", judge.log_mean(gain[9] / gain[6]), 1.0)
    deep = max((judge.log_mean(ratio[d] / ratio[3]) for d in (6, 9)), key=lambda each: each.value)
    yield judge.above("largest easy / difficult, depth 6 or 9 / 3", deep, 1.0)
    told = ", ".join(
        f"{d}: peak {peak[d].mean():.3f}, gain {np.exp(np.log(gain[d]).mean()):.1f}, ratio "
        f"{ratio[d].mean():.1f}, above half of it until step {_until(runs[d]):.0f}"
        for d in runs
    )
    return f"depth {told}; {count} seeds"


def _until(runs: Runs) -> float:
    """The last step at which the ratio is above half its maximum, median over seeds."""
    high = runs.ratio >= runs.ratio.max(1, keepdims=True) / 2
    last = high.shape[1] - 1 - high[:, ::-1].argmax(1)
    return float(np.median(runs.steps[last]))
