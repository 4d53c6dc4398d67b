"""What a player does: the policy of its actions, and where its memory starts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from torch import Tensor

from regimes._check import instance, real
from regimes.decide._probabilities import probabilities


class Logits(NamedTuple):
    """Softmax parameters of policies: what a flow starts from."""

    policy: Tensor  # (..., A, O)
    start: Tensor | None  # (..., M) over the blank memories of a RAM, None for other memories


@dataclass(frozen=True, eq=False)
class Policy:
    """Probabilities of actions, and of the blank memory that a player starts with.

    Attributes:
        actions: `actions[a, o]` (..., A, O), columns sum to one.
        start: (..., M) for a random access memory, else None.

    >>> import torch
    >>> Policy(torch.full((2, 5), 0.5)).logits().policy[0, 0]
    tensor(-0.6929)
    """

    actions: Tensor
    start: Tensor | None = None

    def __post_init__(self) -> None:
        instance("actions", self.actions, Tensor, "a tensor (..., A, O)")
        probabilities("actions", self.actions, (-1, -1), -2, "an action at each observation")
        if self.start is not None:
            instance("start", self.start, Tensor, "a tensor (..., M), or None")
            probabilities("start", self.start, (-1,), -1, "of the blank memories")

    def logits(self, leak: float = 1e-4) -> Logits:
        """Logarithms of the probabilities, with `leak` added to each so that none is out of reach.

        The leak of [Geiger 2022, fig. 2] (docs/themes/pomdp.md, "Starts of training").
        """
        leak = real("leak", leak, 0)
        start = None if self.start is None else (self.start + leak).log()
        return Logits((self.actions + leak).log(), start)
