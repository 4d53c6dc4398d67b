"""What became of a member."""

from __future__ import annotations

from enum import StrEnum


class Status(StrEnum):
    """The end of a run, for each member."""

    FITTED = "fitted"  # every training point has its margin
    REACHED = "reached"  # the event or the time that was asked for
    STALLED = "stalled"  # the gradient vanished, or no step, however short, was accepted
    DIVERGED = "diverged"  # predictions or gradients are not finite
    OUT_OF_STEPS = "out of steps"
    OUT_OF_TIME = "out of time"  # of the wall clock

    @property
    def advice(self) -> str:
        """What to try when this was not wanted."""
        return _ADVICE[self]


_ADVICE = {
    Status.FITTED: "",
    Status.REACHED: "",
    Status.STALLED: "with relu and few points set StepRule(floor=1e-3) or loosen the gradient "
    "tolerance; a vanished gradient means that the points left over cannot be reached",
    Status.DIVERGED: "use float64, or look at the member's inputs and initial weights",
    Status.OUT_OF_STEPS: "increase max_steps or loosen the tolerances",
    Status.OUT_OF_TIME: "increase max_seconds",
}
