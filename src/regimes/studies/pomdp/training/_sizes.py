"""What is trained at each size. Steps are caps; see docs/themes/pomdp.md, "Flow of policies"."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

RAM = ("random", "linear", "columns", "ccp")
MEMENTO = ("random", "cycles", "necklace")


@dataclass(frozen=True)
class Flow:
    """Scanned: memory, start, gap, reset and, side by side, seeds."""

    memory: tuple[str, ...]
    init: tuple[str, ...]
    max_steps: int  # steps tried by a member
    gap: tuple[float, ...] = (0.1,)
    reset: tuple[float, ...] = (1e-3,)
    seed: tuple[int, ...] = (0, 1)


@dataclass(frozen=True)
class Strict:
    """Scanned: memory and reset, at the gap 0.1."""

    memory: tuple[str, ...]
    reset: tuple[float, ...]


@dataclass(frozen=True)
class Bound:
    """The places are those of the claim."""


SMOKE: dict[str, Any] = {
    "small-ram": Flow(("ram-2",), RAM, 40),
    "large-ram": Flow(("ram-3",), RAM, 40),
    "small-memento": Flow(("memento-3",), MEMENTO, 20),
    "large-memento": Flow(("memento-4",), MEMENTO, 5),
    "equal-small": Flow(("ram-4", "memento-2"), ("random",), 40, reset=(1e-5,)),
    "equal-large": Flow(("ram-4", "memento-2"), ("random",), 40, reset=(1e-5,)),
    "line": Flow(("ram-2",), ("ccp",), 40, seed=(0,)),
    "found": Flow(("memento-3",), ("cycles",), 20, reset=(1e-5,)),
    "strict": Strict(("memento-3",), (1e-3,)),
    "bound": Bound(),
}
SIZES = {"smoke": SMOKE}
