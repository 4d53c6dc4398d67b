"""Step sizes: what a step may change, and how its length follows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, final

from regimes._check import real
from regimes.flow._lone import larger, where
from regimes.flow._readings import Floats


@final
@dataclass(frozen=True)
class Tolerances:
    """A step is accepted only when everything it changes stays below these.

    Attributes:
        output: largest change of a training prediction F, `max |F' - F|` [Geiger 2020, eq. 8].
        gradient: `|g - g'|^2 / (|g| |g'|)` of the full gradients [Geiger 2020, eq. 9];
            None does not ask. The
            error of the flow and one over the number of steps scale as its root.
        weight: `|w' - w| / |w|` of the whole state; None does not ask. For the hinge, whose
            derivative jumps so that no short step makes the gradient continuous, the defaults ask
            for this and not for `gradient`.
    """

    output: float = 0.1
    gradient: float | None = 1e-4
    weight: float | None = None

    def __post_init__(self) -> None:
        real("tolerance output", self.output, above=0.0)
        for name in ("gradient", "weight"):
            if getattr(self, name) is not None:
                real(f"tolerance {name}", getattr(self, name), above=0.0)

    def scaled(self, factor: float) -> Tolerances:
        """Tolerances whose errors are `factor` times as large (`gradient` is a square)."""
        return Tolerances(
            self.output * factor,
            None if self.gradient is None else self.gradient * factor**2,
            None if self.weight is None else self.weight * factor,
        )


@final
@dataclass(frozen=True)
class StepRule:
    """How the step length follows acceptance (docs/themes/regimes.md, "Steps of the flow").

    Attributes:
        first: length of the first step. None takes the shorter of two that, to first order, lower
            the loss by a percent and move the weights by a percent; with a frozen kernel, where
            no weights move, the first of them, so that it is the limit of large alpha from the
            first step on. "weights" takes the second alone, or one over the speed of a kernel.
        shrink: a refused step is divided by this.
        grow: an accepted one whose changes all are below half their tolerances is multiplied.
        floor: once the step is shorter than `floor * t`, accept it although the gradient changes
            by more than its tolerance, then lengthen it a hundred times; needed where a single relu
            switch changes the gradient by so much. Such steps are counted as forced; the other
            tolerances hold for them too. None never does.
    """

    first: float | Literal["weights"] | None = None
    shrink: float = 10.0
    grow: float = 1.1
    floor: float | None = None

    def __post_init__(self) -> None:
        if self.first not in (None, "weights"):
            real("first step", self.first, above=0.0)
        real("shrink", self.shrink, above=1.0)
        real("grow", self.grow, above=1.0)
        if self.floor is not None:
            real("floor", self.floor, above=0.0, below=1.0)


@final
@dataclass(frozen=True, eq=False)
class Changes:
    """What a proposed step changed, (m,) each or numbers of one member.

    A tolerance that is not asked for is 0.
    """

    output: Floats
    gradient: Floats
    weight: Floats
    finite: Floats


@final
@dataclass(frozen=True, eq=False)
class Judgement:
    """Which steps count, which of them were forced, and the next lengths, as in `Changes`."""

    accepted: Floats
    forced: Floats
    next_step: Floats


def judge(
    changes: Changes, step: Floats, time: Floats, tolerances: Tolerances, rule: StepRule
) -> Judgement:
    """Accept or refuse the step of every member."""
    hard = changes.output / tolerances.output
    if tolerances.weight is not None:
        # the step is cut to this tolerance beforehand, so reaching it is no offence
        hard = larger(hard, changes.weight / (tolerances.weight * (1 + 1e-6)))
    worst = hard
    if tolerances.gradient is not None:
        worst = larger(hard, changes.gradient / tolerances.gradient)
    good = changes.finite & (worst < 1.0)
    forced = good & False
    if rule.floor is not None:
        forced = changes.finite & ~good & (hard < 1.0) & (step <= rule.floor * time)
    following = where(worst < 0.5, step * rule.grow, step)
    following = where(forced, step * 100.0, following)
    accepted = good | forced
    return Judgement(accepted, forced, where(accepted, following, step / rule.shrink))
