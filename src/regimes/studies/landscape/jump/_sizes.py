"""What is run at each size; the protocols are in docs/themes/landscape.md, "The jump"."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from regimes.lab import Axis
from regimes.studies.landscape import _tasks

MOMENTS = (0.01, 0.03, 0.1, 0.3, 1.0)  # shares of the steps at which N_Delta is read


@dataclass(frozen=True)
class Scan:
    """Scanned: network ("2x14": L x h, d = h), and side by side ratio P/N and seed."""

    network: tuple[str, ...]
    ratio: tuple[float, ...]
    seed: tuple[int, ...]
    steps: int
    activation: str = "relu"
    labels: str = "random"
    images: str = "mnist"
    margin: float = 0.5
    rate: float = 1e-3
    trainer: str = "adam_fast"
    precision: str = ""  # "" is that of the run
    curvature: bool = False  # whether C0 and N_c of jammed runs are measured
    ratios_per_trial: int = 0  # all of a network side by side
    seeds_per_trial: int = 0


@dataclass(frozen=True)
class Optimisers(Scan):
    """Scanned besides: rate, and batch as a share of the points."""

    rate: tuple[float, ...] = (1e-3,)  # type: ignore[assignment]
    batch: tuple[float, ...] = (1.0,)


_RUNS = (
    "network",
    Axis("ratio", stacked=True, batch="ratios_per_trial"),
    Axis("seed", stacked=True, batch="seeds_per_trial"),
)
AXES: dict[str, Any] = {
    **dict.fromkeys(("random", "deep", "tanh", "parity", "single", "margin", "large"), _RUNS),
    **dict.fromkeys(("optimiser", "batches"), ("rate", "batch", *_RUNS)),
}

_SMOKE = Scan(("2x4",), (1.0, 6.0), (0, 1), 60, images="digits")
_SIX, _FOUR = tuple(range(6)), tuple(range(4))
_CPU = Scan(
    ("2x14",),
    (2.0, 2.2, 2.4, 2.6, 2.7, 2.8, 3.0, 3.2, 3.4),
    _SIX,
    100_000,
    curvature=True,
)
_MILD = (2.2, 2.4, 2.6, 2.8, 3.0)
_OPTIMISED = replace(_CPU, ratio=_MILD, seed=_FOUR, curvature=False)
_MARGIN = (2.2, 2.4, 2.6, 2.7, 2.8, 3.0, 3.2)
_DEEP = (2.4, 2.6, 2.8, 3.0, 3.2, 3.6)
_PARITY = (4.5, 5.5, 6.5, 8.0, 9.5, 11.0)  # P from 810 to 1980 at N = 180


def _optimisers(scan: Scan, **own: Any) -> Optimisers:
    fields = {name: value for name, value in vars(scan).items() if name != "rate"}
    return Optimisers(**{**fields, **own})


SIZES: dict[str, Any] = {
    "smoke": {
        "random": replace(_SMOKE, curvature=True),
        "deep": _SMOKE,
        "tanh": replace(_SMOKE, activation="tanh"),
        "parity": replace(_SMOKE, labels="parity"),
        "single": replace(_SMOKE, precision="float32"),
        "margin": replace(_SMOKE, margin=2.0),
        "optimiser": _optimisers(_SMOKE),
        "batches": _optimisers(_SMOKE, batch=(0.5,), ratios_per_trial=1),
    },
    "cpu": {
        "random": _CPU,
        "deep": replace(_CPU, network=("3x12",), ratio=_DEEP, seed=_FOUR, curvature=False),
        "tanh": replace(
            _CPU,
            network=("3x10",),
            ratio=(2.4, 3.2, 3.6, 4.2),
            seed=_FOUR,
            activation="tanh",
            rate=2e-3,
            curvature=False,
        ),
        "parity": replace(_CPU, network=("2x9",), ratio=_PARITY, seed=_FOUR, labels="parity"),
        "single": replace(
            _CPU,
            ratio=(2.4, 2.6, 2.7, 2.8),
            precision="float32",
            curvature=False,
        ),
        "margin": replace(_CPU, ratio=_MARGIN, margin=2.0, curvature=False),
        "optimiser": _optimisers(_OPTIMISED, rate=(3e-4,)),
        "batches": _optimisers(
            _OPTIMISED,
            rate=(1e-3, 3e-4),
            batch=(0.5,),
            ratios_per_trial=1,  # a batch is a share of P
        ),
    },
    "paper": {
        "large": Scan(
            ("2x62", "3x51", "5x40"), (2.4, 2.6, 2.7, 2.8, 2.9, 3.0, 3.2), (0,), 100_000, rate=5e-4
        ),
    },
}


def shape_of(network: str, labels: str) -> tuple[int, int, int]:
    """d, h and L of "2x14": d = h, or as many components as digits have.

    >>> shape_of("2x14", "random"), shape_of("2x9", "parity")
    ((14, 14, 2), (10, 9, 2))
    """
    depth, width = map(int, network.split("x"))
    return (_tasks.COMPONENTS if labels == "parity" else width), width, depth
