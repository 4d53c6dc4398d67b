"""A drawing that is deformed, as a function of the plane: no pixels, so no interpolation."""

from __future__ import annotations

from typing import Any

import numpy as np

SIDE = 96  # pixels of a picture


def shapes(u: Any, v: Any) -> Any:
    """Colours (..., 3) of a disc, a ring, a bar and a lattice at places in the unit square."""
    white, slate = np.array([0.97, 0.97, 0.95]), np.array([0.75, 0.78, 0.82])
    lines = ((np.abs((8 * u) % 1 - 0.5) > 0.44) | (np.abs((8 * v) % 1 - 0.5) > 0.44))[..., None]
    found = np.where(lines, slate, white)
    far = np.hypot(u - 0.32, v - 0.34)
    found = np.where((far < 0.2)[..., None], np.array([0.86, 0.35, 0.22]), found)
    ring = np.hypot(u - 0.68, v - 0.66)
    found = np.where(((ring < 0.22) & (ring > 0.11))[..., None], np.array([0.2, 0.4, 0.75]), found)
    bar = (np.abs(u - 0.72) < 0.17) & (np.abs(v - 0.22) < 0.06)
    return np.where(bar[..., None], np.array([0.2, 0.6, 0.4]), found)


def deformed(T: float, c: float, seed: int) -> Any:
    """The drawing (SIDE, SIDE, 3) read where a field of this temperature and cut-off leads."""
    import torch

    from regimes import data
    from regimes._random import generator

    source = generator(seed, "sheet")
    field = data.sample_field(SIDE, T, c, 1, "half", source, torch.float64)
    pixel = np.arange(SIDE) / (SIDE - 1)
    u = pixel - field.dx[0].numpy() / SIDE
    v = pixel[:, None] - field.dy[0].numpy() / SIDE
    return shapes(np.clip(u, 0.0, 1.0), np.clip(v, 0.0, 1.0))
