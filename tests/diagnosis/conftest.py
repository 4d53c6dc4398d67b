"""Digits, and networks that were trained lazily or not by the scale of their outputs."""

import copy

import pytest
import torch
from torch import nn

import regimes as rg


class Scaled(nn.Module):
    """`alpha (f - f at the start)` [Geiger 2020, sec. 2]: large alpha trains lazily."""

    def __init__(self, network, alpha):
        super().__init__()
        self.network, self.alpha = network, alpha
        self.start = copy.deepcopy(network).requires_grad_(False)

    def forward(self, x):
        return self.alpha * (self.network(x) - self.start(x))


def convolutions(seed, channels=8):
    """Two convolutions and a linear layer, drawn from one seed."""
    with torch.random.fork_rng():
        network = _convolutions(channels)
    draws = torch.Generator().manual_seed(seed)
    for p in network.parameters():
        fan = p[0].numel() if p.ndim > 1 else 1
        p.data = torch.randn(p.shape, generator=draws) * (2 / fan) ** 0.5 * (p.ndim > 1)
    return network


def _convolutions(channels):
    return nn.Sequential(
        nn.Conv2d(1, channels, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(channels, 2 * channels, 3, padding=1),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(2),
        nn.Flatten(),
        nn.Linear(8 * channels, 10),
    )


class Attention(nn.Module):
    """Rows of an image as words: one block of attention and a linear layer."""

    def __init__(self, seed, width=32):
        super().__init__()
        draws = torch.Generator().manual_seed(seed)
        shapes = [(8, width), (width, width), (width, width), (width, width), (width, 10)]
        self.w = nn.ParameterList(torch.randn(s, generator=draws) / s[0] ** 0.5 for s in shapes)

    def forward(self, x):
        e, q, k, v, out = self.w
        words = x.flatten(1).unflatten(1, (8, 8)) @ e
        mixed = ((words @ q) @ (words @ k).mT / q.shape[1] ** 0.5).softmax(-1) @ (words @ v)
        return torch.relu(words + mixed).mean(1) @ out


NETWORKS = {
    "mlp": lambda seed: nn.Sequential(
        nn.Flatten(), rg.nets.FullyConnected(64, 100, out_dim=10, depth=2, seed=seed)
    ),
    "cnn": convolutions,
    "attention": Attention,
}


def descend(network, ds, rate, steps):
    """Stochastic gradient descent with batches from a seed."""
    draws = torch.Generator().manual_seed(0)
    trained = [p for p in network.parameters() if p.requires_grad]
    descent = torch.optim.SGD(trained, lr=rate)
    for _ in range(steps):
        rows = torch.randint(len(ds.x_train), (32,), generator=draws)
        descent.zero_grad()
        nn.functional.cross_entropy(network(ds.x_train[rows]), ds.y_train[rows]).backward()
        descent.step()
    return network


@pytest.fixture(scope="session")
def digits():
    return rg.data.digits(n_train=400, seed=0)


@pytest.fixture(scope="session")
def trained(digits):
    """(architecture, alpha, seed) -> the network before and after; rates follow alpha."""

    def made(name, alpha, seed=0, steps=150, rate=0.5):
        before = Scaled(NETWORKS[name](seed), alpha)
        after = descend(copy.deepcopy(before), digits, rate / alpha**2, steps)
        return before, after

    return made
