"""How a run ends and what its steps were allowed to change [Geiger 2020, eqs. 8 and 9]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import regimes as rg
from regimes.lab import Array, Point, TrialResult
from regimes.studies._types import NetworkSnapshot, Observer, Run, Tensor
from regimes.studies.regimes._runs import grid
from regimes.studies.regimes._training import train
from regimes.studies.regimes.foundations._networks import data_of, distances, networks_of

LATER = 5.0  # the cross-entropy is followed to this many times the end of the soft hinge
MARKS = 120  # moments of the stored curves
OUTPUT = 0.1  # bound on the change of an output; that of the gradient is `eps`
SHOWN = 300  # steps kept for the figure
FLOOR = 1e-3  # shortest step of the relu runs, as a share of the time


@dataclass(frozen=True)
class Stopping:
    """A seed is a network; eps is what a step may change the gradient by."""

    images: str = "digits"
    points: int = 8
    width: int = 15
    scales: tuple[float, ...] = (1.0,)
    seed: tuple[int, ...] = (0, 1)
    eps: float = 0.1
    max_steps: int = 20_000


def stopping(params: Stopping, point: Point) -> TrialResult:
    """REG-74: until when three losses train, and what the cross-entropy does afterwards."""
    data = data_of(params, point)
    found: dict[str, list[np.ndarray]] = {}
    curves = []

    def keep(name: str, values: Any) -> None:
        found.setdefault(name, []).append(np.asarray(values))

    for scale in params.scales:
        start, alpha = networks_of(point, data, params.width, [scale])
        common: dict[str, Any] = {"max_steps": params.max_steps, "eps": params.eps}
        soft = train(start, data, alpha, **common)
        hard = rg.flow.gradient_flow(
            start,
            data,
            loss="hinge",
            alpha=alpha,
            rule=rg.flow.StepRule(first="weights", shrink=2.0),
            max_steps=params.max_steps,
        )
        end = soft.times[:, -1].numpy()
        late = train(
            start,
            data,
            alpha,
            loss="cross_entropy",
            until=None,
            t_end=LATER * float(end.max()),
            observe={"moved": _moved()},
            **common,
        )
        keep("stop_time", end)
        keep("stop_fitted", soft.fitted.double())
        keep("hinge_fitted", hard.fitted.double())
        keep("hinge_loss", hard.losses[:, -1])
        keep("hinge_pull", hard.history["gradient"][:, -1])
        times = np.stack([LATER / 2 * end, LATER * end], 1)
        keep("late_loss", rg.measure.at_times(late.times, late.losses, times)[:, 1])
        keep("late_weight", rg.measure.at_times(late.times, late.history["weight"], times))
        seen = late.recordings["moved"]
        keep("late_moved", rg.measure.at_times(seen.times, seen.values, times))
        curves.append([_curve(run, end[0]) for run in (soft, hard, late)])
    dims = ("stop_scale", "stop_seed")
    paired = ("late_weight", "late_moved")
    return TrialResult(
        arrays={
            "stop_scales": Array("stop_scale", params.scales),
            "stop_curves": Array(
                ("stop_scale", "stop_loss", "stop_column", "stop_mark"), np.array(curves)
            ),
            **{
                name: Array((*dims, "late_moment") if name in paired else dims, np.array(values))
                for name, values in found.items()
            },
        }
    )


def _moved() -> Observer:
    """|w - w0| on the way."""

    def distance(seen: NetworkSnapshot) -> Tensor:
        home = seen.members.ensemble.parameters
        return distances(seen.parameters, {k: home[k][seen.numbers] for k in seen.parameters})

    return rg.flow.Observer(distance, rg.flow.LogTimes(50))


def _curve(run: Run, unit: float) -> np.ndarray:
    """Time in units of the soft hinge's end, loss and |w| of the first network, (3, marks)."""
    mark = np.geomspace(1e-3 * unit, float(run.times[0, -1]), MARKS)
    columns = (run.losses, run.history["weight"])
    return np.array(
        [mark / unit, *(rg.measure.at_times(run.times[:1], c[:1], mark)[0] for c in columns)]
    )


@dataclass(frozen=True)
class AcceptedSteps:
    """A seed is a network; eps is what a step may change the gradient by."""

    images: str = "digits"
    points: int = 12
    width: int = 10
    scales: tuple[float, ...] = (1.0, 1e2)
    seed: tuple[int, ...] = (0,)
    eps: float = 1e-2
    max_steps: int = 80


def accepted_steps(params: AcceptedSteps, point: Point) -> TrialResult:
    """REG-75: changes of every accepted step, measured anew from the weights before and after.

    Of several networks at one scale, their largest changes and all their steps together.
    """
    data, scales, seeds = data_of(params, point), params.scales, point.seed
    bounds = (OUTPUT, params.eps)
    found: dict[str, list[np.ndarray]] = {}
    for activation, floor in (("softplus_5", None), ("relu", FLOOR)):
        start, alpha = networks_of(point, data, params.width, scales, activation=activation)
        run = train(
            start,
            data,
            alpha,
            eps=params.eps,
            max_steps=params.max_steps,
            floor=floor,
            observe={"changes": rg.flow.step_changes()},
        )
        changes = [seen[1:].numpy() for seen in run.recordings["changes"].values]
        large = [each >= bounds for each in changes]
        worst = [each[~over[:, 1]].max(0) for each, over in zip(changes, large, strict=True)]
        told = np.stack([run.worst[name].numpy() for name in ("output", "gradient")], 1)
        rows = [np.linspace(0, len(each) - 1, SHOWN).astype(int) for each in changes]
        shown = [np.column_stack([row, each[row]]) for each, row in zip(changes, rows, strict=True)]
        for name, values in {
            "worst": grid(np.array(worst), scales, seeds).max(1),
            "told": grid(told, scales, seeds).max(1),
            "over": grid(np.array([each.sum(0) for each in large]), scales, seeds).sum(1),
            "forced": grid(run.forced, scales, seeds).sum(1),
            "shown": grid(np.array(shown), scales, seeds)[:, 0],
        }.items():
            found.setdefault(name, []).append(values)
    dims = ("check_activation", "check_scale")
    own = {"forced": (), "shown": ("check_row", "check_column")}  # the others: ("check_change",)
    return TrialResult(
        {"check_eps": params.eps},
        arrays={
            "check_scales": Array("check_scale", scales),
            **{
                f"check_{name}": Array((*dims, *own.get(name, ("check_change",))), np.array(values))
                for name, values in found.items()
            },
        },
    )
