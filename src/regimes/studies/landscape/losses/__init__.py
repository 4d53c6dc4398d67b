"""The transition with other losses: cross-entropy, and a hinge of held norm."""

from __future__ import annotations

from typing import Any

import numpy as np

import regimes as rg
from regimes.lab import Array, Point, TrialResult, study
from regimes.studies._types import Run
from regimes.studies.landscape import _networks, _runs, _tasks, _training
from regimes.studies.landscape.losses import _batch_norm
from regimes.studies.landscape.losses._sizes import AXES, DEPTH, INPUTS, SIZES

OCTAVES = (0.125, 0.25, 0.5, 1.0)  # shares of the steps at which the size of the weights is read


@study(
    "landscape/losses",
    version=1,
    sizes=SIZES,
    axes=AXES,
    units={"steps": "steps", "unmet": "points", "weights": "weights"},
)
class Losses:
    """Where networks stop fitting with cross-entropy, and with a margin of the normalised output.

    Cross-entropy and the hinge have nearly the same transition, but cross-entropy is never zero and
    its weights grow on. For an output of fixed norm the margin is no mere unit: more weights are
    needed to reach a larger one.

    The papers: [Geiger 2019, sec. III], [Spigler 2019, sec. 3], [Geiger 2020b, sec. 6].
    """

    @staticmethod
    def trial(params: Any, point: Point) -> TrialResult:
        """All seeds of one setting side by side."""
        if point.block == "growth":
            return _growth(params, point)
        if point.block == "hinge":
            place: dict[str, Any] = {"dtype": point.dtype, "device": point.device}
            trained = _runs.train(
                INPUTS,
                point.width,
                DEPTH,
                [params.n_train],
                point.seed,
                steps=params.steps,
                checkpoint=point.checkpoint(),
                **place,
            )
            kept = _runs.ends(trained, ("points", "seed"))
            values = {"unmet": kept["unfitted"].values[0], "classes": kept["classes"].values[0]}
            return _result(point, values, trained.run)
        return _entropy(params, point) if point.block == "entropy" else _norm(params, point)


def _entropy(params: Any, point: Point) -> TrialResult:
    """Cross-entropy with batch normalisation, until no training point is misclassified."""
    place: dict[str, Any] = {"dtype": point.dtype, "device": point.device}
    run = _training.adam_fast(
        _batch_norm.networks(INPUTS, point.width, DEPTH, point.seed, **place),
        _tasks.tasks("random", point.seed, params.n_train, d=INPUTS, **place),
        steps=params.steps,
        loss=rg.flow.binary_cross_entropy(),
        until=rg.flow.all_correct(),
        checkpoint=point.checkpoint(),
    )
    return _result(point, {"unmet": _misclassified(run, point, params.n_train)}, run)


def _norm(params: Any, point: Point) -> TrialResult:
    """The square hinge of the output over its norm on the training points."""
    place: dict[str, Any] = {"dtype": point.dtype, "device": point.device}
    loss = rg.flow.NormalisedHinge(point.margin)
    data = _tasks.tasks("random", point.seed, params.n_train, d=INPUTS, **place)
    run = _training.adam_fast(
        _networks.networks(INPUTS, point.width, DEPTH, point.seed, **place),
        data,
        steps=params.steps,
        loss=loss,
        checkpoint=point.checkpoint(),
    )
    unmet = (1 - run.history["satisfied"][:, -1].double().cpu().numpy()) * params.n_train
    return _result(point, {"unmet": unmet.round()}, run)


def _growth(params: Any, point: Point) -> TrialResult:
    """The size of the weights while training goes on after every point is right."""
    place: dict[str, Any] = {"dtype": point.dtype, "device": point.device}
    entropy = point.kind == "cross_entropy"
    loss = rg.flow.binary_cross_entropy() if entropy else rg.flow.quadratic_hinge(0.5)
    run = _training.adam(
        _networks.networks(INPUTS, params.width, DEPTH, point.seed, **place),
        _tasks.tasks("random", point.seed, params.n_train, d=INPUTS, **place),
        steps=params.steps,
        loss=loss,
        until=None,
        checkpoint=point.checkpoint(),
    )
    steps = run.history["step"].cpu().numpy()
    norms, losses = (run.history[name].cpu().numpy() for name in ("weight", "loss"))
    columns = [(steps <= part * params.steps).sum(1) - 1 for part in OCTAVES]
    rows = np.arange(len(norms))
    arrays = {
        "norm": Array(("seed", "octave"), np.stack([norms[rows, at] for at in columns], 1)),
        "final_loss": Array("seed", losses[:, -1]),
        "wrong": Array("seed", _misclassified(run, point, params.n_train)),
        "octave": Array("octave", OCTAVES),
    }
    return TrialResult({}, arrays)


def _misclassified(run: Run, point: Point, n_train: int) -> np.ndarray:
    import torch

    data = _tasks.tasks("random", point.seed, n_train, d=INPUTS, dtype=point.dtype)
    y = torch.stack([each.y_train for each in data])
    wrong = run.outputs_train[..., 0].cpu() * y <= 0
    found: np.ndarray = wrong.sum(1).double().numpy()
    return found


def _result(point: Point, values: dict[str, np.ndarray], run: Run) -> TrialResult:
    kept = values | {"steps": run.steps.double().cpu().numpy()}
    kept["final_loss"] = run.losses[:, -1].double().cpu().numpy()
    weights = _networks.weights_of(INPUTS, point.width, DEPTH)
    return TrialResult(
        {"weights": weights}, {name: Array("seed", each) for name, each in kept.items()}
    )
