import pytest
import torch
from torch import nn

from regimes import nets

# channels of VGG11 and 19, in units of base / 64
COLUMNS = {
    11: "64 M 128 M 256 256 M 512 512 M 512 512 M",
    13: "64 64 M 128 128 M 256 256 M 512 512 M 512 512 M",
    16: "64 64 M 128 128 M 256 256 256 M 512 512 512 M 512 512 512 M",
    19: "64 64 M 128 128 M 256 256 256 256 M 512 512 512 512 M 512 512 512 512 M",
}


@pytest.mark.parametrize("variant", COLUMNS)
def test_columns(variant):
    net = nets.VGG((3, 32, 32), 10, variant=variant, base=4)
    found = [
        "M" if isinstance(m, nn.MaxPool2d) else str(m.out_channels * 64 // 4)
        for m in net.features
        if isinstance(m, nn.MaxPool2d | nn.Conv2d)
    ]
    assert " ".join(found) == COLUMNS[variant]
    convolutions = [m for m in net.features if isinstance(m, nn.Conv2d)]
    assert all(m.kernel_size == (3, 3) and m.padding == (1, 1) for m in convolutions)
    assert (net.classifier.in_features, net.classifier.out_features) == (8 * 4, 10)


def test_nineteen_has_17_layers_and_the_known_size():
    layers = nets.VGG((3, 32, 32), 10, variant=19, base=2).modules()
    assert sum(isinstance(m, nn.Conv2d | nn.Linear) for m in layers) == 17
    assert nets.VGG((3, 32, 32), 10, variant=11).n_params == 9_225_610


@pytest.mark.parametrize("batch_norm", [False, True])
def test_batch_norm_replaces_the_biases(batch_norm):
    net = nets.VGG((1, 32, 32), base=1, batch_norm=batch_norm)
    assert sum(isinstance(m, nn.BatchNorm2d) for m in net.modules()) == (8 if batch_norm else 0)
    for m in net.modules():
        if isinstance(m, nn.Conv2d):
            assert (m.bias is None) is batch_norm


def test_formula(draw):
    net, x = nets.VGG((1, 32, 32), base=2, dtype=torch.float64), draw(2, 1, 32, 32)
    z = x
    for module in net.features:
        if isinstance(module, nn.Conv2d):
            z = torch.relu(nn.functional.conv2d(z, module.weight, module.bias, padding=1))
        elif isinstance(module, nn.MaxPool2d):
            z = nn.functional.max_pool2d(z, 2)
    assert z.shape == (2, 16, 1, 1)
    expected = z[:, :, 0, 0] @ net.classifier.weight.T + net.classifier.bias
    torch.testing.assert_close(net(x), expected, rtol=1e-12, atol=1e-14)


def test_larger_images_keep_the_linear_layer():
    assert nets.VGG((1, 64, 96), base=1)(torch.zeros(1, 1, 64, 96)).shape == (1, 1)


def test_bad_input():
    with pytest.raises(ValueError, match=r"variant must be one of \[11, 13, 16, 19\], got 12"):
        nets.VGG((3, 32, 32), variant=12)
    with pytest.raises(ValueError, match="at least 32 x 32 pixels, got 28 x 28; pad"):
        nets.VGG((28, 28))
    with pytest.raises(ValueError, match="base must be"):
        nets.VGG((3, 32, 32), base=0)
