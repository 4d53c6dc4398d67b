"""What the studies ask of players: random policies, and how often the wrong arm is played."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from regimes.studies._types import Tensor

if TYPE_CHECKING:
    import torch


def softmax_policy(memory: Any, source: torch.Generator) -> tuple[Tensor, Tensor | None]:
    """A policy (actions, observations) with logits N(0, 1), and a RAM's law of blank states."""
    import torch

    from regimes import decide

    logits = torch.randn(memory.actions, memory.observations, generator=source, dtype=torch.float64)
    start = None
    if isinstance(memory, decide.Ram):
        start = torch.randn(memory.states, generator=source, dtype=torch.float64).softmax(0)
    return logits.softmax(0), start


def memory_called(name: str) -> Any:
    """A memory by its name in the parameters, "ram-8" or "memento-3"."""
    from regimes import decide
    from regimes._check import choose

    kind, _, size = name.partition("-")
    made = choose(kind, {"ram": decide.Ram, "memento": decide.Memento}, "memory")
    return made(int(size))


def wrong_of(memory: Any, masses: Tensor) -> Tensor:
    """Q from where players are, (..., hypothesis, observation): blank ones count half.

    Counted here from the arms of the observations, so that it owes nothing to the reward.
    """
    import torch

    arm = torch.arange(memory.plays).repeat_interleave(2) % 2  # of each observation after a play
    share = torch.full((2, memory.observations), 0.5, dtype=masses.dtype)
    for best in (0, 1):
        share[best, memory.blanks :] = (arm != best).to(masses.dtype)
    return (masses * share).sum(-1).mean(-1)
