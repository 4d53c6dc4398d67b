"""What is exact about the directions of a network and the signs of Hp [Geiger 2019, app. A, B]."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from regimes.lab import Axis, Point, TrialResult, collect_blocks, study
from regimes.studies.landscape.identities import _directions, _signs


@dataclass(frozen=True)
class Directions:
    """A seed is a network and its training points."""

    network: tuple[str, ...] = ("2x4", "2x6", "3x4")  # L x h
    seed: tuple[int, ...] = (0, 1, 2)
    n_train: int = 60
    images: str = "digits"
    steps: int = 200


@dataclass(frozen=True)
class Collapsed:
    """A seed is a network and its points."""

    seed: tuple[int, ...] = (0, 1, 2)
    d: int = 3
    width: int = 9
    points: int = 60


@dataclass(frozen=True)
class Silent:
    """A seed is a network whose first layer is off everywhere, and its points."""

    seed: tuple[int, ...] = (0, 1, 2)
    width: int = 20
    n_train: int = 30
    steps: int = 100


@dataclass(frozen=True)
class Signs:
    """A seed is a network at its start and its points; labels are drawn many times."""

    seed: tuple[int, ...] = (0, 1)
    width: int = 4  # d = h
    n_train: int = 20
    draws: int = 8  # of the labels


TRIALS: dict[str, Callable[[Any, Point], TrialResult]] = {
    "directions": _directions.directions,
    "collapsed": _directions.collapsed,
    "silent": _directions.silent,
    "signs": _signs.signs,
}
_TEN = tuple(range(10))


@study(
    "landscape/identities",
    version=1,
    sizes={
        "smoke": {
            "directions": Directions(),
            "collapsed": Collapsed(),
            "silent": Silent(),
            "signs": Signs(),
        },
        "cpu": {
            "directions": Directions(
                ("2x14", "2x20", "3x14"), (0, 1, 2), 1000, images="mnist", steps=20_000
            ),
            "collapsed": Collapsed(_TEN, d=5, width=30, points=150),
            "silent": Silent(_TEN, width=200, n_train=200, steps=3000),
            "signs": Signs(_TEN, width=8, n_train=100, draws=20),
        },
    },
    axes={name: [Axis("seed", stacked=True)] for name in TRIALS},
    units={"count": "directions", "loss": "1"},
)
class Identities:
    """How many directions a network has, when it has none, and why Hp has as many signs of either.

    A relu network can change its function in as many directions as it has parameters, less one for
    each hidden neuron. Linear ones have d + 1, and one whose signal is dead has its output bias
    alone, so it stays at a finite loss whatever its size. Over random labels the odd traces of Hp
    are zero on average.

    The paper: [Geiger 2019, secs. II.B and VIII, apps. A and B].
    """

    @staticmethod
    def trial(params: Any, point: Point) -> TrialResult:
        """All seeds of one block."""
        return TRIALS[point.block](params, point)

    summarise = staticmethod(collect_blocks)
