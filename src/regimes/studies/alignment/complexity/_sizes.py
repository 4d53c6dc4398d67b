"""How large the networks and their tasks are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Dense:
    """What networks with one hidden layer have in common."""

    seed: tuple[int, ...] = (0, 1)
    images: str = "digits"
    n_train: int = 200
    n_test: int = 200
    probe: int = 20
    rate: float = 0.05
    batch: int = 64
    target: float = 0.01  # cross-entropy of the training set at which a run ends
    refresh: int = 10  # steps between traces of the kernel
    first: int = 5  # step of the first log point
    max_steps: int = 20


@dataclass(frozen=True)
class Width(Dense):
    """Scanned: width and seed."""

    width: tuple[int, ...] = (8, 32)


@dataclass(frozen=True)
class Corruption(Dense):
    """Scanned: share of the labels that are redrawn, and seed."""

    corruption: tuple[float, ...] = (0.0, 1.0)
    hidden: int = 32


@dataclass(frozen=True)
class Channels(Dense):
    """Scanned: channels of the first stage of a VGG network, and seed."""

    base: tuple[int, ...] = (1, 2)
    network: str = "vgg11"
    rate: float = 0.01
    refresh: int = 50
    first: int = 50


SMOKE = {
    "width": Width(),
    "corruption": Corruption(),
    "channels": Channels(base=(1,), seed=(0,), n_train=64, n_test=20, probe=4, max_steps=3),
}
_DIGITS: dict[str, Any] = {
    "n_train": 1000,
    "n_test": 797,
    "probe": 100,
    "max_steps": 40_000,
    "seed": tuple(range(12)),
}
_MNIST: dict[str, Any] = {
    **_DIGITS,
    "images": "mnist",
    "n_train": 10_000,
    "n_test": 10_000,
    "seed": (0, 1, 2),
}
SIZES: dict[str, Any] = {
    "smoke": SMOKE,
    "cpu": {
        "width": Width(width=(8, 16, 32, 64, 128, 256, 512), **_DIGITS),
        "corruption": Corruption(corruption=(0.0, 0.2, 0.4, 0.6, 0.8, 1.0), hidden=256, **_DIGITS),
        "channels": Channels(base=(4, 8), **{**_DIGITS, "seed": (0, 1, 2), "max_steps": 3000}),
    },
    "paper": {
        "width": Width(width=tuple(2**k for k in range(3, 13)), **_MNIST),
        "corruption": Corruption(corruption=(0.0, 0.2, 0.4, 0.6, 0.8, 1.0), hidden=256, **_MNIST),
        "channels": Channels(
            base=(4, 8, 12, 16, 20, 24, 28),
            network="vgg19",
            **{**_MNIST, "images": "cifar10", "n_train": 8000, "n_test": 2000},
        ),
    },
}
