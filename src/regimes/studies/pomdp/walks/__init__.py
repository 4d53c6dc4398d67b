"""Random walks along chains: two lemmas of [Geiger 2022, app. D] against solved chains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import regimes as rg
from regimes.lab import Array, Axis, Point, TrialResult, collect_blocks, study


@dataclass(frozen=True)
class Traversal:
    """A seed is a chain."""

    sites: int = 10
    seed: tuple[int, ...] = (0, 1, 2)


@dataclass(frozen=True)
class Ends:
    """A seed is a chain with its two ends."""

    sites: int = 6
    eps: float = 1e-9
    seed: tuple[int, ...] = (0, 1, 2)


def _steps(seed: int, stream: str, sites: int) -> tuple[Any, Any, Any]:
    """Probabilities of steps to the left and to the right, and the two rates of the ends.

    Each is drawn uniformly, then all are divided so that no site's two exceed one.
    """
    import torch

    from regimes._random import generator

    source = generator(seed, stream)
    left, right, stay = torch.rand(3, sites, generator=source, dtype=torch.float64) + 0.05
    ends = torch.rand(2, generator=source, dtype=torch.float64) + 0.05
    total = left + right + stay
    return left / total, right / total, ends


def traversal(params: Traversal, point: Point) -> TrialResult:
    """POM-16: every stretch of a chain, by the formula and as an absorbing chain."""
    n = params.sites
    formula: list[list[float]] = []
    solved: list[list[float]] = []
    for seed in point.seed:
        left, right, _ = _steps(seed, "traversal", n)
        inner = np.diag(1 - (left + right).numpy())
        inner += np.diag(right.numpy()[:-1], -1) + np.diag(left.numpy()[1:], 1)  # to, from
        stretches = [(i, j) for i in range(n) for j in range(i, n)]
        formula.append([float(rg.theory.traverse(left, right, i, j)) for i, j in stretches])
        solved.append(
            [_crossed(inner[i : j + 1, i : j + 1], float(right[j])) for i, j in stretches]
        )
    dims = ("chain", "stretch")
    return TrialResult(
        {"traverse_sites": n},
        {"traverse_formula": Array(dims, formula), "traverse_solved": Array(dims, solved)},
    )


def _crossed(inside: np.ndarray, last: float) -> float:
    """Probability to leave by the last site: visits to it from the first one, times its step."""
    eye = np.eye(len(inside))
    visits: np.ndarray = np.linalg.solve(eye - inside, eye[:, 0])
    return float(visits[-1]) * last


def ends(params: Ends, point: Point) -> TrialResult:
    """POM-17: the chance of each end where both are hardly ever left."""
    import torch

    n, eps = params.sites, params.eps
    formula, solved, balance = [], [], []
    for seed in point.seed:
        left, right, (go_right, go_left) = _steps(seed, "ends", n)
        formula.append(float(rg.theory.two_end(left, right, L=go_left, R=go_right)))
        up = torch.cat([eps * go_right[None], right])  # from sites 0..n
        down = torch.cat([left, eps * go_left[None]])  # from sites 1..n+1
        chain = torch.diag(up, -1) + torch.diag(down, 1)
        chain = chain + torch.diag(1 - chain.sum(0))
        start = torch.full((n + 2,), 1 / (n + 2), dtype=torch.float64)
        solved.append(float(rg.decide.gth(chain, start)[-1]))
        back = rg.theory.traverse(right.flip(0), left.flip(0), 0, n - 1)
        forth = rg.theory.traverse(left, right, 0, n - 1)
        balance.append((float(back / forth), float((left / right).prod())))
    one, other = zip(*balance, strict=True)
    return TrialResult(
        {"end_sites": n, "end_exit": eps},
        {
            "end_formula": Array("end_chain", formula),
            "end_solved": Array("end_chain", solved),
            "balance_left": Array("end_chain", one),
            "balance_right": Array("end_chain", other),
        },
    )


CHECKS = {"traversal": traversal, "ends": ends}


@study(
    "pomdp/walks",
    version=1,
    sizes={
        "smoke": {"traversal": Traversal(sites=4), "ends": Ends()},
        "cpu": {
            "traversal": Traversal(seed=tuple(range(20))),
            "ends": Ends(seed=tuple(range(20))),
        },
        "paper": {
            "traversal": Traversal(sites=30, seed=tuple(range(20))),
            "ends": Ends(sites=30, seed=tuple(range(20))),
        },
    },
    axes={check: [Axis("seed", stacked=True)] for check in CHECKS},
)
class Walks:
    """A walk between neighbours: who crosses a stretch of it, and at which end a walker is found.

    Both formulas carry all later results, because every good policy of two arms turns out to be a
    walk along a chain of confidence.

    The paper: [Geiger 2022, lemmas 4.1 and 4.2, app. D.1 and D.2].
    """

    @staticmethod
    def trial(params: Any, point: Point) -> TrialResult:
        """One lemma, with parameters of its own class."""
        check: Any = CHECKS[point.block]
        result: TrialResult = check(params, point)
        return result

    summarise = staticmethod(collect_blocks)
