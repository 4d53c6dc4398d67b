"""One list of small networks, run through the tests that hold for every network."""

import pytest
import torch

from regimes import nets

# name -> (shape of one input, options that keep the network small)
SMALL = {
    "fully_connected": ((6,), {"width": 5, "depth": 2, "bias": True}),
    "mlp": ((6,), {"width": 5, "depth": 3}),
    "lenet5": ((2, 8, 8), {}),
    "vgg11": ((1, 32, 32), {"base": 2}),
    "vgg13": ((1, 32, 32), {"base": 2}),
    "vgg16": ((1, 32, 32), {"base": 1}),
    "vgg19": ((1, 32, 32), {"base": 1, "batch_norm": True}),
    "resnet18": ((2, 8, 8), {"base": 2}),
    "resnet10": ((2, 8, 8), {"base": 2}),
    "resnet50": ((2, 8, 8), {"base": 1}),
    "alexnet": ((1, 28, 28), {"base": 2, "hidden": 6}),
    "efficientnet_b0": ((1, 8, 8), {"base": 1}),
    "wide_resnet": ((1, 8, 8), {"width_factor": 1, "blocks": 1}),
    "convnet4": ((1, 8, 8), {"width": 4, "kernel_size": 3}),
    "mnasnet_like": ((1, 8, 8), {"width_factor": 2}),
}


def draw(*shape, dtype=torch.float64, seed=0):
    """Standard normal numbers that do not depend on the global state."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, dtype=torch.float64, generator=generator).to(dtype)


class SmallNetwork:
    """A name with its small options: call it for a network, `inputs` for data that fit."""

    def __init__(self, name):
        self.name = name
        self.shape, self.options = SMALL[name]

    def __call__(self, seed=0, dtype=torch.float64, out_dim=2):
        net = nets.make(self.name, self.shape, out_dim, seed=seed, dtype=dtype, **self.options)
        return net.eval()

    def inputs(self, n=3, dtype=torch.float64):
        return draw(n, *self.shape, dtype=dtype)


@pytest.fixture(params=list(SMALL))
def small(request):
    """Every network of the registry, small."""
    return SmallNetwork(request.param)


@pytest.fixture(name="draw")
def draw_fixture():
    """Seeded standard normal tensors: draw(*shape, dtype=..., seed=...)."""
    return draw
