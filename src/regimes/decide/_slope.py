"""What a flow asks of a problem: a number to raise, and how."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

if TYPE_CHECKING:
    from torch import Tensor


@final
@dataclass(frozen=True, eq=False)
class Slope:
    """A mean reward and how it rises, as a flow of policies asks for them together."""

    reward: Tensor  # E_p[R], (...)
    policy: Tensor  # dE_p[R] / d policy, (..., A, O), every entry free
    start: Tensor | None  # dE_p[R] / d start, (..., n); None where the start is no choice
