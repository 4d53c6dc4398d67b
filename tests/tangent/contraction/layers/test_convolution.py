"""Patches of a convolution: short cuts give what unfolding every patch gives."""

import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils import skip_init

from regimes.tangent import TangentKernel
from regimes.tangent.contraction.layers._convolution import ConvolutionShape, Patches

# (space, kernel, stride, padding, dilation)
SHAPES = [
    ((7,), (3,), (1,), (1,), (1,)),
    ((9,), (4,), (2,), (3,), (2,)),
    ((5, 4), (3, 3), (1, 1), (1, 1), (1, 1)),
    ((6, 5), (5, 3), (1, 1), (2, 2), (1, 1)),
    ((6, 7), (2, 3), (2, 1), (2, 3), (1, 2)),
    ((4, 6), (1, 3), (1, 2), (0, 1), (1, 1)),
    ((3, 4, 3), (2, 1, 3), (1, 1, 2), (1, 0, 1), (1, 1, 1)),
]


def patches(case, n=3, channels=2, seed=0):
    space, kernel, stride, padding, dilation = case
    x = torch.randn(
        n, 1, channels, *space, dtype=torch.float64, generator=torch.Generator().manual_seed(seed)
    )
    sides = [
        (size + 2 * p - d * (k - 1) - 1) // s + 1
        for size, k, s, p, d in zip(space, kernel, stride, padding, dilation, strict=True)
    ]
    return Patches(x, ConvolutionShape(kernel, stride, padding, dilation), math.prod(sides))


@pytest.mark.parametrize("case", SHAPES)
def test_parts_are_the_columns_of_the_patches(case):
    right = patches(case)
    parts = list(right.parts(thin=True))
    walked = case[2][0] == 1  # where rows of positions share rows of pixels
    assert len(parts) == (case[1][0] if walked else 1)
    assert torch.equal(torch.cat(parts, 2), right.dense())
    assert all(part[0].numel() <= right.held(thin=False) for part in parts)


@pytest.mark.parametrize("case", SHAPES)
def test_pixel_gram_is_the_gram_of_the_patches(case):
    right, other = patches(case), patches(case, n=4, seed=1)
    true = torch.einsum("ntq,ksq->tnsk", right.dense(), other.dense())
    torch.testing.assert_close(right._pixel_gram(other), true, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(right.gram(other), true, rtol=1e-12, atol=1e-12)


def test_patches_against_torch_unfold():
    right = patches(SHAPES[3])
    unfolded = F.unfold(right.x[:, 0], (5, 3), padding=(2, 2)).transpose(1, 2)
    assert torch.equal(right.parameter_order(right.dense()), unfolded)


def test_small_feature_maps_are_paired_pixel_by_pixel():
    """Wide layers on few pixels: the plan pairs them, and the Gram is that of the Jacobian."""
    net = nn.Sequential(
        skip_init(nn.Conv2d, 48, 48, 3, padding=1),
        nn.Tanh(),
        nn.Flatten(),
        skip_init(nn.Linear, 48 * 9, 1, bias=False),
    )
    draw = torch.Generator().manual_seed(1)
    for p in net.parameters():
        p.data = torch.randn(p.shape, dtype=torch.float64, generator=draw) / 20
    x = torch.randn(6, 48, 3, 3, dtype=torch.float64, generator=draw)
    kernel = TangentKernel(net)
    assert kernel.plan(x).layers[1].path == "pairs"
    true = TangentKernel(net, engine="jacobian")(x)
    torch.testing.assert_close(kernel(x), true, rtol=1e-10, atol=1e-12)
