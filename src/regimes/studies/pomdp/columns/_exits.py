"""The best exit of a column, what resets cost it, and the lines of figure 2."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import regimes as rg
from regimes.lab import Array, Point, TrialResult
from regimes.studies.pomdp.columns._claims import SPOTS


@dataclass(frozen=True)
class Exits:
    """Columns (M, mu) and resets; times at the top are solved for the first of them."""

    states: tuple[int, ...] = (10, 6, 5, 10, 5, 20, 20, 40, 40)
    gaps: tuple[float, ...] = (0.2, 0.15, 0.1, 0.1, 0.2, 0.1, 0.2, 0.1, 0.2)
    resets: tuple[float, ...] = tuple(10 ** (k / 2) for k in range(-16, -7))


@dataclass(frozen=True)
class Lines:
    """The grids of [Geiger 2022, fig. 2]."""

    gaps: tuple[float, ...] = (0.1, 0.2)
    left_states: tuple[int, ...] = (5, 10, 20)
    left_resets: tuple[float, ...] = tuple(2.0**k for k in range(-20, 0))
    right_states: tuple[int, ...] = (1, 2, 3, 4, 5, 7, 9, 11, 14, 17, 20, 23, 26, 29, 33, 37)
    right_resets: tuple[float, ...] = (1e-6, 1e-4, 1e-2)


def best_exits(params: Exits, point: Point) -> TrialResult:
    """POM-09 to POM-12: the best exit and its q' against r, and the time spent at the top."""
    import torch

    states = torch.tensor(params.states)[:, None]
    gaps = torch.tensor(params.gaps, dtype=torch.float64)[:, None]
    resets = torch.tensor(params.resets, dtype=torch.float64)
    best = rg.decide.ccp_opt(states, gaps, resets)
    law = rg.theory.exit_rate(states, gaps, resets) / resets.sqrt()
    printed = rg.theory.exit_rate_printed(states, gaps, resets) / resets.sqrt()
    limit = rg.theory.q_ccp(states, gaps)[:, 0]
    times = [
        _time_at_top(params.states[0], params.gaps[0], float(r), float(eps))
        for r, eps in zip(resets, best.eps[0], strict=True)
    ]
    dims = ("case", "exit_reset")
    return TrialResult(
        arrays={
            "exit_rate": Array(dims, best.eps),
            "exit_q": Array(dims, best.q),
            "exit_law": Array(dims, law),
            "exit_printed": Array(dims, printed),
            "exit_limit": Array("case", limit),
            "exit_states": Array("case", params.states),
            "exit_gaps": Array("case", params.gaps),
            "exit_resets": Array("exit_reset", params.resets),
            "top_time": Array("exit_reset", times),
        }
    )


def _time_at_top(states: int, gap: float, reset: float, eps: float) -> float:
    """Mean plays from reaching the top of the better arm's column until leaving it.

    Solved for the chain of the policy itself: the states with the topmost memory and the better
    arm keep the player until they let it go, whatever made it come. Resets do not count as leaving.
    """
    memory = rg.decide.Ram(states)
    policy = rg.decide.ccp(memory, eps)
    problem = rg.decide.TwoArms(memory, gap=gap, reset=reset)
    chain = problem.transition(policy.actions, 0).numpy()
    top = [memory.observation(states - 1, 0, y) for y in (0, 1)]
    inside = chain[np.ix_(top, top)]
    below = memory.observation(states - 2, 0, 0)  # won once more: the way to the top
    arrive = chain[top, below] / chain[top, below].sum()
    stays: float = np.linalg.solve(np.eye(2) - inside.T, np.ones(2)) @ arrive
    return stays


def lines(params: Lines, point: Point) -> TrialResult:
    """POM-13: q' of the best column, spot values, and the bound of all players."""
    import torch

    gaps = torch.tensor(params.gaps, dtype=torch.float64)
    left = torch.tensor(params.left_resets, dtype=torch.float64)
    right = torch.tensor(params.right_resets, dtype=torch.float64)
    left_states, right_states = torch.tensor(params.left_states), torch.tensor(params.right_states)
    places = torch.tensor(list(SPOTS), dtype=torch.float64).T
    return TrialResult(
        arrays={
            "spot_q": Array("spot", rg.decide.ccp_opt(places[0].long(), places[1], places[2]).q),
            "left_q": Array(
                ("left_gap", "left_state", "left_reset"),
                rg.decide.ccp_opt(left_states[:, None], gaps[:, None, None], left).q,
            ),
            "left_bound": Array(("left_gap", "left_reset"), rg.theory.q_bayes(gaps[:, None], left)),
            "left_limit": Array(
                ("left_gap", "left_state"), rg.theory.q_ccp(left_states, gaps[:, None])
            ),
            "left_gaps": Array("left_gap", params.gaps),
            "left_states": Array("left_state", params.left_states),
            "left_resets": Array("left_reset", params.left_resets),
            "right_q": Array(
                ("right_gap", "right_reset", "right_state"),
                rg.decide.ccp_opt(right_states, gaps[:, None, None], right[:, None]).q,
            ),
            "right_states": Array("right_state", params.right_states),
            "right_resets": Array("right_reset", params.right_resets),
        }
    )
