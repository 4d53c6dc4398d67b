"""Signals with known spectra."""

import pytest
import torch


def inside(L):
    """Which (l, m) exist in the padded layout."""
    m = torch.arange(-(L - 1), L).abs()
    return m[None] <= torch.arange(L)[:, None]


@pytest.fixture
def draw():
    """Random numbers and random coefficients, complex, of signals on the sphere and on SO(3)."""
    source = torch.Generator().manual_seed(0)

    class Draw:
        @staticmethod
        def real(*shape):
            return torch.randn(*shape, generator=source, dtype=torch.float64)

        @staticmethod
        def s2(*shape, L):
            F = torch.randn(*shape, L, 2 * L - 1, generator=source, dtype=torch.complex128)
            return F * inside(L)

        @staticmethod
        def so3(*shape, L):
            size = (*shape, L, 2 * L - 1, 2 * L - 1)
            F = torch.randn(*size, generator=source, dtype=torch.complex128)
            return F * inside(L)[:, :, None] * inside(L)[:, None, :]

    return Draw
