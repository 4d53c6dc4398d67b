"""The necklace policy without resets, as the whole chain of its 4^m words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import regimes as rg
from regimes.lab import Array, Point, TrialResult


@dataclass(frozen=True)
class Limit:
    """POM-20; the last of depths up to 4 is drawn."""

    depths: tuple[int, ...] = (3, 4)
    gap: float = 0.1
    eps1: float = 1e-3
    eps0: float = 1e-8


@dataclass(frozen=True)
class Exits:
    """POM-21 and POM-22: pairs of exits, and exits that become rare together."""

    depth: int = 3
    gap: float = 0.1
    pairs: int = 5  # of each exit, from 1e-6 to 1
    order: tuple[float, ...] = (1e-1, 1e-2, 1e-3, 1e-4)  # eps1, with eps0 = eps1^2/100
    equal: float = 0.01


@dataclass(frozen=True)
class Pair:
    """POM-26."""

    depth: int = 3
    a: float = 0.7
    b: float = 0.4
    eps1: float = 1e-4
    eps0: float = 1e-10


def masses_of(depth: int, eps0: Any, eps1: Any, rotation: str = "last", **arms: Any) -> np.ndarray:
    """Where players are under both hypotheses, (..., 2, words); they are never reset.

    They begin in A^m: words outside the chain turn among themselves, and whoever begins there is
    never heard of again.
    """
    import torch

    memory = rg.decide.Memento(depth)
    actions = rg.decide.necklace_policy(memory, eps0, eps1, rotation=rotation).actions
    problem = rg.decide.TwoArms(memory, reset=0.0, **arms)
    start = torch.zeros(memory.observations, dtype=torch.float64)
    start[memory.observation("A" * depth + "+" * depth)] = 1.0
    masses = [rg.decide.gth(problem.transition(actions, h), start) for h in (0, 1)]
    found: np.ndarray = torch.stack(masses, -2).numpy()
    return found


def wrong(depth: int, masses: np.ndarray) -> np.ndarray:
    """Q' (...): the mass of words whose newest arm is the worse one, mean over hypotheses."""
    memory = rg.decide.Memento(depth)
    newest = memory.histories(depth)[0][:, -1].numpy()
    words = masses[..., memory.first(depth) :]
    found: np.ndarray = (
        words[..., 0, newest == 1].sum(-1) + words[..., 1, newest == 0].sum(-1)
    ) / 2
    return found


def limit(params: Limit, point: Point) -> TrialResult:
    """POM-20: q near its limit, and the policy that is drawn."""
    found = [
        float(wrong(m, masses_of(m, params.eps0, params.eps1, gap=params.gap)))
        for m in params.depths
    ]
    stars = [float(rg.theory.q_necklace(m, params.gap)) for m in params.depths]
    drawn = max(m for m in params.depths if m <= 4)
    flip, chain = _diagram(drawn, params.eps0, params.eps1)
    return TrialResult(
        {"limit_gap": params.gap, "limit_eps1": params.eps1, "limit_eps0": params.eps0},
        {
            "limit_q": Array("limit_depth", found),
            "limit_star": Array("limit_depth", stars),
            "limit_m": Array("limit_depth", params.depths),
            "diagram_flip": Array(("word", "rewards"), flip),
            "diagram_chain": Array(("necklace", "turn"), chain),
        },
    )


def _diagram(m: int, eps0: float, eps1: float) -> tuple[np.ndarray, np.ndarray]:
    """Probability of the opposite of the oldest arm (words, rewards), and the chain's words.

    Words are numbers of their arms, the oldest the highest bit; rewards likewise, + being 0. In a
    row of the chain the words of one necklace follow as they turn; -1 fills the shorter ones.
    """
    memory = rg.decide.Memento(m)
    actions = rg.decide.necklace_policy(memory, eps0, eps1).actions.numpy()
    flip = np.zeros((2**m, 2**m))
    for word, rewards in np.ndindex(2**m, 2**m):
        digits = (
            [word >> k & 1 for k in reversed(range(m))],
            [rewards >> k & 1 for k in reversed(range(m))],
        )
        label = "".join("AB"[d] for d in digits[0]) + "".join("+-"[d] for d in digits[1])
        flip[word, rewards] = actions[1 - digits[0][0], memory.observation(label)]
    chain = np.full((len(rg.decide.gray_chain(m)), m), -1)
    for row, name in zip(chain, rg.decide.gray_chain(m), strict=True):
        words = dict.fromkeys(name[k:] + name[:k] for k in range(m))
        for k, each in enumerate(words):
            row[k] = int(each.replace("A", "0").replace("B", "1"), 2)
    return flip, chain


def exits(params: Exits, point: Point) -> TrialResult:
    """POM-21, POM-22: q over pairs of exits, along both limits, and where exits are equal."""
    import torch

    m, gap = params.depth, params.gap
    grid = torch.logspace(-6, 0, params.pairs, dtype=torch.float64)
    pairs = wrong(m, masses_of(m, grid[:, None], grid, gap=gap))
    rates = torch.tensor(params.order, dtype=torch.float64)
    order = wrong(m, masses_of(m, rates**2 / 100, rates, gap=gap))
    other = wrong(m, masses_of(m, rates**2 / 100, rates, "first", gap=gap))
    equal = masses_of(m, params.equal, params.equal, gap=gap)
    memory = rg.decide.Memento(m)
    words = memory.histories(m)[0]
    inner = (words != words[:, :1]).any(1).numpy()
    inside = equal[:, memory.first(m) :][:, inner]
    return TrialResult(
        {
            "pair_gap": gap,
            "pair_star": float(rg.theory.q_necklace(m, gap)),
            "equal_exit": params.equal,
            "equal_q": float(wrong(m, equal)),
            "equal_inner": float(inside.sum(1).mean()),
        },
        {
            "pair_q": Array(("pair_eps0", "pair_eps1"), pairs),
            "order_eps1": Array("order", params.order),
            "order_q": Array("order", order),
            "other_q": Array("order", other),
        },
    )


def arms(params: Pair, point: Point) -> TrialResult:
    """POM-26: q for any two arms."""
    pair = (params.a, params.b)
    masses = masses_of(params.depth, params.eps0, params.eps1, arms=pair)
    return TrialResult(
        {
            "arms_q": float(wrong(params.depth, masses)),
            "arms_formula": float(rg.theory.q_necklace(params.depth, pair)),
            "arms_a": params.a,
            "arms_b": params.b,
            "arms_eps1": params.eps1,
            "arms_eps0": params.eps0,
        }
    )
