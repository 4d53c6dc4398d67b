"""What is run at each size; the protocols are in docs/themes/landscape.md, "The transition"."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from regimes.lab import Axis
from regimes.studies.landscape import _networks

# N* ~ scale (P/1000)^power to aim at: widths around it are run
_EXPECTED = {"random": (400.0, 0.9), "parity": (150.0, 0.75)}


@dataclass(frozen=True)
class Scan:
    """Scanned: depth, inputs (0: d = h), n_train and, side by side, widths and seeds."""

    n_train: tuple[int, ...]
    width: tuple[int, ...]
    seed: tuple[int, ...]
    steps: int
    depth: tuple[int, ...] = (2,)
    inputs: tuple[int, ...] = (10,)
    labels: str = "random"
    images: str = "mnist"
    n_test: int = 0
    rate: float = 1e-3
    margin: float = 0.5
    trainer: str = "adam_fast"
    below: float = 0.0  # widths are run whose N is from this part of the expected N*
    beyond: float = 1e9  # to this multiple of it
    ranks: bool = False  # whether the rank of H0 is measured
    widths_per_trial: int = 0
    seeds_per_trial: int = 0


AXES: dict[str, Any] = dict.fromkeys(
    ("size", "depth", "dimension", "parity", "wide", "time", "rank", "map", "large"),
    (
        "depth",
        "inputs",
        Axis("n_train", unit="points"),
        Axis("width", stacked=True, batch="widths_per_trial", unit="neurons"),
        Axis("seed", stacked=True, batch="seeds_per_trial"),
    ),
)
_FOUR, _THREE = tuple(range(4)), tuple(range(3))
_SMOKE = Scan((20,), (2, 6), (0, 1), 100)
_SIZE = Scan((250, 500, 1000), (*range(4, 15), *range(16, 37, 2)), _THREE, 60_000)
# trials of a minute or two; few widths a trial, which are all padded to the widest of theirs
_SHARED: dict[str, Any] = {"widths_per_trial": 2}
_NEAR: dict[str, Any] = {"below": 0.6, "beyond": 1.5}
_PARITY = Scan(
    (500, 1000),
    (*range(4, 15), *range(16, 25, 2), 28, 32, 36),
    _THREE,
    60_000,
    depth=(1, 2, 3),
    labels="parity",
    n_test=5000,
    below=0.6,
    beyond=1.55,
    **_SHARED,
)

SIZES: dict[str, Any] = {
    "smoke": {
        "size": _SMOKE,
        "parity": replace(_SMOKE, labels="parity", images="digits", n_test=100),
        "rank": replace(_SMOKE, ranks=True),
    },
    "cpu": {
        "size": replace(_SIZE, **_SHARED, **_NEAR),
        "depth": replace(
            _SIZE,
            n_train=(500,),
            depth=(2, 3),
            inputs=(0,),
            seed=_THREE,
            rate=3e-4,
            steps=100_000,
            **_SHARED,
            **_NEAR,
        ),
        "dimension": replace(
            _SIZE, n_train=(500,), inputs=(8, 16, 24), seed=_THREE, **_SHARED, **_NEAR
        ),
        "parity": _PARITY,
        "wide": replace(
            _PARITY, n_train=(1000,), depth=(2,), width=(82,), below=0.0, beyond=1e9, seed=_FOUR
        ),
        "time": Scan(
            (1000,),
            (12, 14, 16, 18, 20, 24, 28, 34, 42, 52, 64, 80),
            _THREE,
            60_000,
            widths_per_trial=4,
        ),
        "rank": Scan(
            (500,),
            (3, 4, 5, 6, 8, 9, 10, 11, 12, 14, 16, 20),
            _FOUR,
            60_000,
            ranks=True,
            widths_per_trial=6,
        ),
        "map": Scan(
            (125, 250, 500),
            (4, 5, 6, 7, 8, 10, 12, 14, 17),
            _THREE,
            30_000,
            widths_per_trial=5,
        ),
    },
    "paper": {
        "large": Scan(
            (500, 1000, 2000, 5000, 10_000, 20_000, 60_000),
            tuple(sorted({round(6 * 1.06**k) for k in range(60)})),
            _FOUR,
            2_000_000,
            depth=(2, 3, 5),
            inputs=(0,),
            rate=1e-4,
            trainer="adam_decay",
            below=0.7,
            beyond=1.4,
        ),
    },
}


def expected(labels: str, n_train: float) -> float:
    """The N* to aim at."""
    scale, power = _EXPECTED[labels]
    return scale * (n_train / 1000) ** power


def weights_at(point: Any, width: int) -> int:
    """N of a width at a point of the scan."""
    return _networks.weights_of(point.inputs or width, width, point.depth)


def widths_at(params: Any, point: Any) -> list[int]:
    """The widths of a trial that are run: those around the expected N*."""
    place = expected(params.labels, point.n_train)
    return [
        width
        for width in point.width
        if params.below <= weights_at(point, width) / place <= params.beyond
    ]
