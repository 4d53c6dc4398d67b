"""Layers of e3nn made in any precision, from a seed, without a trace in torch's global state."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import torch

from regimes._random import generator


@contextlib.contextmanager
def building(seed: int, dtype: torch.dtype) -> Iterator[None]:
    """While it lasts e3nn draws from this seed and computes its constants in this precision.

    e3nn draws parameters as it makes them, from torch's global generator, and its constants are in
    the default precision of that moment; both are put back afterwards.
    """
    if not isinstance(dtype, torch.dtype) or not dtype.is_floating_point:
        raise ValueError(f"dtype must be a floating-point torch dtype, got {dtype!r}")
    before = torch.get_default_dtype()
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.set_state(generator(seed, "nets/points").get_state())
        torch.set_default_dtype(dtype)
        try:
            yield
        finally:
            torch.set_default_dtype(before)
