"""How the studies of this theme train: gradient flow on the soft hinge, or discrete steps."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import regimes as rg
from regimes.lab import Point
from regimes.studies._types import Dataset, Ensemble, Run


def train(
    start: Ensemble,
    data: Dataset,
    alpha: Sequence[float],
    *,
    eps: float = 1e-4,
    loss: str = "softhinge_20",
    max_steps: int = 20_000,
    floor: float | None = None,
    **options: Any,
) -> Run:
    """Gradient flow [Geiger 2020, eqs. 7 to 9]; `eps` is what a step may change the gradient by.

    `floor` for relu: a step shorter than this share of the time passed is taken anyway.
    """
    if floor is not None or "rule" not in options:
        options["rule"] = rg.flow.StepRule(first="weights", floor=floor)
    return rg.flow.gradient_flow(
        start,
        data,
        loss=loss,
        alpha=list(alpha),
        tolerances=rg.flow.Tolerances(output=0.1, gradient=eps),
        max_steps=max_steps,
        **options,
    )


def train_at(
    point: Point,
    params: Any,
    start: Ensemble,
    data: Dataset,
    alpha: Sequence[float],
    **options: Any,
) -> Run:
    """`train` with a trial's tolerance and cap, which leaves checkpoints."""
    how = {"eps": params.eps, "max_steps": params.max_steps, "checkpoint": point.checkpoint()}
    return train(start, data, alpha, **{**how, **options})


def descend(start: Ensemble, data: Dataset, alpha: Sequence[float], **options: Any) -> Run:
    """Discrete steps on the objective of `train` instead of its flow, until all points fit."""
    return rg.flow.descend(
        start,
        data,
        loss="softhinge_20",
        alpha=list(alpha),
        until="fitted",
        subtract_init=True,
        divide_by="alpha^2",
        **options,
    )


def cost_of_steps(
    point: Point, steps: float, n_train: int, width: int, *, calls: float = 1e5
) -> float:
    """Relative cost of so many steps of all members of a trial: arithmetic and overhead.

    `calls` is the arithmetic that would take as long as the calls of one step.
    """
    members = prod(len(stacked) for stacked in point.values() if isinstance(stacked, tuple))
    return steps * (calls + members * n_train * width * (width + 40)) / 1e9
