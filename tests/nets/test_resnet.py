import pytest
import torch
import torch.nn.functional as F
from torch import nn

from regimes import nets


def test_parameter_counts():
    assert nets.ResNet18((3, 32, 32), 10).n_params == 11_173_962
    assert nets.ResNet18((3, 32, 32)).n_params == pytest.approx(11.17e6, rel=1e-3)


def reference(net, x, batch_norm):
    """The definition, written with plain functions on the network's own parameters."""
    modules = [m for m in net.modules() if isinstance(m, nn.Conv2d | nn.BatchNorm2d)]
    queue = iter(modules)

    def conv(z, stride=1):
        layer = next(queue)
        z = F.conv2d(z, layer.weight, layer.bias, stride, layer.weight.shape[-1] // 2)
        if not batch_norm:
            return z
        norm = next(queue)
        shape = (1, -1, 1, 1)
        z = (z - norm.running_mean.view(shape)) / (norm.running_var.view(shape) + 1e-5).sqrt()
        return z * norm.weight.view(shape) + norm.bias.view(shape)

    z = torch.relu(conv(x))
    for stage in range(4):
        for block in range(2):
            stride = 2 if stage and not block else 1
            residual = conv(torch.relu(conv(z, stride)))
            shortcut = conv(z, stride) if stride == 2 else z
            z = torch.relu(residual + shortcut)
    assert next(queue, None) is None
    return z.mean((2, 3)) @ net.classifier.weight.T + net.classifier.bias


@pytest.mark.parametrize("batch_norm", [False, True])
def test_formula(batch_norm, draw):
    net = nets.ResNet18((3, 32, 32), 2, base=2, batch_norm=batch_norm, dtype=torch.float64).eval()
    for i, m in enumerate(net.modules()):
        if isinstance(m, nn.BatchNorm2d):  # nothing that is 0 or 1 can hide a mistake
            m.running_mean += 0.1 * draw(*m.running_mean.shape, seed=i)
            m.running_var += 0.3
            m.weight.data += 0.1 * draw(*m.weight.shape, seed=i + 1000)
    x = draw(2, 3, 32, 32)
    torch.testing.assert_close(net(x), reference(net, x, batch_norm), rtol=1e-11, atol=1e-13)


def test_strides_leave_a_4_by_4_image():
    net = nets.ResNet18((3, 32, 32), base=1).eval()
    images = net.blocks(net.stem(torch.zeros(1, 3, 32, 32)))
    assert images.shape == (1, 8, 4, 4)


def test_biases_only_without_batch_norm():
    for batch_norm in (False, True):
        net = nets.ResNet18((1, 8, 8), base=1, batch_norm=batch_norm)
        convolutions = [m for m in net.modules() if isinstance(m, nn.Conv2d)]
        assert len(convolutions) == 20
        assert all((m.bias is None) is batch_norm for m in convolutions)


def test_batch_norm_is_the_papers():
    norms = [m for m in nets.ResNet18((1, 8, 8), base=1).modules() if isinstance(m, nn.BatchNorm2d)]
    assert len(norms) == 20
    # a decay of .9 is what torch calls a momentum of .1
    assert all((m.momentum, m.eps) == (0.1, 1e-5) for m in norms)


def test_zero_init_residual(draw):
    net = nets.ResNet18((1, 8, 8), base=2, zero_init_residual=True, dtype=torch.float64).eval()
    z = torch.relu(draw(1, 2, 8, 8))
    assert torch.equal(net.blocks[0](z), z)  # a block without stride is the identity
    zero = [m for m in net.modules() if isinstance(m, nn.BatchNorm2d) and not m.weight.any()]
    assert len(zero) == 8


def test_bad_input():
    with pytest.raises(ValueError, match="needs batch_norm=True"):
        nets.ResNet18((1, 8, 8), batch_norm=False, zero_init_residual=True)
    with pytest.raises(ValueError, match="base must be"):
        nets.ResNet18((1, 8, 8), base=0)
