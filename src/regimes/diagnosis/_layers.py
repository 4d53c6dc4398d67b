"""What is told of one layer, and of one moment of training."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final


@final
@dataclass(frozen=True)
class Layer:
    """One layer, a module that owns parameters; NaN where a number is not defined."""

    name: str
    kind: str  # class of the module
    parameters: int
    weight_change: float  # |after - before| / |before|
    kernel_change: float  # of its part of the tangent kernel
    kernel_share: float  # of the trace of the kernel, at the end
    alignment_before: float  # with the labels
    alignment_after: float

    @property
    def called(self) -> str:
        """Its name with its kind, for sentences and tables."""
        return f"{self.name} ({self.kind})"


@final
@dataclass(frozen=True)
class Moment:
    """What training had done by one of its steps."""

    step: int
    kernel_change: float  # relative to the size of the kernel at the start
    weight_change: float
