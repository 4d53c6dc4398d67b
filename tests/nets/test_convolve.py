"""Convolutions as matrix products against the library's own."""

from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from regimes.nets._convolve import SMALL, as_product, side_by_side

PLAIN = {"bias": False, "dtype": torch.float64}


@pytest.fixture(autouse=True)
def _members_side_by_side():
    with side_by_side():
        yield


def conv_and_images(c_in, c_out, kernel, image, **options):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        conv = nn.Conv2d(c_in, c_out, kernel, **options, **PLAIN)
    draw = torch.Generator().manual_seed(1)
    return conv, torch.randn(3, c_in, *image, generator=draw, dtype=torch.float64)


@pytest.mark.parametrize("image", [(5, 5), (7, 4), (3, 6)])
@pytest.mark.parametrize("stride", [1, 2, (2, 1)])
@pytest.mark.parametrize("padding", [0, 1, (2, 1)])
@pytest.mark.parametrize("kernel", [1, 3, (1, 3)])
def test_a_depthwise_convolution_is_the_librarys(image, stride, padding, kernel):
    conv, x = conv_and_images(4, 4, kernel, image, stride=stride, padding=padding, groups=4)
    torch.testing.assert_close(as_product(conv, x, conv.weight), conv(x))


def test_a_pointwise_convolution_is_the_librarys():
    conv, x = conv_and_images(5, 3, 1, (6, 4))
    torch.testing.assert_close(as_product(conv, x, conv.weight), conv(x))


@pytest.mark.parametrize("stride", [1, 2, (1, 2)])
@pytest.mark.parametrize("padding", [0, 2, (1, 0)])
def test_a_small_filter_is_the_librarys(stride, padding):
    conv, x = conv_and_images(2, 3, 3, (6, 4), stride=stride, padding=padding)
    torch.testing.assert_close(as_product(conv, x, conv.weight), conv(x))


@pytest.mark.parametrize(
    "options",
    [
        {"c_in": 4, "c_out": 4, "kernel": 3, "groups": 4, "padding": 1},
        {"c_in": 4, "c_out": 6, "kernel": 1},
        {"c_in": 1, "c_out": 6, "kernel": 3, "stride": 2},
    ],
)
def test_gradients_of_stacked_members_are_the_librarys(options):
    conv, _ = conv_and_images(image=(5, 5), **options)
    draw = torch.Generator().manual_seed(2)
    x = torch.randn(2, 3, conv.in_channels, 5, 5, generator=draw, dtype=torch.float64)
    weight = torch.randn(2, *conv.weight.shape, generator=draw, dtype=torch.float64)

    def ours(x, weight):
        return as_product(conv, x, weight).square().sum()

    def theirs(x, weight):
        return F.conv2d(x, weight, None, conv.stride, conv.padding, 1, conv.groups).square().sum()

    found = torch.vmap(torch.func.grad(ours, (0, 1)))(x, weight)
    expected = torch.vmap(torch.func.grad(theirs, (0, 1)))(x, weight)
    torch.testing.assert_close(found, expected)


@pytest.mark.parametrize(
    "options",
    [
        {"kernel": 5},
        {"kernel": 3, "groups": 2},
        {"kernel": 3, "groups": 4, "dilation": 2},
        {"kernel": 3, "groups": 4, "padding": 1, "padding_mode": "circular"},
        {"kernel": 3, "groups": 4, "padding": "same"},
        {"kernel": 3, "groups": 4, "image": (SMALL, 3)},
    ],
)
def test_every_other_kind_is_left_to_the_library(options):
    conv, x = conv_and_images(4, 4, **({"image": (5, 5)} | options))
    assert as_product(conv, x, conv.weight) is None


def test_a_network_alone_uses_the_librarys():
    conv, x = conv_and_images(4, 4, 1, (5, 5))
    with ThreadPoolExecutor(1) as other:  # a thread of its own: nothing is side by side there
        assert other.submit(as_product, conv, x, conv.weight).result() is None
