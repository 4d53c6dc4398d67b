"""The ways to keep and contract the gradient of a layer."""

from __future__ import annotations

from enum import StrEnum


class Strategy(StrEnum):
    """What the passes keep of a layer's gradient, and what is made of it for a Gram."""

    PAIRS = "pairs"  # factors, multiplied for every pair of positions
    PIXELS = "pixels"  # factors, single pixels multiplied for every pair and shifted into patches
    EXPAND = "expand"  # factors, written out chunk by chunk for the Gram
    DENSE = "dense"  # gradients, written out during the pass, entries in any fixed order
    ORDERED = "ordered"  # gradients, written out during the pass in the parameters' own order
