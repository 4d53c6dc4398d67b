import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from regimes import nets


@pytest.mark.parametrize("side", [28, 8])
def test_formula(side, draw):
    """docs/themes/compression.md, "Digits", on 28 x 28 images and on 8 x 8 ones."""
    h = 2
    net = nets.MnasNetLike((side, side), 2, width_factor=h, dtype=torch.float64)
    layers = [m for m in net.modules() if isinstance(m, nn.Conv2d)]
    assert len(layers) == 16
    assert all(m.bias is None for m in layers)
    net.readout.bias.data.fill_(0.7)
    queue, factor = iter(layers), nets.activation("swish_1").factor

    def act(z):
        return factor * z * torch.sigmoid(z)

    def conv(z, stride=1, depthwise=False):
        w = next(queue).weight
        fan_in = w[0].numel()
        groups = z.shape[1] if depthwise else 1
        assert fan_in == (25 if depthwise else z.shape[1] * w.shape[-1] ** 2)
        return F.conv2d(z, w / math.sqrt(fan_in), None, stride, w.shape[-1] // 2, 1, groups)

    def inverted_residual(z, c_out, stride):
        c_in = z.shape[1]
        res = act(conv(z))
        assert res.shape[1] == 3 * c_in
        res = conv(act(conv(res, stride, depthwise=True)))
        assert res.shape[1] == c_out
        return (z + res) / math.sqrt(2) if stride == 1 else res

    x = draw(2, 1, side, side)
    z = act(conv(x, 2))
    assert z.shape[1] == 4 * h
    z = act(conv(act(conv(z, depthwise=True))))
    assert z.shape[1] == 2 * h
    for channels, stride in ((h, 2), (h, 1), (3 * h, 2), (3 * h, 1)):
        z = inverted_residual(z, channels, stride)
    z = act(conv(z)).mean((2, 3))
    assert z.shape[1] == 20 * h
    expected = z @ net.readout.weight.T / (20 * h) + 0.7
    torch.testing.assert_close(net(x), expected, rtol=1e-11, atol=1e-12)


def test_starts_as_the_spec_says():
    net = nets.MnasNetLike((28, 28))
    head = [m for m in net.modules() if isinstance(m, nn.Conv2d)][-1]
    assert head.weight.shape == (200, 30, 1, 1)
    assert float(head.weight.detach().square().mean()) == pytest.approx(1.0, rel=0.05)
    assert not net.readout.bias.any()
    assert net.readout.weight_multiplier == pytest.approx(1 / 200)


def test_ntk_readout():
    net = nets.MnasNetLike((8, 8), width_factor=1, parametrization="ntk")
    assert net.readout.weight_multiplier == pytest.approx(20**-0.5)


def test_bad_input():
    with pytest.raises(ValueError, match="width_factor must be"):
        nets.MnasNetLike((8, 8), width_factor=0)
    with pytest.raises(ValueError, match="unknown parametrization"):
        nets.MnasNetLike((8, 8), parametrization="meanfield")
