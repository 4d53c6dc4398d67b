"""The result of a run: what happened to every member."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, final

import torch
from torch import Tensor

from regimes._html import block, curves, facts
from regimes.flow._observers import Recording
from regimes.flow._rounding import moved_by_rounding
from regimes.flow._status import Status
from regimes.nets import Ensemble

_SHOWN = 8  # members in a notebook's picture


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
        unresolved: by how much of the first loss a member should have fallen in steps that changed
            predictions by less than rounding does, (R,); the notes say where that is too much.
        seconds: wall time.
        notes: what was decided along the way, such as a split for memory.
        networks: those of `ensemble`; None for a kernel flow.
        grid: the lists that were combined with `grid=True`, by name, the last running fastest.
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
    unresolved: Tensor
    seconds: float
    notes: tuple[str, ...] = ()
    networks: Ensemble | None = None
    grid: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)

    @property
    def ensemble(self) -> Ensemble:
        """The trained networks: `run.ensemble.member(3)` is one of them as a module."""
        if self.networks is None:
            raise ValueError("a kernel flow trains no networks; its dual weights are in parameters")
        return self.networks

    def on_grid(self, values: Tensor) -> Tensor:
        """Values of the members, (R, ...), with an axis for each list of the grid.

        >>> from regimes import data, nets
        >>> ds, net = data.stripe(n_train=10, n_test=20, d=3), nets.FullyConnected(3, 20)
        >>> from regimes.flow import gradient_flow
        >>> run = gradient_flow(net, ds, alpha=[0.1, 1.0], ensemble=3, grid=True, max_steps=5)
        >>> dict(run.grid), run.on_grid(run.test_errors).shape
        ({'alpha': (0.1, 1.0), 'ensemble': (0, 1, 2)}, torch.Size([2, 3]))
        """
        if not self.grid:
            raise ValueError("these members are no grid; give grid=True to the flow")
        if len(values) != len(self.status):
            raise ValueError(
                f"values must have one entry for each of the {len(self.status)} members, "
                f"got {tuple(values.shape)}"
            )
        return values.unflatten(0, [len(axis) for axis in self.grid.values()])

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
        rounded = moved_by_rounding(self.unresolved.numpy(), self.status)  # a note says so
        for status in ends:
            members = [i for i, s in enumerate(self.status) if s is status and not rounded[i]]
            if status.advice and members:
                shown = ", ".join(map(str, members[:8])) + (", ..." if len(members) > 8 else "")
                lines.append(f"  {status.value}: member {shown}: {status.advice}")
        lines += [f"  note     {note}" for note in self.notes]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """The same as a table, with the course of the losses."""
        ends = Counter(status.value for status in self.status)
        rows = {
            "ended": ", ".join(f"{count} {status}" for status, count in ends.items()),
            "steps": f"{_span(self.steps)} taken, {_span(self.refused)} refused, "
            f"{_span(self.forced)} forced",
            "seconds": f"{self.seconds:.1f}",
            "time": _span(self.times[:, -1]),
            "loss": _span(self.losses[:, -1]),
            **{f"note {n}": note for n, note in enumerate(self.notes, start=1)},
        }
        advice = {status.value: status.advice for status in self.status if status.advice}
        shown = self.losses[:_SHOWN].tolist()
        caption = f"loss of {len(shown)} members, logarithmic, over the times that were noted"
        course = curves(shown, caption, log=True)
        return block(f"Run of {len(self.status)} members", facts({**rows, **advice}), course)


def _span(values: Tensor) -> str:
    low, high = float(values.min()), float(values.max())
    return f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g}"
