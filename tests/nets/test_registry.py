import pytest
import torch

from regimes import nets

CLASSES = {
    "fully_connected": nets.FullyConnected,
    "mlp": nets.FullyConnected,
    "lenet5": nets.LeNet5,
    "vgg11": nets.VGG,
    "vgg13": nets.VGG,
    "vgg16": nets.VGG,
    "vgg19": nets.VGG,
    "resnet18": nets.ResNet18,
    "resnet10": nets.ResNet,
    "resnet34": nets.ResNet,
    "resnet50": nets.ResNet,
    "resnet101": nets.ResNet,
    "alexnet": nets.AlexNet,
    "efficientnet_b0": nets.EfficientNet,
    "efficientnet_b2": nets.EfficientNet,
    "wide_resnet": nets.WideResNet,
    "convnet3": nets.ConvNet3,
    "convnet4": nets.ConvNet4,
    "mnasnet_like": nets.MnasNetLike,
}


def test_every_name_is_covered():
    assert nets.names() == list(CLASSES)


def test_round_trip(small):
    net = small(seed=3, dtype=torch.float32)
    assert type(net) is CLASSES[small.name]
    assert isinstance(net, nets.Network)
    assert net(small.inputs(dtype=torch.float32)).shape == (3, 2)


def test_make_is_the_constructor(draw):
    x = draw(2, 3, 4)
    made = nets.make("fully_connected", (3, 4), 2, width=5, depth=2, seed=7, dtype=torch.float64)
    direct = nets.FullyConnected(12, 5, 2, 2, seed=7, dtype=torch.float64)
    assert torch.equal(made(x), direct(x))
    mlp = nets.make("mlp", 12, 2, width=5, depth=3, init="lecun", seed=7, dtype=torch.float64)
    assert torch.equal(mlp(x), nets.MLP(12, 5, 3, 2, init="lecun", seed=7, dtype=torch.float64)(x))
    vgg = nets.make("vgg16", (1, 32, 32), base=1)
    assert repr(vgg) == repr(nets.VGG((1, 32, 32), variant=16, base=1))


def test_bad_input():
    with pytest.raises(ValueError, match="unknown network 'resnet19'; use one of: resnet18"):
        nets.make("resnet19", (3, 32, 32))
    with pytest.raises(ValueError, match=r"fully_connected has no option 'witdh'.*are: width"):
        nets.make("fully_connected", 3, witdh=5)
    with pytest.raises(ValueError, match="vgg11 has no option 'variant'"):
        nets.make("vgg11", (3, 32, 32), variant=19)
    with pytest.raises(ValueError, match=r"mlp needs the option\(s\) width, depth"):
        nets.make("mlp", 3)
    with pytest.raises(ValueError, match="in_shape"):
        nets.make("fully_connected", (3, 0), width=5)
    with pytest.raises(ValueError, match=r"\(channels, height, width\)"):
        nets.make("lenet5", 784)
