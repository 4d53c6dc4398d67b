"""The result of a flow of policies: what happened to every member."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import final

import torch
from torch import Tensor

from regimes.flow._status import Status


@final
@dataclass(frozen=True, eq=False, repr=False)
class PolicyRun:
    """R members after their flow; every field has one entry per member.

    Attributes:
        times: marks of the course, (K,).
        rewards: E_p[R] at the marks, on the line between the steps around each, (R, K); NaN after a
            member's end.
        q: the probability of the worse arm there, (R, K); None where the problem has no two arms.
        logits: those of the policies at the end, (R, A, O).
        start_logits: those of the start at the end, (R, n), or None if it was not trained.
        end_times: when each ended, (R,).
        end_rewards: E_p[R] at the end, (R,).
        end_q: the probability of the worse arm at the end, (R,), or None.
        status: what ended each: `flow.Status`.
        steps: steps taken, (R,).
        refused: steps tried and not accepted, (R,).
        step_sizes: length of the step that would have come next, (R,).
        worst: largest change of a slope in an accepted step, (R,).
        seconds: wall time of all members together.
    """

    times: Tensor
    rewards: Tensor
    q: Tensor | None
    logits: Tensor
    start_logits: Tensor | None
    end_times: Tensor
    end_rewards: Tensor
    end_q: Tensor | None
    status: tuple[Status, ...]
    steps: Tensor
    refused: Tensor
    step_sizes: Tensor
    worst: Tensor
    seconds: float

    @property
    def policy(self) -> Tensor:
        """The policies at the end, pi[a, o], (R, A, O)."""
        return torch.softmax(self.logits, -2)

    @property
    def start(self) -> Tensor | None:
        """Their distributions of the start, (R, n), or None if it was not trained."""
        return None if self.start_logits is None else torch.softmax(self.start_logits, -1)

    def __repr__(self) -> str:
        """How the members ended and what it took."""
        ends = Counter(self.status)
        lines = [
            f"PolicyRun of {len(self.status)} members: "
            + ", ".join(f"{count} {status.value}" for status, count in ends.items()),
            f"  steps   {_span(self.steps)} taken, {_span(self.refused)} refused; "
            f"{self.seconds:.1f} s",
            f"  time    {_span(self.end_times)}",
            f"  reward  {_span(self.end_rewards)}",
        ]
        if self.end_q is not None:
            lines.append(f"  q       {_span(self.end_q)}")
        return "\n".join(lines)


def _span(values: Tensor) -> str:
    low, high = values.min().item(), values.max().item()
    return f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g}"
