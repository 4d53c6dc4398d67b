"""From numbers to a regime: lazy, feature or unclear, and why.

A network is lazy when training hardly moves its tangent kernel, for then it stays the linear model
it was at the start; it learns features when the kernel moves by as much as it was. The crossover is
where the relative change is one [Geiger 2020, sec. 5]. See docs/how-to/diagnose.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, final

from regimes.diagnosis._number import Number, about

Regime = Literal["lazy", "feature", "unclear"]

CROSSOVER = 1.0  # relative change of the kernel
WIDTH = 0.3  # of the crossover, in powers of ten: one standard deviation
SURE = 0.95  # probability from which a side is taken
LEAST_PROBES = 40  # below, the kernel of the probes says too little of the network's
_SUREST = 0.99  # one training run, seen through some probes, is never surer
_LINEAR, _NOT_LINEAR = 0.1, 0.5  # relative errors of the first-order model


@final
@dataclass(frozen=True)
class Verdict:
    """A regime with its probability and what speaks for and against it."""

    regime: Regime
    confidence: float
    reasons: tuple[str, ...]


def from_crossover(change: Number, meaning: str) -> Number:
    """How far a change of the kernel is from the crossover, in units of its width.

    >>> from_crossover(Number(2.0, 0.2, ""), "")
    Number(value=1.003..., error=0.14..., meaning='')
    """
    place = math.log10(change.value / CROSSOVER) / WIDTH
    error = change.error
    if error is not None and math.isfinite(error):
        error = error / change.value / math.log(10) / WIDTH
    return Number(place, error, meaning)


def verdict(
    change: float, error: float | None, linear_error: float, probes: int, distance: float = math.inf
) -> Verdict:
    """Judge the change of the kernel, and hold the error of the first-order model against it.

    Args:
        change: relative change of the kernel; NaN where the start is not known.
        error: its standard error.
        linear_error: how far the first-order model at the start, moved as far as the network was,
            is from the trained network, relative to how far outputs moved; NaN where not known.
        probes: how many points were looked at.
        distance: relative change of the weights; 0 where the two networks are the same.

    >>> verdict(0.02, 0.001, 0.03, probes=500).regime
    'lazy'
    >>> verdict(8.0, 0.5, 1.2, probes=500).regime
    'feature'
    >>> verdict(1.1, 0.1, 0.4, probes=500).regime, verdict(8.0, 0.5, 1.2, probes=8).regime
    ('unclear', 'unclear')
    """
    if math.isnan(change):
        return Verdict(
            "unclear",
            0.5,
            (
                "The start of training is not known, so it cannot be said how far the tangent "
                "kernel moved; give the network as it was before with before=.",
            ),
        )
    if distance == 0:
        return Verdict(
            "unclear", 0.5, ("Both networks have the same weights: nothing was trained.",)
        )
    place = math.log10(max(change, 1e-300) / CROSSOVER)
    known = error is not None and math.isfinite(error) and change > 0
    spread = error / change / math.log(10) if error is not None and known else 0.0
    away = place / math.hypot(WIDTH, spread)
    feature = 0.5 * math.erfc(-away / math.sqrt(2))
    reasons = [
        f"Training changed the tangent kernel by {about(change)} times its size. The crossover "
        f"between the regimes is at {CROSSOVER:g}; this is {abs(away):.1f} widths "
        f"{'above' if away > 0 else 'below'} it, a width being a factor of two."
    ]
    if math.isfinite(linear_error):
        reasons.append(
            f"The linear model at the start, given the same change of weights, misses "
            f"{linear_error:.0%} of what training did to the outputs"
            + (
                ": the network moved as a linear model does."
                if linear_error < _LINEAR
                else ": training left the range in which the network is linear."
                if linear_error > _NOT_LINEAR
                else "."
            )
        )
    regime: Regime = "feature" if feature > 0.5 else "lazy"
    sure = min(max(feature, 1 - feature), _SUREST)
    against = (regime == "lazy" and linear_error > _NOT_LINEAR) or (
        regime == "feature" and linear_error < _LINEAR
    )
    if against:
        sure = min(sure, 0.5 + (sure - 0.5) / 2)
        reasons.append("These two disagree, so no side is taken.")
    if probes < LEAST_PROBES:
        reasons.append(
            f"{probes} probes are too few to say; {LEAST_PROBES} are the least, 200 and more are "
            "good."
        )
        return Verdict("unclear", min(sure, 0.5 + 0.4 * probes / LEAST_PROBES), tuple(reasons))
    if sure < SURE or against:
        if not against:
            reasons.append(
                "That is too near the crossover to take a side; more probes or seeds will not "
                "change it, a larger or smaller output scale would."
            )
        return Verdict("unclear", sure, tuple(reasons))
    return Verdict(regime, sure, tuple(reasons))
