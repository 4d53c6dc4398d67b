"""How large the random problems are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

SEEDS = (0, 1, 2, 3, 4)


@dataclass(frozen=True)
class Small:
    """A network with two hidden layers on a few points of the plane."""

    points: int = 12
    width: int = 8
    seed: tuple[int, ...] = SEEDS


@dataclass(frozen=True)
class Step(Small):
    """Learning rates of single steps."""

    etas: tuple[float, ...] = (1e-2, 10**-2.5, 1e-3, 10**-3.5, 1e-4)


@dataclass(frozen=True)
class Regression:
    """Random features, and the numbers of steps after which they are compared."""

    points: int = 20
    features: int = 50
    steps: tuple[int, ...] = (1, 10, 100)
    seed: tuple[int, ...] = SEEDS


@dataclass(frozen=True)
class Layers:
    """An MLP and a VGG19 network in both precisions."""

    points: int = 6
    base: int = 4
    seed: tuple[int, ...] = SEEDS


@dataclass(frozen=True)
class Aligned:
    """Random kernels of several outputs."""

    points: int = 30
    classes: int = 4
    kernels: int = 20
    seed: tuple[int, ...] = SEEDS


@dataclass(frozen=True)
class Bound:
    """Random features of a linear class, or kernels along a path."""

    points: int = 12
    features: int = 20
    kernels: int = 5
    seed: tuple[int, ...] = SEEDS


@dataclass(frozen=True)
class Classes:
    """A linear class with several outputs, maximised for random signs."""

    points: int = 8
    classes: int = 3
    features: int = 20
    radius: float = 1.0
    gamma: float = 1.0
    signs: int = 200
    steps: int = 300
    seed: tuple[int, ...] = SEEDS


@dataclass(frozen=True)
class Rescaling:
    """Random features and labels."""

    points: int = 15
    features: int = 40
    eta: float = 0.1
    seed: tuple[int, ...] = SEEDS


CPU: dict[str, Any] = {
    "spectra": Small(),
    "rounding": Small(seed=(5, 6, 7, 8, 9)),
    "step": Step(),
    "regression": Regression(),
    "layers": Layers(),
    "aligned": Aligned(),
    "linear": Bound(),
    "flow": Bound(),
    "classes": Classes(),
    "rescaling": Rescaling(),
    "supernat": Rescaling(),
}
_TWO: dict[str, Any] = {"seed": (0, 1)}
SMOKE: dict[str, Any] = {
    "spectra": Small(points=4, **_TWO),
    "rounding": Small(points=4, **_TWO),
    "step": Step(points=4, **_TWO),
    "regression": Regression(**_TWO),
    "layers": Layers(points=2, base=1, **_TWO),
    "aligned": Aligned(kernels=2, points=8, **_TWO),
    "linear": Bound(points=6, **_TWO),
    "flow": Bound(points=6, **_TWO),
    "classes": Classes(signs=10, steps=20, **_TWO),
    "rescaling": Rescaling(points=5, **_TWO),
    "supernat": Rescaling(points=5, **_TWO),
}
SIZES = {"smoke": SMOKE, "cpu": CPU, "paper": {**CPU, "layers": Layers(base=64)}}
