"""Neurons turn to the informative directions, or do not [Paccolat 2021, figs. 1 and 6]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import regimes as rg
from regimes.lab import Array, Axis, Point, TrialResult, study
from regimes.studies._stripe import WEIGHT, network, neuron_states, neurons, train_at
from regimes.studies.compression.weights_aligning._claims import (
    DIMENSION,
    INFORMATIVE,
    LAZY,
    START_DIMENSION,
)
from regimes.studies.compression.weights_aligning._figures import film_times


@dataclass(frozen=True)
class Params:
    """Scanned: model, alpha and seed. Fixed: the rest."""

    model: tuple[str, ...] = ("stripe", "cylinder")
    alpha: tuple[float, ...] = (1e-6, 1e4)
    seed: tuple[int, ...] = (0, 1)
    n_train: int = 60
    width: int = 60
    end_loss: float = 0.3  # a run ends when the mean loss is below
    max_steps: int = 20_000
    start_width: int = 2000  # of the untrained networks of COMP-16
    start_draws: int = 5  # per seed
    shown_neurons: int = 50
    shown_points: int = 100
    frames: int = 12  # of the film, the last is the end of training


@study(
    "compression/weights-aligning",
    version=2,
    sizes={
        "smoke": Params(),
        "cpu": Params(
            seed=(0, 1, 2),
            n_train=1000,
            width=300,
            end_loss=0.03,
            start_draws=7,
            shown_points=250,
            frames=36,
        ),
        "paper": Params(
            seed=(0, 1, 2, 3, 4),
            n_train=1000,
            width=10_000,
            end_loss=0.01,
            max_steps=100_000,
            start_width=10_000,
            start_draws=4,
            shown_points=250,
            frames=36,
        ),
    },
    axes=[Axis("model"), Axis("alpha"), Axis("seed", stacked=True)],
    units={"t_star": "flow time", "frame_time": "t*", "film": "β w"},
)
class WeightsAligning:
    """Neurons turn to the directions that decide the label, unless training is lazy.

    Every neuron of a one-hidden-layer network is an arrow, its weight vector times its output
    weight. With a small scale alpha of the predictor the arrows must grow a lot before the data are
    fitted, and the fastest growth is along the informative directions. With a large alpha the data
    are fitted before any arrow has moved.

    The paper: [Paccolat 2021, sec. 2.3, figs. 1 and 6].
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """Train the networks of all seeds; film the first."""
        model = point.model
        d, informative = DIMENSION[model], INFORMATIVE[model]
        make = getattr(rg.data, model)
        sets = [make(n_train=params.n_train, n_test=1000, d=d, seed=seed) for seed in point.seed]
        film = rg.flow.Observer(_arrows(params.shown_neurons), rg.flow.LogTimes(25))
        at_t_star = rg.flow.Observer(neuron_states, rg.flow.OnEvent("t_star"))
        run = train_at(
            point,
            params,
            sets,
            alpha=point.alpha,
            until=rg.flow.loss_below(params.end_loss),
            observe={"film": film, "state": at_t_star},
        )
        weights, _, readout = neurons(run.parameters)
        start = run.recordings["state"].first
        then = run.recordings["state"].at(run.event_times["t_star"])
        x = [each.x_train.to(start) for each in sets]
        dead = [
            rg.measure.dead_neurons(s[:, :d], s[:, d], points)
            for s, points in zip(start, x, strict=True)
        ]
        unmoved = (then == start).all(-1)
        times, arrows = _pick(run, params.frames)
        shown = sets[0]
        numbers = {
            "share_start": rg.measure.informative_share(
                start[..., :d], start[..., -1], informative
            ),
            "share_end": rg.measure.informative_share(weights, readout, informative),
            "t_star": run.event_times["t_star"],
            "end_time": run.times[:, -1],
            "end_loss": run.losses[:, -1],
            "test_error": run.test_errors,
            "dead": [int(each.sum()) for each in dead],
            "unmoved": unmoved.sum(-1),
            "dead_or_unmoved_only": [
                int((a != b.to(a.device)).sum()) for a, b in zip(dead, unmoved, strict=True)
            ],
            "slow": _slow(start, then, d) - unmoved.sum(-1),
        }
        arrays = {name: Array("seed", values) for name, values in numbers.items()}
        arrays["amplification_start"] = Array(("seed", "draw"), _start_amplification(params, point))
        arrays["frame_time"] = Array("frame", times)
        arrays["film"] = Array(("frame", "neuron", "coordinate"), arrows)
        x_shown = shown.x_train[: params.shown_points].numpy().astype(np.float32)
        arrays["points"] = Array(("point", "coordinate"), x_shown)
        arrays["labels"] = Array("point", shown.y_train[: params.shown_points].numpy())
        scalars = {"width": params.width, "start_width": params.start_width}
        return TrialResult(scalars, arrays=arrays)

    @staticmethod
    def cost(params: Params, point: Point) -> float:
        """Lazy runs take more steps to the same loss."""
        return 2.0 if point.alpha >= LAZY else 1.0


def _arrows(count: int) -> Any:
    """Observer of beta w of the first neurons, (m, count, d)."""

    def measure(snapshot: Any) -> Any:
        weights, _, readout = neurons(snapshot.parameters)
        return (readout[..., None] * weights)[:, :count]

    return measure


def _slow(start: Any, then: Any, d: int) -> Any:
    """Neurons whose weights have not doubled at t*, per seed, (R,)."""
    size, before = then[..., : d + 1].norm(dim=-1), start[..., : d + 1].norm(dim=-1)
    return (size < 2 * before).sum(-1)


def _pick(run: Any, frames: int) -> tuple[np.ndarray, np.ndarray]:
    """Times in units of t* and arrows of the first member: the start, a log grid, the end."""
    record, t_star = run.recordings["film"], float(run.event_times["t_star"][0])
    own = record.times[0].numpy()
    asked = t_star * film_times(frames)
    chosen = [0, *np.abs(own[:, None] - asked).argmin(0), len(own) - 1]
    times = np.array([0.0, *np.minimum(asked, own[-1]), own[-1]]) / t_star
    return times, record.values[0].numpy()[chosen].astype(np.float32)


def _start_amplification(params: Params, point: Point) -> np.ndarray:
    """Lambda of untrained networks, (seeds, draws): other seeds are other networks."""
    d, informative = START_DIMENSION[point.model], INFORMATIVE[point.model]
    draws = params.start_draws

    def amplification(seed: int) -> float:
        net = network(d, params.start_width, seed, dtype=point.dtype, device=point.device)
        weights = dict(net.named_parameters())[WEIGHT].detach()
        return float(rg.measure.amplification(weights, informative=informative))

    return np.array([[amplification(s * draws + k) for k in range(draws)] for s in point.seed])
