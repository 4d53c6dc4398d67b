"""The crossover under stochastic descent, an open question of [Geiger 2021b, sec. 8.3]."""

from __future__ import annotations

import numpy as np

import regimes as rg
from regimes.lab import Claim, Data, Verdict, judge
from regimes.studies._types import PhaseBoundary
from regimes.studies.regimes._remarks import numbers

EXPECTED = "the crossover of SGD over that of the flow, at three rates"

claim = judge.Claims()


def finished(dataset: Data) -> Data:
    """The rates that have run, the flow (rate 0) first."""
    return judge.where_ran(dataset, "rate", "kernel_change").sortby(["rate", "scale"])


def crossovers(dataset: Data) -> PhaseBoundary:
    """The scale of the crossover (`y`, with its error) against the rate (`x`), the flow first."""
    done = finished(dataset)
    if done.rate[0] != 0 or done.sizes["rate"] < 2 or done.sizes["seed"] < 3:
        raise judge.Missing("needs the flow, a rate and three seeds")
    field = done.kernel_change.where(done.fitted > 0).transpose("seed", "rate", "scale").values
    line = rg.measure.phase_boundary(done.rate.values, done.scale.values, field, 1.0)
    if np.isnan(line.y).any():
        lost = numbers(line.x[np.isnan(line.y)])
        raise judge.Missing(f"the kernel does not change by its norm at any scale at rate {lost}")
    return line


@claim("REG-72", EXPECTED, report=True)
def _shift(dataset: Data) -> Claim:
    line = crossovers(dataset)
    flow, *others = (judge.Measured(*place) for place in zip(line.y, line.error, strict=True))
    ratios = [other / flow for other in others]
    told = ", ".join(
        f"{ratio.value:.3f} ± {ratio.error:.2g} at {rate:g} t_half"
        for ratio, rate in zip(ratios, line.x[1:], strict=True)
    )
    unfitted = int((dataset.fitted < 1).sum())
    why = f"an open question [Geiger 2021b]: {told}; flow at {flow}; {unfitted} runs ended unfitted"
    most = max(ratios, key=lambda ratio: abs(np.log(ratio.value)))
    return Claim("REG-72", Verdict.REPORTED, EXPECTED, most.value, most.error, why)
