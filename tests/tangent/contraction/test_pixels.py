"""Grams of convolutions from products of single pixels, against gradients written out."""

import math
from dataclasses import replace

import pytest
import torch

from regimes.tangent.contraction import Outer, Strategy
from regimes.tangent.contraction._gram import add_gram_
from regimes.tangent.contraction._overlap import Overlap, as_half
from regimes.tangent.contraction.layers._convolution import ConvolutionShape, Patches

# (space, kernel, stride, padding, dilation)
SHAPES = [
    ((7,), (3,), (1,), (1,), (1,)),
    ((9,), (4,), (2,), (3,), (2,)),
    ((9,), (2,), (3,), (0,), (1,)),  # pixels that no position meets
    ((4, 4), (3, 3), (1, 1), (1, 1), (1, 1)),
    ((8, 8), (3, 3), (2, 2), (1, 1), (1, 1)),
    ((7, 5), (3, 3), (2, 2), (1, 1), (1, 1)),  # the last phases are shorter
    ((4, 6), (1, 1), (2, 2), (0, 0), (1, 1)),
    ((6, 5), (5, 3), (1, 1), (2, 2), (1, 1)),
    ((6, 7), (2, 3), (2, 1), (2, 3), (1, 2)),
    ((5, 5), (3, 3), (3, 2), (4, 3), (2, 3)),  # patches that lie outside altogether
]


def layer(case, m, n, seed, dtype=torch.float64):
    space, kernel, stride, padding, dilation = case
    draws = torch.Generator().manual_seed(seed)
    shape = ConvolutionShape(kernel, stride, padding, dilation)
    positions = shape.overlap(space).spots
    x = torch.randn(n, 1, 2, *space, dtype=torch.float64, generator=draws).to(dtype)
    left = torch.randn(m, n, 3, positions, dtype=torch.float64, generator=draws).to(dtype)
    return Outer(left, Patches(x, shape, positions), True, 0.7, False, Strategy.PIXELS)


def reference(a, b):
    """Weight and bias gradients written out and multiplied."""
    grams = []
    for side in (a, b):
        left, right = side.left.double(), side.right.dense().double()
        weight = torch.einsum("mnpt,ntq->mnpq", left, right).flatten(2)
        grams.append(torch.cat([weight, left.sum(3) * side.bias], 2).flatten(0, 1))
    return grams[0] @ grams[1].T


@pytest.mark.parametrize("workspace", [1, 40_000, 1 << 24])
@pytest.mark.parametrize("outputs", [1, 2])
@pytest.mark.parametrize("case", SHAPES)
def test_gram_of_a_layer(case, outputs, workspace):
    a, b = layer(case, outputs, 5, 0), layer(case, outputs, 18, 1)
    true = reference(a, b)
    out = torch.ones_like(true)
    add_gram_(out, a, b, same=False, workspace=workspace)
    torch.testing.assert_close(out - 1, true, rtol=1e-11, atol=1e-11)
    true = reference(b, b)
    half = torch.zeros_like(true)
    add_gram_(half, b, b, same=True, workspace=workspace)
    torch.testing.assert_close(half.triu(), true.triu(), rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("case", SHAPES)
def test_taps_meet_the_pixels_of_the_patches(case):
    """Every patch, put together from shifted pixels of one phase a tap."""
    right = layer(case, 1, 2, 0).right
    overlap = right.overlap
    cells = overlap.by_phase(right.pixels)
    (h, w), (a, b) = overlap.positions, overlap.grid
    made = torch.zeros(2, h, w, math.prod(overlap.kernel), 2, dtype=torch.float64)
    for number, (phase, down, along) in enumerate(overlap.taps):
        for y in range(h):
            for z in range(w):
                if 0 <= y + down < a and 0 <= z + along < b:
                    made[:, y, z, number] = cells[phase, (y + down) * b + z + along]
    assert torch.equal(made.view(2, h * w, -1), right.dense())
    assert overlap.entries == len({tap.phase for tap in overlap.taps}) * (a * b) ** 2


def test_no_more_products_than_needed():
    """Of a stride of two, only pixels of one phase are paired."""
    assert Overlap((4, 4), (8, 8), (3, 3), (2, 2), (1, 1), (1, 1)).entries == 4 * 16**2
    assert Overlap((4, 4), (8, 8), (1, 1), (2, 2), (0, 0), (1, 1)).entries == 16**2


@pytest.mark.parametrize("size", [1e-30, 1.0, 1e30])
def test_half_precision_keeps_the_digits_of_any_size(size):
    rows = torch.randn(5, 20, 7, generator=torch.Generator().manual_seed(0)).bfloat16()
    rows = (rows * torch.logspace(-3, 3, 20).unsqueeze(1) * size).bfloat16()
    half, scale = as_half(rows)
    back = half.double() * scale.double().unsqueeze(1)
    assert float(half.double().norm(dim=2).max()) <= 128.1
    assert float(((back - rows.double()).norm(dim=2) / rows.double().norm(dim=2)).max()) < 5e-4


def test_factors_in_bfloat16_lose_nothing_more():
    """Against the rounded factors written out; products in bfloat16 would be off by 6e-3."""
    a = layer(SHAPES[4], 2, 20, 0, torch.bfloat16)
    sizes = torch.logspace(-3, 3, 20).view(-1, 1, 1).bfloat16()
    a = replace(a, left=a.left * sizes, bias=0.0)
    true = reference(a, a)
    out = torch.zeros(40, 40)
    add_gram_(out, a, a, same=True, workspace=1 << 24)
    lengths = true.diagonal().sqrt()
    error = ((out - true) / lengths / lengths[:, None]).triu().abs()
    assert float(error.max()) < 1e-3


def test_a_sample_without_gradient_has_none_in_half_precision():
    rows = torch.zeros(2, 3, 4, dtype=torch.bfloat16)
    rows[:, 1] = 1.0
    half, scale = as_half(rows)
    assert bool(torch.isfinite(half).all())
    assert scale.tolist() == [1.0, 2 / 128, 1.0]
    assert float(half[:, 0].abs().max()) == 0.0


def test_frames_and_volumes_are_refused():
    shape = ConvolutionShape((2, 2, 2), (1, 1, 1), (0, 0, 0), (1, 1, 1))
    volume = Patches(torch.zeros(1, 1, 2, 3, 3, 3), shape, 8)
    frames = replace(layer(SHAPES[3], 1, 1, 0).right, x=torch.zeros(1, 2, 2, 4, 4))
    for right in (volume, frames):
        with pytest.raises(ValueError, match="one or two axes"):
            assert right.overlap
