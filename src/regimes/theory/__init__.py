"""Theory: closed forms that predict what `regimes.measure` finds."""

from regimes.theory._exponents import (
    beta_feature,
    beta_lazy,
    compression_exponent,
    compression_gain,
)
from regimes.theory._infinite_width import InfiniteWidthKernels, infinite_width

__all__ = [
    "InfiniteWidthKernels",
    "beta_feature",
    "beta_lazy",
    "compression_exponent",
    "compression_gain",
    "infinite_width",
]
