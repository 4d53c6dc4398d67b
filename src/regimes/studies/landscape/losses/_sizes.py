"""What is run at each size; the protocols are in docs/themes/landscape.md, "Other losses"."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from regimes.lab import Axis

INPUTS, DEPTH = 10, 2


@dataclass(frozen=True)
class Scan:
    """Scanned, side by side: width and seeds."""

    width: tuple[int, ...]
    seed: tuple[int, ...]
    n_train: int
    steps: int
    widths_per_trial: int = 0


@dataclass(frozen=True)
class Margins(Scan):
    """Scanned besides: the margin."""

    margin: tuple[float, ...] = (0.0, 0.4)


@dataclass(frozen=True)
class Growth:
    """Scanned: the loss and, side by side, seeds."""

    seed: tuple[int, ...]
    n_train: int
    steps: int
    neurons: int
    kind: tuple[str, ...] = ("cross_entropy", "hinge")


_SEED = Axis("seed", stacked=True)
_WIDTH = Axis("width", stacked=True, batch="widths_per_trial", unit="neurons")
AXES: dict[str, Any] = {
    **dict.fromkeys(("entropy", "hinge"), (_WIDTH, _SEED)),
    "norm": ("margin", _WIDTH, _SEED),
    "growth": ("kind", _SEED),
}
_TWELVE = tuple(range(12))
_FOUR = _TWELVE[:4]
# batch normalisation knows no neurons without weights: its widths train one by one
_WIDTHS = (*range(7, 15), 16, 18)

SIZES: dict[str, Any] = {
    "smoke": {
        "entropy": Scan((2, 8), (0, 1), 20, 60, 1),
        "hinge": Scan((2, 8), (0, 1), 20, 100),
        "norm": Margins((2, 8), (0, 1), 20, 60),
        "growth": Growth((0, 1), 10, 400, 8),
    },
    "cpu": {
        "entropy": Scan(_WIDTHS, _FOUR, 500, 30_000, 1),
        "hinge": Scan(_WIDTHS, _FOUR, 500, 30_000),
        "norm": Margins(
            (*range(3, 11), 12, 14, 16), _FOUR[:3], 300, 40_000, margin=(0.0, 0.1, 0.2, 0.4)
        ),
        "growth": Growth(_FOUR, 200, 50_000, 20),
    },
    "paper": {
        "entropy": Scan((*range(10, 60, 2),), _TWELVE, 2000, 1_000_000, 1),
        "hinge": Scan((*range(10, 60, 2),), _TWELVE, 2000, 1_000_000),
        "norm": Margins((*range(6, 60, 2),), _TWELVE, 2000, 1_000_000, margin=(0.0, 0.1, 0.2, 0.4)),
        "growth": Growth(_TWELVE, 200, 2_000_000, 20),
    },
}
