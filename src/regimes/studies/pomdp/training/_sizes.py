"""What is trained at each size. Steps are caps; see docs/themes/pomdp.md, "Flow of policies"."""

from __future__ import annotations

from dataclasses import dataclass, replace
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
    stages: int = 1  # of a step: 1 is Euler's, as in the paper; more reach late times sooner


@dataclass(frozen=True)
class Strict:
    """Scanned: memory, reset, and at which turns of a word necklaces are left; at the gap 0.1."""

    memory: tuple[str, ...]
    reset: tuple[float, ...]
    rotation: tuple[str, ...] = ("last", "first")


@dataclass(frozen=True)
class Bound:
    """The places are those of the claim."""


SMOKE: dict[str, Any] = {
    "small-ram": Flow(("ram-2",), RAM, 40),
    "large-ram": Flow(("ram-3",), RAM, 40),
    "small-memento": Flow(("memento-2",), MEMENTO, 20),
    "large-memento": Flow(("memento-2",), MEMENTO, 20),
    "equal-small": Flow(("ram-4", "memento-2"), ("random",), 40, reset=(1e-5,)),
    "equal-large": Flow(("ram-4", "memento-2"), ("random",), 40, reset=(1e-5,)),
    "line": Flow(("ram-2",), ("ccp",), 40, seed=(0,)),
    "found": Flow(("memento-2",), ("cycles",), 20, reset=(1e-5,)),
    "strict": Strict(("memento-2",), (1e-3,)),
    "bound": Bound(),
}
TWENTY = tuple(range(20))
CPU: dict[str, Any] = {  # about a minute of one core for the twenty seeds of a start
    "small-ram": Flow(("ram-8",), RAM, 120_000, seed=TWENTY),
    "large-ram": Flow(("ram-20",), RAM, 50_000, seed=TWENTY),
    "small-memento": Flow(("memento-3",), MEMENTO, 80_000, seed=TWENTY),
    "large-memento": Flow(("memento-4",), MEMENTO, 20_000, seed=TWENTY),
    "equal-small": Flow(("ram-16", "memento-3"), ("random",), 50_000, reset=(1e-5,), seed=TWENTY),
    "equal-large": Flow(("ram-64", "memento-4"), ("random",), 17_000, reset=(1e-5,), seed=TWENTY),
    "line": Flow(("ram-5", "ram-8"), ("ccp",), 50_000, (0.1, 0.2), (1e-2, 1e-3), seed=(0,)),
    "found": Flow(("memento-3",), ("cycles",), 50_000, reset=(1e-5,), seed=TWENTY),
    "strict": Strict(("memento-3", "memento-4"), (1e-3, 1e-5)),
    "bound": Bound(),
}
LATE: dict[str, Any] = {"max_steps": 100_000, "stages": 200}  # to t = 1e9
PAPER = {
    **{name: replace(own, **LATE) for name, own in CPU.items() if isinstance(own, Flow)},
    "found": Flow(("memento-3",), ("cycles",), reset=(1e-5, 1e-7), seed=TWENTY, **LATE),
    "line": Flow(
        ("ram-5", "ram-10", "ram-20"),
        ("ccp",),
        gap=(0.1, 0.2),
        reset=tuple(2.0**k for k in range(-20, 0)),
        seed=(0,),
        **LATE,
    ),
    "strict": Strict(("memento-3", "memento-4"), (1e-3, 1e-5, 1e-7)),
    "bound": Bound(),
}
PAPER["heights"] = Flow(  # fig. 2, right; the left is "line"
    tuple(f"ram-{states}" for states in (1, 2, 3, 4, 5, 7, 9, 11, 14, 17, 20, 23, 26, 29, 33, 37)),
    ("ccp",),
    gap=(0.1, 0.2),
    reset=(1e-6, 1e-4, 1e-2),
    seed=(0,),
    **LATE,
)
SIZES = {"smoke": SMOKE, "cpu": CPU, "paper": PAPER}
