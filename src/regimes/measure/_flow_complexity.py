"""Length of a training path, weighted by the size of the tangent features along it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from regimes._check import positive_int
from regimes.measure._kernel import check_tensor


@dataclass(frozen=True)
class FlowComplexity:
    """Complexity of a training path."""

    value: float  # sum_t |delta w_t| sqrt(Tr K_t)
    path_length: float  # sum_t |delta w_t|
    steps: int


def flow_complexity(weights: Tensor, traces: Tensor) -> FlowComplexity:
    """`C(f_w) = sum_t |w_{t+1} - w_t| sqrt(Tr K_t)` [Baratin 2021, eq. 18].

    Args:
        weights: parameters along the path, (T + 1, P).
        traces: `Tr K_t` of the tangent kernel at the start of each step, (T,).

    >>> flow_complexity(torch.tensor([[0.0], [1.0], [3.0]]), torch.tensor([4.0, 9.0]))
    FlowComplexity(value=8.0, path_length=3.0, steps=2)
    """
    weights, traces = check_tensor("weights", weights), check_tensor("traces", traces)
    if weights.ndim != 2 or traces.shape != (len(weights) - 1,):
        raise ValueError(
            "weights must have shape (T + 1, P) and traces (T,), got "
            f"{tuple(weights.shape)} and {tuple(traces.shape)}"
        )
    if bool((traces < 0).any()):
        raise ValueError(f"a trace of a kernel is not negative, got {float(traces.min()):.3g}")
    lengths = torch.linalg.vector_norm(weights.double().diff(dim=0), dim=1)
    value = float(lengths @ traces.double().sqrt())
    return FlowComplexity(value, float(lengths.sum()), len(traces))


class FlowComplexityMeter:
    """`flow_complexity` summed while training runs, without keeping the path.

    Call `record(w)` with the flat parameters at the start and after every optimiser step; momentum
    is then part of `delta w_t`. Called at log points only, with a trace averaged over samples, it
    gives the coarse variant of the paper's programs.

    Args:
        trace: `() -> Tr K` at the current parameters on a fixed batch, uncentred.
        refresh: evaluate the trace at every `refresh`-th record and keep it in between.

    >>> meter = FlowComplexityMeter(lambda: 4.0)
    >>> for w in (0.0, 1.0, 3.0):
    ...     meter.record(torch.tensor([w]))
    >>> meter.result()
    FlowComplexity(value=6.0, path_length=3.0, steps=2)
    """

    def __init__(self, trace: Callable[[], float | Tensor], *, refresh: int = 1) -> None:
        self._trace = trace
        self._refresh = positive_int("refresh", refresh)
        self._records = 0
        self._last: Tensor | None = None
        self._root = 0.0
        self._value = self._length = 0.0

    def record(self, weights: Tensor) -> None:
        """Add the step that led to `weights` (P,); the first call only marks the start."""
        current = check_tensor("weights", weights).detach().reshape(-1).clone()
        if self._last is not None:
            step = float(torch.linalg.vector_norm((current - self._last).double()))
            self._length += step
            self._value += step * self._root
        if self._records % self._refresh == 0:
            self._root = float(self._trace()) ** 0.5
        self._records += 1
        self._last = current

    def result(self) -> FlowComplexity:
        """Complexity of the path recorded so far."""
        return FlowComplexity(self._value, self._length, max(self._records - 1, 0))
