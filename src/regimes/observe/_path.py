"""Length and complexity of the path that the parameters take, whatever optimiser moves them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import torch
from torch import Tensor


@final
class Path:
    """`C(f_w) = sum_t |w_{t+1} - w_t| sqrt(Tr K_t)`, step by step [Baratin 2021, eq. 18].

    Nothing is fetched from a GPU before the numbers are asked for. The coarse form, as the paper's
    programs have it, adds distances between the moments that are marked, times the root of the
    trace per sample.

    >>> w = torch.zeros(1)
    >>> path = Path([w])
    >>> path.trace(4.0, samples=1)
    >>> for step in (1.0, 2.0):
    ...     path.step([w.add_(step)])
    >>> path.mark([w])
    >>> [float(x) for x in path.numbers().values()]
    [6.0, 3.0, 6.0]
    """

    def __init__(self, parameters: Sequence[Tensor]) -> None:
        self._last = [p.detach().clone() for p in parameters]
        self._marked = [p.detach().clone() for p in parameters]
        zero = torch.zeros((), dtype=torch.float64, device=self._last[0].device)
        self._value, self._length, self._coarse = zero, zero.clone(), zero.clone()
        self._root: float | None = None
        self._root_per_sample = 0.0

    def trace(self, trace: float, *, samples: int) -> None:
        """`Tr K` from now on, over so many samples; the first also for the steps before it."""
        if self._root is None:
            self._value = trace**0.5 * self._length
        self._root, self._root_per_sample = trace**0.5, (trace / samples) ** 0.5

    def step(self, parameters: Sequence[Tensor]) -> None:
        """Add the step that led to these parameters."""
        length = _distance(parameters, self._last)
        self._length = self._length + length
        if self._root is not None:
            self._value = self._value + self._root * length
        torch._foreach_copy_(self._last, [p.detach() for p in parameters])

    def mark(self, parameters: Sequence[Tensor]) -> None:
        """A moment between which the coarse form measures; before the trace at that moment."""
        self._coarse = self._coarse + self._root_per_sample * _distance(parameters, self._marked)
        torch._foreach_copy_(self._marked, [p.detach() for p in parameters])

    def numbers(self) -> dict[str, Tensor]:
        """What the path has come to."""
        return {
            "complexity": self._value.cpu(),
            "path_length": self._length.cpu(),
            "complexity_coarse": self._coarse.cpu(),
        }


def _distance(now: Sequence[Tensor], before: Sequence[Tensor]) -> Tensor:
    moved = torch._foreach_sub([p.detach() for p in now], list(before))
    norms = torch.stack([n.double() for n in torch._foreach_norm(moved)])
    return torch.linalg.vector_norm(norms)
