"""The transition with other losses: cross-entropy, and a hinge of held norm."""

from __future__ import annotations

from typing import Any

import numpy as np

import regimes as rg
from regimes.lab import Array, Point, TrialResult, study
from regimes.studies._types import Run
from regimes.studies.landscape import _networks, _runs, _tasks, _training, _widths
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

    summarise = staticmethod(_widths.by_width)

    @staticmethod
    def trial(params: Any, point: Point) -> TrialResult:
        """All seeds of one setting side by side."""
        if point.block == "growth":
            return _growth(params, point)
        return _entropy(params, point) if point.block == "entropy" else _hinges(params, point)


def _hinges(params: Any, point: Point) -> TrialResult:
    """All widths with the square hinge, of the output or of it over its norm on the points."""
    own: dict[str, Any] = {}
    if point.block == "norm":
        own["loss"] = rg.flow.NormalisedHinge(point.margin)
    trained = _widths.train(
        [INPUTS] * len(point.width),
        point.width,
        DEPTH,
        params.n_train,
        point.seed,
        steps=params.steps,
        dtype=point.dtype,
        device=point.device,
        checkpoint=point.checkpoint(),
        **own,
    )
    found = {}
    for width, one in zip(point.width, trained, strict=True):
        values = _ends(one.run, _unmet(one.run, params.n_train))
        if point.block == "hinge":
            ends = _runs.ends(one, ("points", "seed"))
            values |= {"unmet": ends["unfitted"].values[0], "classes": ends["classes"].values[0]}
        found[width] = _kept(values, width)
    return TrialResult({}, _widths.arrays(found, point.width))


def _entropy(params: Any, point: Point) -> TrialResult:
    """Cross-entropy with batch normalisation, until no training point is misclassified."""
    place: dict[str, Any] = {"dtype": point.dtype, "device": point.device}
    data = _tasks.tasks("random", point.seed, params.n_train, d=INPUTS, **place)
    found = {}
    for width in point.width:
        run = _training.adam_fast(
            _batch_norm.networks(INPUTS, width, DEPTH, point.seed, **place),
            data,
            steps=params.steps,
            loss=rg.flow.binary_cross_entropy(),
            until=rg.flow.all_correct(),
            checkpoint=point.checkpoint(str(width)),
        )
        found[width] = _kept(_ends(run, _misclassified(run, point, params.n_train)), width)
    return TrialResult({}, _widths.arrays(found, point.width))


def _growth(params: Any, point: Point) -> TrialResult:
    """The size of the weights while training goes on after every point is right."""
    place: dict[str, Any] = {"dtype": point.dtype, "device": point.device}
    entropy = point.kind == "cross_entropy"
    loss = rg.flow.binary_cross_entropy() if entropy else rg.flow.quadratic_hinge(0.5)
    run = _training.adam(
        _networks.networks(INPUTS, params.neurons, DEPTH, point.seed, **place),
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


def _unmet(run: Run, n_train: int) -> np.ndarray:
    """Points short of their margin at the end."""
    share = run.history["satisfied"][:, -1].double().cpu().numpy()
    found: np.ndarray = ((1 - share) * n_train).round()
    return found


def _ends(run: Run, unmet: np.ndarray) -> dict[str, np.ndarray]:
    return {
        "unmet": unmet,
        "steps": run.steps.double().cpu().numpy(),
        "end_loss": run.losses[:, -1].double().cpu().numpy(),
    }


def _kept(values: dict[str, np.ndarray], width: int) -> dict[str, tuple[tuple[str, ...], Any]]:
    weights = _networks.weights_of(INPUTS, width, DEPTH)
    return {"weights": ((), weights)} | {name: (("seed",), each) for name, each in values.items()}
