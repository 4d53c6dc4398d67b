import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from regimes import nets


def test_formula(draw):
    """The formula, on the network's own parameters with biases that act."""
    net = nets.WideResNet(
        (2, 8, 8), 2, width_factor=2, blocks=2, activation="relu", dtype=torch.float64
    )
    for i, p in enumerate(net.parameters()):
        if p.ndim == 1:
            p.data = draw(*p.shape, seed=i)
    queue = iter([m for m in net.modules() if isinstance(m, nn.Conv2d)])

    def conv(z, stride=1):
        layer = next(queue)
        w = layer.weight / math.sqrt(layer.weight[0].numel())
        return F.conv2d(z, w, layer.bias, stride, layer.weight.shape[-1] // 2)

    def act(z):
        return math.sqrt(2) * torch.relu(z)

    x = draw(2, 2, 8, 8)
    z = conv(x)
    assert z.shape[1] == 16
    for stage in range(3):
        for block in range(2):
            stride = 2 if stage and not block else 1
            residual = conv(act(conv(act(z))), stride)
            shortcut = z if block else conv(z, stride)
            z = math.cos(math.pi / 4) * shortcut + math.sin(math.pi / 4) * residual
        assert z.shape[1:] == (32 * 2**stage, 8 // 2**stage, 8 // 2**stage)
    assert next(queue, None) is None
    expected = act(z).mean((2, 3)) @ net.readout.weight.T / math.sqrt(128) + net.readout.bias
    torch.testing.assert_close(net(x), expected, rtol=1e-11, atol=1e-12)


def test_28_10_has_25_hidden_layers():
    net = nets.WideResNet((3, 32, 32), width_factor=1)
    kernels = [m.kernel_size for m in net.modules() if isinstance(m, nn.Conv2d)]
    assert kernels.count((3, 3)) == 25
    assert kernels.count((1, 1)) == 2  # with k = 1 the first stage keeps its 16 channels
    assert not any(isinstance(m, nn.BatchNorm2d) for m in net.modules())
    assert all(not p.any() for p in net.parameters() if p.ndim == 1)


def test_bad_input():
    for option in ("width_factor", "blocks"):
        with pytest.raises(ValueError, match=f"{option} must be"):
            nets.WideResNet((1, 8, 8), **{option: 0})
    with pytest.raises(ValueError, match="unknown parametrization"):
        nets.WideResNet((1, 8, 8), width_factor=1, blocks=1, parametrization="mf")
