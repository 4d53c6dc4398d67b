"""Policies of a RAM without resets, as the whole chain of their states."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import regimes as rg
from regimes.lab import Array, Point, TrialResult

LOGITS = 5.0  # spread of random transitions, docs/themes/pomdp.md, "Linear policy"


@dataclass(frozen=True)
class Linear:
    """Nothing is random."""

    states: tuple[int, ...] = (2, 3, 4, 5, 6, 7, 8)
    gaps: tuple[float, ...] = (0.1, 0.3)
    eps: float = 1e-8


@dataclass(frozen=True)
class Column:
    """Nothing is random."""

    states: tuple[int, ...] = (2, 3, 4, 5, 6, 7, 8, 9, 10)
    gaps: tuple[float, ...] = (0.1, 0.2)
    eps: float = 1e-8


@dataclass(frozen=True)
class Ratios:
    """A seed is a random policy."""

    gap: float = 0.2
    states: int = 6  # of the linear policy
    random_states: int = 4
    eps: float = 1e-8
    seed: tuple[int, ...] = tuple(range(300))


@dataclass(frozen=True)
class Pairs:
    """Any two arms, and a number of states."""

    a: tuple[float, ...] = (0.8, 0.6)
    b: tuple[float, ...] = (0.5, 0.2)
    states: tuple[int, ...] = (3, 2)
    eps: float = 1e-8


@dataclass(frozen=True)
class Scheme:
    """The column that is drawn."""

    states: int = 8
    eps: float = 0.1


def played(memory: Any, policy: Any, **problem: Any) -> float:
    """Q' of a policy that is never reset."""
    two = rg.decide.TwoArms(memory, reset=0.0, **problem)
    return float(two.q_played(policy.actions, policy.start, solver="gth"))


def linear(params: Linear, point: Point) -> TrialResult:
    """POM-05: q' of the linear policy."""
    found, formula = [], []
    for states in params.states:
        memory = rg.decide.Ram(states)
        for gap in params.gaps:
            found.append(played(memory, rg.decide.linear(memory, params.eps), gap=gap))
            formula.append(float(rg.theory.q_linear(states, gap)))
    shape = (len(params.states), len(params.gaps))
    dims = ("linear_state", "linear_gap")
    return TrialResult(
        {"linear_exit": params.eps},
        {
            "linear_q": Array(dims, np.reshape(found, shape)),
            "linear_formula": Array(dims, np.reshape(formula, shape)),
            "linear_states": Array("linear_state", params.states),
            "linear_gaps": Array("linear_gap", params.gaps),
        },
    )


def ratios(params: Ratios, point: Point) -> TrialResult:
    """POM-06: ratios of neighbouring likelihood ratios, of the linear and of random policies."""
    line = rg.decide.linear(rg.decide.Ram(params.states), params.eps)
    own = rg.decide.likelihood_ratios(line, params.gap)
    drawn = rg.decide.likelihood_ratios(_random(params.random_states, point.seed), params.gap)
    alpha = (1 - params.gap) / (1 + params.gap)
    return TrialResult(
        {"ratio_alpha": alpha},
        {
            "linear_ratio": Array("linear_step", own[:-1] / own[1:]),
            "random_ratio": Array(("draw", "step"), drawn[:, :-1] / drawn[:, 1:]),
        },
    )


def _random(states: int, seeds: tuple[int, ...]) -> Any:
    """Policies whose memory moves at random, and whose arm depends on the memory alone."""
    import torch

    from regimes._random import generator

    logits = torch.stack(
        [
            torch.randn(states, states, 2, generator=generator(seed, "moves"), dtype=torch.float64)
            for seed in seeds
        ]
    )
    moves = (LOGITS * logits).softmax(1)  # seed, next memory, memory, favoured hypothesis
    memory = rg.decide.Ram(states)
    actions = torch.zeros(len(seeds), memory.actions, memory.observations, dtype=torch.float64)
    arm_of = [0 if n < states // 2 else 1 for n in range(states)]
    for n in range(states):
        actions[:, memory.action(n, arm_of[n]), memory.observation(n)] = 1.0
        for e, y in np.ndindex(2, 2):
            # A and +, or B and -: for the first hypothesis
            after = moves[:, :, n, int(e != y)]
            for to in range(states):
                actions[:, memory.action(to, arm_of[to]), memory.observation(n, e, y)] = after[
                    :, to
                ]
    start = torch.full((len(seeds), states), 1 / states, dtype=torch.float64)
    return rg.decide.Policy(actions, start)


def column(params: Column, point: Point) -> TrialResult:
    """POM-07, POM-08: q' of the column, and of a line with twice as many states."""
    found: dict[str, list[float]] = {}
    for states in params.states:
        memory, double = rg.decide.Ram(states), rg.decide.Ram(2 * states)
        for gap in params.gaps:
            each = {
                "column_q": played(memory, rg.decide.ccp(memory, params.eps), gap=gap),
                "double_q": played(double, rg.decide.linear(double, params.eps), gap=gap),
                "column_formula": float(rg.theory.q_ccp(states, gap)),
                "double_formula": float(rg.theory.q_linear(2 * states, gap)),
                "bit_formula": float(rg.theory.q_linear(4 * states, gap)),
            }
            for name, value in each.items():
                found.setdefault(name, []).append(value)
    shape, dims = (len(params.states), len(params.gaps)), ("column_state", "column_gap")
    return TrialResult(
        {"column_exit": params.eps},
        {
            **{name: Array(dims, np.reshape(values, shape)) for name, values in found.items()},
            "column_states": Array("column_state", params.states),
            "column_gaps": Array("column_gap", params.gaps),
        },
    )


def arms(params: Pairs, point: Point) -> TrialResult:
    """POM-15: q' of the column for any two arms."""
    found, formula = [], []
    for a, b, states in zip(params.a, params.b, params.states, strict=True):
        memory = rg.decide.Ram(states)
        found.append(played(memory, rg.decide.ccp(memory, params.eps), arms=(a, b)))
        formula.append(float(rg.theory.q_ccp(states, (a, b))))
    return TrialResult(
        {"arms_exit": params.eps},
        {
            "arms_q": Array("pair", found),
            "arms_formula": Array("pair", formula),
            "arms_a": Array("pair", params.a),
            "arms_b": Array("pair", params.b),
            "arms_states": Array("pair", params.states),
        },
    )


def scheme(params: Scheme, point: Point) -> TrialResult:
    """The policy of a column, a row an observation with an outcome."""
    memory = rg.decide.Ram(params.states)
    actions = rg.decide.ccp(memory, params.eps).actions[:, memory.blanks :].T
    return TrialResult(arrays={"scheme_policy": Array(("observation", "action"), actions)})
