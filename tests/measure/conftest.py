"""Draws and small models shared by the tests of `regimes.measure`."""

import pytest
import torch


@pytest.fixture
def draw():
    """`draw(*shape, seed=0)`: standard normal float64 numbers that depend on the seed alone."""

    def standard_normal(*shape, seed=0):
        return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).double()

    return standard_normal


@pytest.fixture
def tanh_net(draw):
    """A net 2-8-8-2 as a function of its flat parameters: `(f, w, x)` with 12 samples."""
    sizes = [(8, 2), (8,), (8, 8), (8,), (2, 8), (2,)]
    counts = [torch.Size(size).numel() for size in sizes]
    w, x = 0.7 * draw(sum(counts), seed=1), draw(12, 2, seed=2)

    def f(flat, inputs=x):
        parts = [p.reshape(s) for p, s in zip(flat.split(counts), sizes, strict=True)]
        hidden = torch.tanh(inputs @ parts[0].T + parts[1])
        hidden = torch.tanh(hidden @ parts[2].T + parts[3])
        return hidden @ parts[4].T + parts[5]

    return f, w, x
