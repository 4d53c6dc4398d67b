"""Counts and shapes of the image networks whose stability is compared."""

import pytest
import torch
from torch import nn

from regimes import nets

COLOUR = (3, 32, 32)


@pytest.mark.parametrize(
    ("name", "options", "count"),
    [
        ("lenet5", {"padding": "valid", "pool": "max"}, 62_006),
        ("alexnet", {}, 23_272_266),
        ("resnet10", {"base": 8}, 78_002),
        ("resnet34", {}, 21_282_122),
        ("resnet50", {}, 23_520_842),
        ("efficientnet_b0", {}, 3_598_598),
    ],
)
def test_parameter_counts(name, options, count):
    assert nets.make(name, COLOUR, 10, device="meta", **options).n_params == count


def test_depths_count_convolutions_and_linear_layers_on_the_main_path():
    for name, depth in [("resnet10", 10), ("resnet34", 34), ("resnet50", 50), ("alexnet", 8)]:
        net = nets.make(name, COLOUR, 10, device="meta")
        layers = [
            key
            for key, module in net.named_modules()
            if isinstance(module, nn.Conv2d | nn.Linear) and "shortcut" not in key
        ]
        assert len(layers) == depth


def test_a_bottleneck_is_its_formula(draw):
    net = nets.make("resnet50", (2, 8, 8), 2, base=2, dtype=torch.float64).eval()
    block, x = net.blocks[3], draw(2, 8, 8, 8)  # the first of the second stage: stride 2
    z = x
    layers = [*block.residual]
    for at in (0, 3, 6):
        z = layers[at + 1](layers[at](z))
        z = torch.relu(z) if at < 6 else z
    expected = torch.relu(z + block.shortcut(x))
    assert torch.equal(block(x), expected)
    assert block(x).shape == (2, 16, 4, 4)


def test_alexnet_pads_small_images_on_all_sides(draw):
    net = nets.AlexNet((1, 28, 28), 3, base=2, hidden=5, dtype=torch.float64).eval()
    assert net.padding == (2, 2, 2, 2)
    x = draw(2, 1, 28, 28)
    wide = torch.zeros(2, 1, 32, 32, dtype=torch.float64)
    wide[..., 2:30, 2:30] = x
    assert torch.equal(net(x), net.classifier(net.features(wide)))
    with pytest.raises(ValueError, match="at most 32 x 32"):
        nets.AlexNet((3, 64, 64), 10)


def test_squeeze_and_excite_gates_channels_by_their_means(draw):
    net = nets.EfficientNet((1, 8, 8), 2, base=1, dtype=torch.float64).eval()
    gate = next(m for m in net.modules() if type(m).__name__ == "_SqueezeExcite")
    x = draw(2, gate.squeeze.in_channels, 3, 3)
    mean = x.mean((2, 3))
    w1, w2 = gate.squeeze.weight[..., 0, 0], gate.excite.weight[..., 0, 0]
    middle = mean @ w1.T + gate.squeeze.bias
    expected = torch.sigmoid((middle * torch.sigmoid(middle)) @ w2.T + gate.excite.bias)
    assert torch.allclose(gate(x), x * expected[..., None, None])


def test_drop_connect_leaves_residuals_out_in_training_only(draw):
    net = nets.EfficientNet((1, 8, 8), 2, base=1, drop=0.5)
    drops = [m for m in net.modules() if type(m).__name__ == "_DropConnect"]
    assert [m.p for m in drops] == sorted(m.p for m in drops)
    x = torch.ones(2000, 1, 1, 1)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        found = drops[-1].train()(x)
    assert float(found.mean()) == pytest.approx(1, abs=0.1)
    assert found.unique().tolist() == [0.0, pytest.approx(1 / (1 - drops[-1].p))]
    assert torch.equal(drops[-1].eval()(x), x)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: nets.ResNet(COLOUR, variant=18), "variant must be one of"),
        (lambda: nets.EfficientNet(COLOUR, variant="b1"), "variant must be one of"),
        (lambda: nets.EfficientNet(COLOUR, drop=1.0), "drop is a probability"),
        (lambda: nets.AlexNet(COLOUR, dropout=-0.1), "dropout is a probability"),
        (lambda: nets.ResNet(COLOUR, base=0), "base must be"),
    ],
)
def test_bad_input(make, message):
    with pytest.raises(ValueError, match=message):
        make()
