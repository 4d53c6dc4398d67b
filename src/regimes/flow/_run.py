"""The result of a run: what happened to every member."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import torch
from torch import Tensor

from regimes.flow._observers import Recording
from regimes.flow._status import Status


@final
@dataclass(frozen=True, eq=False, repr=False)
class Run:
    """R members after training; every field has one entry per member.

    Attributes:
        times: when the course was noted, (R, K); a member that ended earlier repeats its last.
        losses: mean training loss at those times, not divided by alpha, (R, K).
        history: these and step_size, satisfied (fraction of points with their margin),
            least_margin, gradient and weight (norms), step, each (R, K).
        outputs_train: F on the training points at the end, (R, n, c).
        outputs_test: F on the test points at the end, (R, n_test, c); None without test points.
        y_test: their labels, (1 or R, n_test), or None.
        parameters: name -> (R, ...), the state at the end.
        status: what ended each run.
        event_times: event -> first time, (R,), NaN where it never happened.
        recordings: observer -> what it saw.
        steps: steps taken, (R,).
        refused: steps tried and not accepted, (R,).
        forced: steps accepted although a tolerance was exceeded, (R,).
        worst: tolerance -> largest change in an accepted step that was not forced, (R,).
        seconds: wall time.
        notes: what was decided along the way, such as a split for memory.
    """

    history: Mapping[str, Tensor]
    outputs_train: Tensor
    outputs_test: Tensor | None
    y_test: Tensor | None
    parameters: Mapping[str, Tensor]
    status: tuple[Status, ...]
    event_times: Mapping[str, Tensor]
    recordings: Mapping[str, Recording]
    steps: Tensor
    refused: Tensor
    forced: Tensor
    worst: Mapping[str, Tensor]
    seconds: float
    notes: tuple[str, ...] = ()

    @property
    def times(self) -> Tensor:
        """When the course was noted, (R, K)."""
        return self.history["time"]

    @property
    def losses(self) -> Tensor:
        """Mean training losses at these times, (R, K)."""
        return self.history["loss"]

    @property
    def fitted(self) -> Tensor:
        """Which members ended with every margin reached, (R,)."""
        return torch.tensor([status is Status.FITTED for status in self.status])

    @property
    def test_predictions(self) -> Tensor:
        """F of networks with one output on the test points at the end, (R, n_test)."""
        if self.outputs_test is None or self.outputs_test.shape[-1] != 1:
            found = None if self.outputs_test is None else tuple(self.outputs_test.shape)
            raise ValueError(
                f"test_predictions are those of one output on test points, and outputs_test is "
                f"{found}: train on data with test points, or read outputs_test"
            )
        return self.outputs_test[..., 0]

    @property
    def test_errors(self) -> Tensor:
        """Fraction of misclassified test points, ties being errors, (R,)."""
        if self.outputs_test is None or self.y_test is None:
            raise ValueError("this run has no test points")
        if self.outputs_test.shape[-1] > 1:
            wrong = self.outputs_test.argmax(-1) != self.y_test
        else:
            wrong = self.outputs_test[..., 0] * self.y_test <= 0
        return wrong.double().mean(-1)

    def __repr__(self) -> str:
        """How the members ended and what it took."""
        ends = Counter(self.status)
        lines = [
            f"Run of {len(self.status)} members: "
            + ", ".join(f"{count} {status.value}" for status, count in ends.items()),
            f"  steps    {_span(self.steps)} taken, {_span(self.refused)} refused, "
            f"{_span(self.forced)} forced; {self.seconds:.1f} s",
            f"  time     {_span(self.times[:, -1])}",
            f"  loss     {_span(self.losses[:, -1])}",
        ]
        changed = [f"{name} {float(value.max()):.3g}" for name, value in self.worst.items()]
        lines.append(f"  changes  at most {', '.join(changed)} in a step")
        for status in ends:
            if status.advice:
                members = [i for i, s in enumerate(self.status) if s is status]
                shown = ", ".join(map(str, members[:8])) + (", ..." if len(members) > 8 else "")
                lines.append(f"  {status.value}: member {shown}: {status.advice}")
        lines += [f"  note     {note}" for note in self.notes]
        return "\n".join(lines)


def _span(values: Tensor) -> str:
    low, high = float(values.min()), float(values.max())
    return f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g}"
