import pytest
import torch
import torch.nn.functional as F
from torch import nn

from regimes import nets


def filled(layer, draw, dtype):
    layer = layer.to(dtype).to_empty(device="cpu")
    for i, parameter in enumerate(layer.parameters()):
        parameter.data = draw(*parameter.shape, dtype=dtype, seed=i + 1)
    return layer


@pytest.mark.parametrize("n", [1, 20])  # fewer and more input entries than weights
@pytest.mark.parametrize("bias", [True, False])
def test_linear(n, bias, dtype, tolerance, draw):
    layer = nets.ScaledLinear(6, 5, bias, weight_multiplier=0.3, bias_multiplier=0.1, device="meta")
    layer, x = filled(layer, draw, dtype), draw(n, 6, dtype=dtype)
    expected = 0.3 * x @ layer.weight.T + (0.1 * layer.bias if bias else 0.0)
    torch.testing.assert_close(layer(x), expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("bias", [True, False])
def test_conv(bias, dtype, tolerance, draw):
    layer = nets.ScaledConv2d(
        4, 6, 3, 2, 1, groups=2, bias=bias, bias_multiplier=0.5, device="meta"
    )
    layer, x = filled(layer, draw, dtype), draw(2, 4, 7, 7, dtype=dtype)
    expected = F.conv2d(x, layer.weight, None, 2, 1, 1, 2) / (2 * 9) ** 0.5
    if bias:
        expected = expected + 0.5 * layer.bias[:, None, None]
    torch.testing.assert_close(layer(x), expected, rtol=tolerance, atol=tolerance)


def test_the_contract_with_other_rooms(small):
    """Parameters live only in linear, convolutional and batch-norm layers."""
    for module in small().modules():
        if any(True for _ in module.parameters(recurse=False)):
            assert isinstance(module, nn.Linear | nn.Conv2d | nn.BatchNorm2d)


def test_repr_shows_the_multipliers():
    layer = nets.ScaledConv2d(4, 8, 5, bias_multiplier=0.1, device="meta")
    assert "weight_multiplier=0.1, bias_multiplier=0.1" in repr(layer)
