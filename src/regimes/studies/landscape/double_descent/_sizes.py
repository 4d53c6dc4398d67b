"""Blocks and sizes of the scan."""

from __future__ import annotations

from dataclasses import dataclass, replace

BLOCKS = ("main", "half", "deep", "subtracted", "rates")


@dataclass(frozen=True)
class Scan:
    """Scanned: width, and seeds trained side by side. Fixed: the rest."""

    width: tuple[int, ...] = (2, 4, 12)
    seed: tuple[int, ...] = tuple(range(4))
    depth: int = 2
    n_train: int = 40
    images: str = "digits"
    n_test: int = 300
    steps: int = 60
    look: int = 10  # steps between looks at the margins: a run ends at the first that finds all
    rate: float = 1e-2
    scaled: float = 0.0  # the rate is at most this times h^-1.5; 0: it is not scaled
    subtract_init: bool = False
    replayed: bool = False  # trained by `_replayed`: nothing is read back between looks
    group: int = 2  # networks of an ensemble
    draw: int = 0  # of the training and test points, which all networks share


_CPU = Scan(
    seed=tuple(range(24)),
    n_train=1000,
    images="mnist",
    n_test=5000,
    steps=40_000,
    rate=1e-3,
    group=6,
    replayed=True,
)
_HALF = replace(
    _CPU,
    seed=tuple(range(12)),
    n_train=500,
    width=(2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 28, 64, 80),
)
# a tenth or so of the papers' time of training: 3 10^4 steps at ten times the rate; half of their
# 20 networks
_PAPER = replace(
    _CPU,
    seed=tuple(range(10)),
    depth=5,
    n_train=10_000,
    n_test=50_000,
    steps=30_000,
    scaled=1.0,
    group=10,
)
SIZES = {
    "smoke": {
        "main": Scan(replayed=True),
        "half": Scan(n_train=20, width=(2, 10)),
        "deep": Scan(n_train=20, width=(2, 10), depth=3),
        "subtracted": Scan(n_train=20, width=(2, 10), subtract_init=True),
        "rates": Scan(n_train=20, width=(8, 16), scaled=1.0),
    },
    "cpu": {
        "main": replace(_CPU, width=(2, 4, 6, 8, 9, 10, 12, 16, 28, 64, 100)),
        "half": _HALF,
        "deep": replace(_HALF, depth=3, width=(2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 28, 56)),
        "subtracted": replace(_HALF, subtract_init=True),
        "rates": replace(_HALF, width=(30, 60, 120), seed=tuple(range(6)), rate=1e-2, scaled=1.0),
    },
    "paper": {
        "main": replace(_PAPER, width=(10, 14, 17, 20, 24, 28, 40, 57, 100, 160, 230, 320)),
    },
}
