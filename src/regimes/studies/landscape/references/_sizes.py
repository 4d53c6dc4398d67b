"""Blocks and sizes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True)
class Labels:
    """A perceptron and random labels: scanned points; a seed is a draw."""

    labelled: tuple[int, ...] = (5, 10, 18)
    seed: tuple[int, ...] = tuple(range(6))
    dims: int = 5


@dataclass(frozen=True)
class Directions:
    """A perceptron and a teacher in a few of d dimensions: scanned d; a seed is a draw."""

    inputs: tuple[int, ...] = (5, 40)
    seed: tuple[int, ...] = tuple(range(4))
    n_train: int = 20
    teacher_dims: int = 5
    n_test: int = 200


@dataclass(frozen=True)
class Regression:
    """Least squares on random labels: scanned weights N; a seed is a draw."""

    inputs: tuple[int, ...] = (10, 20, 40)
    seed: tuple[int, ...] = tuple(range(4))
    n_train: int = 20


@dataclass(frozen=True)
class Student:
    """A student of a noisy teacher: scanned width; a seed is both, and their points."""

    width: tuple[int, ...] = (2, 4, 12)
    seed: tuple[int, ...] = tuple(range(3))
    n_train: int = 30
    n_test: int = 200
    d: int = 5
    noise: float = 0.5
    rate: float = 3e-3
    steps: int = 200


_P = 400  # points of the regression
_NEAR = (20, 28, 40, 56, 80)  # N - P of the exponents
SIZES: dict[str, dict[str, Any]] = {
    "smoke": {
        "labels": Labels(),
        "directions": Directions(),
        "regression": Regression(),
        "student": Student(),
    },
    "cpu": {
        "labels": Labels(labelled=(20, 40, 70), seed=tuple(range(400)), dims=20),
        "directions": Directions(
            inputs=(2, 5, 10, 15, 20, 25, 30, 35, 40, 50, 70, 100, 200, 400),
            seed=tuple(range(100)),
            n_train=50,
            teacher_dims=10,
            n_test=2000,
        ),
        "regression": Regression(
            inputs=(
                100,
                200,
                300,
                *(_P - k for k in reversed(_NEAR)),
                _P,
                *(_P + k for k in _NEAR),
                600,
                1000,
                2000,
            ),
            seed=tuple(range(100)),
            n_train=_P,
        ),
        "student": Student(
            width=(2, 4, 6, 8, 10, 12, 14, 16, 28, 56, 80),
            seed=tuple(range(8)),
            n_train=200,
            n_test=2000,
            d=15,
            steps=100_000,
        ),
    },
}
_LARGE = SIZES["cpu"]
SIZES["paper"] = _LARGE | {
    "student": replace(
        _LARGE["student"], width=(4, 8, 16, 24, 32, 40, 48, 64, 96, 160, 320), n_train=800
    )
}
